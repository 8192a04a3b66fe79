/** One pane in the frame of another page. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { leave, open, settled } from "./browser";
import { stage } from "./setup";

const here = stage();

const PANES = {
  tensor: "#grid",
  memory: "#memory",
  flow: "#flow",
  element: "#element",
  views: "#views",
  why: "#witness",
  expression: "#expression",
} as const;

test("each pane can stand alone, with a way back to the whole page", async () => {
  for (const [pane, place] of Object.entries(PANES)) {
    const hash = "#(3,2).permute(1,0).reshape(3,2)&at=2,0";
    const { page, complaints } = await open(here.browser, `${here.url}?embed=${pane}${hash}`, {
      viewport: { width: 620, height: 420 },
    });
    await page.locator(place).waitFor();
    expect(await page.locator("section.pane").count(), pane).toBe(1);
    expect(await page.locator("header, textarea").count(), pane).toBe(0);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(620);
    expect(await page.locator(".origin code").innerText()).toBe("(3, 2).permute(1, 0).reshape(3, 2)");
    const link = page.getByRole("link", { name: "Open in shapetracker" });
    expect(await link.getAttribute("target")).toBe("_blank");
    expect(await link.evaluate((link) => (link as HTMLAnchorElement).href)).toBe(`${here.url}${hash}`);
    expect(complaints).toEqual([]);
    await leave(page);
  }
});

test("a pane that is not there is the tensor, and a mistake is told of", async () => {
  const { page } = await open(here.browser, `${here.url}?embed=nothing#(4,6)`);
  await page.locator("#grid canvas").waitFor();
  await page.goto(`${here.url}?embed#(4,6).reshape(5)`);
  await page.reload();
  await settled(page);
  expect(await page.locator("#embed-fault").innerText()).toContain("24");
  await leave(page);
});

test("in the frame of a page from elsewhere it works as it does alone", async () => {
  // A server of its own is another origin.
  const server = createServer((_, response) => {
    response.setHeader("content-type", "text/html");
    response.end(`<h1>A note</h1><iframe src="${here.url}?embed=tensor#(4,6).flip(1)&at=0,0" width="640" height="420">`);
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const page = await (await here.browser.newContext()).newPage();
  await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  const frame = page.frameLocator("iframe");
  await frame.locator("#grid .canvas-host").focus();
  await page.keyboard.press("ArrowRight");
  const inner = page.frames().find((frame) => frame.url().startsWith(here.url))!;
  await inner.waitForFunction(() => globalThis.explorer.detail.value?.index?.join() === "0,1");
  expect(await inner.evaluate(() => globalThis.explorer.detail.value?.address)).toBe(4);
  await leave(page);
  server.close();
});
