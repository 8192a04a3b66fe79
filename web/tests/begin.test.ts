/** What is seen before the engine is there, and where it never comes. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import type { Page } from "playwright-core";
import { blank, leave, open, settled } from "./browser";
import { go, text } from "./explorer";
import { DIST, serve } from "./server";
import { stage } from "./setup";

const here = stage();

/** A page whose engine is answered for by the test. */
async function opened(answer: Parameters<Page["route"]>[1]): Promise<Page> {
  const page = await blank(here.browser);
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
  await leave(page);
});

test("an engine that cannot be fetched is told of, and nothing is shown, until it comes", async () => {
  const page = await opened((route) => route.fulfill({ status: 404 }));
  await page.waitForSelector(".notice");
  expect(await text(page, ".notice")).toContain("404");
  expect(await page.locator(".badge").count()).toBe(0);
  expect(await text(page, "#grid")).toContain("Nothing to show");
  expect(await page.locator("canvas").count()).toBe(0);
  await page.unroute("**/*.wasm");
  await page.getByRole("button", { name: "Try again" }).click();
  await settled(page);
  expect(await text(page, "#element .linked")).toMatch(/\[2, 0\]\s*\u2192\s*3/);
  await expect.poll(() => page.locator(".notice").count()).toBe(0);
  await leave(page);
});

test("an engine that is none is told of, and not as a mistake", async () => {
  for (const contentType of ["text/html", "application/wasm"]) {
    const page = await opened((route) => route.fulfill({ status: 200, contentType, body: "<p>Welcome" }));
    await page.waitForSelector(".notice");
    expect(await text(page, ".notice")).toContain("cannot be started");
    expect(await page.locator("#chain-fault, .badge").count()).toBe(0);
    expect(await page.locator("canvas").count()).toBe(0);
    await leave(page);
  }
});

test("nothing is said to have no need of a network", () => {
  const read = (name: string): string => readFileSync(`${DIST}${name}`, "utf8");
  for (const name of ["index.html", "course.html", "kernels.html", "../README.md"]) {
    expect(read(name), name).not.toMatch(/needs? no network|works? offline/i);
  }
});

