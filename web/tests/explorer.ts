/** What the tests ask of the page, in the page. */
import type { Page } from "playwright-core";
import type { explorer } from "../src/main";
import { settled } from "./browser";

declare global {
  // The page puts it there.
  // eslint-disable-next-line no-var
  var explorer: typeof import("../src/main").explorer & typeof import("../src/rest").later;
}

export type Explorer = typeof explorer;

let counter = 0;

/** Goes to another state of the page by its link. */
export async function go(page: Page, fields: Record<string, string>): Promise<void> {
  const parts = Object.entries(fields).map(([key, value]) => `${key}=${encodeURIComponent(value)}`);
  // The same link twice would not be followed.
  parts.push(`n=${counter++}`);
  await page.evaluate(
    (hash) =>
      new Promise<void>((done) => {
        addEventListener("popstate", () => done(), { once: true });
        location.hash = hash;
      }),
    `#${parts.join("&")}`,
  );
  await settled(page);
}

/** Selects an element, and waits until all panes are about it. */
export async function choose(page: Page, index: readonly number[]): Promise<void> {
  await page.evaluate((at) => globalThis.explorer.change({ at }), [...index]);
  await page.waitForFunction((at) => globalThis.explorer.detail.value?.index?.join() === at, index.join());
}

/** The text of a pane with its minus signs as ASCII. */
export async function text(page: Page, selector: string): Promise<string> {
  const found = await page.locator(selector).first().innerText();
  return found.replaceAll("\u2212", "-").replaceAll("\u202f", "");
}
