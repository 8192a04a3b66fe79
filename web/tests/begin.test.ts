/** What is seen before the engine is there, and where it never comes. */
import { expect, test } from "vitest";
import type { Page } from "playwright-core";
import { settled } from "./browser";
import { text } from "./explorer";
import { stage } from "./setup";

const here = stage();

/** A page whose engine is answered for by the test. */
async function opened(answer: Parameters<Page["route"]>[1]): Promise<Page> {
  const page = await (await here.browser.newContext()).newPage();
  await page.route("**/*.wasm", answer);
  await page.goto(here.url);
  return page;
}

test("a slow engine is waited for", async () => {
  let come = (): void => undefined;
  const coming = new Promise<void>((done) => (come = done));
  const page = await opened(async (route) => {
    await coming;
    await route.continue();
  });
  await page.waitForSelector("#grid");
  expect(await text(page, "#grid")).toContain("Fetching the engine");
  expect(await page.locator("main").getAttribute("data-state")).toBe("waiting");
  expect(await page.locator(".notice").count()).toBe(0);
  come();
  await settled(page);
  expect(await text(page, "#element .linked")).toMatch(/\[2, 0\]\s*\u2192\s*3/);
  await page.context().close();
});

test("an engine that cannot be fetched is told of, and nothing is shown", async () => {
  const page = await opened((route) => route.fulfill({ status: 404 }));
  await page.waitForSelector(".notice");
  expect(await text(page, ".notice")).toContain("404");
  expect(await text(page, "#grid")).toContain("Nothing to show");
  expect(await page.locator("canvas").count()).toBe(0);
  await page.context().close();
});

test("an engine that is none is told of", async () => {
  const page = await opened((route) => route.fulfill({ status: 200, contentType: "text/html", body: "<p>Welcome" }));
  await page.waitForSelector("#chain-fault");
  expect(await text(page, "#chain-fault")).toContain("cannot be started");
  expect(await page.locator("canvas").count()).toBe(0);
  await page.context().close();
});

test("without scripts a sentence says what is missing", async () => {
  const context = await here.browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(here.url);
  expect(await page.locator("h1").innerText()).toContain("shapetracker");
  expect(await page.locator("noscript p").isVisible()).toBe(true);
  expect(await page.locator("noscript p").innerText()).toContain("Scripts are switched off");
  await context.close();
});