test("what has come works without a network", async () => {
  const { page } = await open(here.browser, here.url);
  await page.locator("#flow .base").waitFor();
  await page.context().setOffline(true);
  await go(page, { chain: "(4, 6).permute(1, 0)", at: "1,2" });
  expect(await page.evaluate(() => globalThis.explorer.detail.value?.address)).toBe(13);
  expect(await page.locator(".notice").count()).toBe(0);
  await leave(page);
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

test("opened from a folder it says how it can be started", async () => {
  const context = await here.browser.newContext();
  const page = await context.newPage();
  await page.goto(pathToFileURL(`${DIST}index.html`).href);
  const help = page.locator(".unstarted");
  // Not at once: where there is a server, the page is there before.
  expect(await help.isVisible()).toBe(false);
  await help.waitFor({ state: "visible", timeout: 5000 });
  expect(await help.innerText()).toContain("python3 -m http.server");
  expect(await help.innerText()).toContain("shapetracker explore");
  // The style sheet is used all the same.
  expect(await page.evaluate(() => getComputedStyle(document.querySelector(".top")!).display)).toBe("flex");
  await context.close();
});

test("the tab is called what is looked at", async () => {
  const { page } = await open(here.browser, `${here.url}#(4,6).flip(0)`);
  expect(await page.title()).toBe("(4, 6).flip(0) \u00b7 shapetracker");
  await go(page, { mode: "free", index: "y*4 + x", variables: "y:0:2,x:0:4" });
  expect(await page.title()).toBe("y*4 + x \u00b7 shapetracker");
  await go(page, { mode: "view", size: "2,3", stride: "1,2" });
  expect(await page.title()).toBe("shape (2, 3), strides (1, 2) \u00b7 shapetracker");
  await go(page, { chain: `(4, 6)${".flip(0).flip(1)".repeat(20)}` });
  expect((await page.title()).length).toBeLessThan(90);
  await leave(page);
});

test("whoever goes by the keyboard is at the tensor with the first link", async () => {
  const { page } = await open(here.browser, `${here.url}#(4,6)&at=0,0`);
  await page.keyboard.press("Tab");
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Skip to the tensor");
  const hash = await page.evaluate(() => location.hash);
  await page.keyboard.press("Enter");
  expect(await page.evaluate(() => document.activeElement?.closest("#grid") !== null)).toBe(true);
  expect(await page.evaluate(() => location.hash)).toBe(hash);
  await page.keyboard.press("ArrowRight");
  await page.waitForFunction(() => globalThis.explorer.page.value.at.join() === "0,1");
  await leave(page);
});

test("a link to the page is shown with a picture", () => {
  const html = readFileSync(`${DIST}index.html`, "utf8");
  const said = (name: string): string | undefined =>
    new RegExp(`(?:property|name)="${name}"\\s+content="([^"]*)"`).exec(html)?.[1];
  expect(said("twitter:card")).toBe("summary_large_image");
  for (const name of ["og:title", "og:description", "og:image:alt"]) expect(said(name), name).toBeTruthy();
  const image = said("og:image")!;
  expect(existsSync(DIST + image.split("/").at(-1)!)).toBe(true);
  const png = readFileSync(DIST + image.split("/").at(-1)!);
  expect([png.readUInt32BE(16), png.readUInt32BE(20)].map(String)).toEqual([
    said("og:image:width"),
    said("og:image:height"),
  ]);
  // It is fetched by whoever sees a link.
  expect(png.length).toBeLessThan(120_000);
});

test("what a visit fetched is there without a network, and all of the page after the next one", async () => {
  const { url: own, server } = await serve();
  // Under this name the page is on a host; it is this machine all the same.
  const url = own.replace("127.0.0.1", "page.localhost");
  const port = Number(new URL(url).port);
  const down = (): Promise<void> =>
    new Promise((done) => {
      server.close(() => done());
      server.closeAllConnections();
    });
  const context = await here.browser.newContext();
  const page = await context.newPage();
  const kept = (): Promise<string[]> =>
    page.evaluate(async () => {
      const keys = await Promise.all((await caches.keys()).map(async (name) => (await caches.open(name)).keys()));
      return keys.flat().map(({ url }) => new URL(url).pathname.split("/").at(-1)!);
    });
  await page.goto(url);
  await settled(page);
  const first = ["index.html", "shapetracker.wasm", "code.wasm", expect.stringMatching(/^worker-/)];
  await expect.poll(kept).toEqual(expect.arrayContaining(first));
  expect(await kept()).not.toContain("names.wasm");

  // Without a network it is the same page, and what is not kept is missed as that.
  await down();
  await page.reload();
  await settled(page);
  expect(await text(page, "#element .linked")).toMatch(/\[2, 0\]\s*\u2192\s*3/);
  await go(page, { c: "(B, T, 64).reshape(B*T, 64)" });
  await expect.poll(() => text(page, ".notice.missing")).toContain("reads sizes that are names");
  expect(await page.locator(".badge").count()).toBe(0);

  await new Promise<void>((done) => server.listen(port, "127.0.0.1", done));
  await page.goto(`${url}#(4,6)`);
  await page.reload();
  await settled(page);
  const files = readdirSync(DIST).filter((name) => !["offline.js", "preview.png"].includes(name));
  await expect.poll(async () => (await kept()).sort(), { timeout: 20_000 }).toEqual(files.sort());
  await down();
  await page.goto(`${url}#c=(B, T, 64).reshape(B*T, 64)`);
  await page.reload();
  await expect.poll(() => text(page, ".answer")).toContain("One view");
  await page.goto(`${url}course.html`);
  await expect.poll(() => page.locator("[data-part] canvas").count()).toBeGreaterThan(0);
  await context.close();
});
