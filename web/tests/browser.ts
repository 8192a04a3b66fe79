/** The real browser that the tests run in. */
import { existsSync } from "node:fs";
import { chromium, type Browser, type BrowserContextOptions, type Page } from "playwright-core";

const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

let launched: Promise<Browser> | undefined;

/** The browser, one for all tests of this process, with which it ends. */
export function launch(): Promise<Browser> {
  const executablePath = process.env["CHROMIUM"] ?? PLACES.find((place) => existsSync(place));
  if (executablePath === undefined) throw new Error("There is no Chromium: set CHROMIUM to where it is.");
  return (launched ??= chromium.launch({
    executablePath,
    args: [
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  }));
}

/** A page whose console is watched: whatever it complains of is collected. */
export interface Watched {
  page: Page;
  complaints: string[];
}

/** Pages that were left and are empty again, by the options of their contexts: a new context costs half of what a visit does. */
const free = new Map<string, Page[]>();
/** The pages that someone is at, with the options of their contexts, and those that were left before. */
const taken = new Map<Page, { options: string; again: boolean }>();

/** An empty page, in a context with these options that nothing else is in. */
export async function blank(browser: Browser, options: BrowserContextOptions = {}): Promise<Page> {
  const {
    viewport = { width: 1360, height: 900 },
    // What moves by itself is still when tests look at it; a test of its own asks for it.
    reducedMotion = "reduce",
    colorScheme = "light",
    forcedColors = "none",
    ...others
  } = options;
  const key = JSON.stringify(others);
  const again = free.get(key)?.pop();
  if (again !== undefined && viewport !== null) {
    await again.setViewportSize(viewport);
    await again.emulateMedia({ reducedMotion, colorScheme, forcedColors });
    taken.set(again, { options: key, again: true });
    return again;
  }
  const context = await browser.newContext({ viewport, reducedMotion, colorScheme, forcedColors, ...others });
  const page = await context.newPage();
  taken.set(page, { options: key, again: false });
  return page;
}

/** Leaves a page: nothing of what was done there is left when it is taken again. */
export async function leave(page: Page): Promise<void> {
  const of = taken.get(page);
  taken.delete(page);
  if (page.isClosed()) return;
  const context = page.context();
  if (of === undefined || context.pages().length > 1) return context.close();
  for (const event of ["console", "dialog", "download", "pageerror", "request", "requestfailed", "response"] as const) {
    page.removeAllListeners(event);
  }
  await page.unrouteAll({ behavior: "ignoreErrors" });
  await context.clearPermissions();
  await context.setOffline(false);
  const { origin } = new URL(page.url());
  if (origin !== "null") await page.evaluate(() => sessionStorage.clear());
  await page.goto("about:blank");
  const session = await context.newCDPSession(page);
  if (origin !== "null") await session.send("Storage.clearDataForOrigin", { origin, storageTypes: "all" });
  await session.detach();
  // Outside of the window nothing is pointed at.
  await page.mouse.move(-1, -1);
  free.set(of.options, [...(free.get(of.options) ?? []), page]);
}

/** Leaves all pages. */
export async function leaveAll(): Promise<void> {
  for (const page of [...taken.keys()]) await leave(page);
}

/** Opens any page of the site as if nobody had been there before. */
export async function visit(browser: Browser, url: string, options: BrowserContextOptions = {}): Promise<Watched> {
  const page = await blank(browser, options);
  const complaints: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  await page.goto(url);
  if (taken.get(page)?.again === true) {
    // There is nothing to go back to.
    const session = await page.context().newCDPSession(page);
    await session.send("Page.resetNavigationHistory");
    await session.detach();
  }
  return { page, complaints };
}

/** Opens the explorer, and waits until it shows what its input says. */
export async function open(browser: Browser, url: string, options: BrowserContextOptions = {}): Promise<Watched> {
  const watched = await visit(browser, url, options);
  await settled(watched.page);
  return watched;
}

/** Waits until the page shows what its input says, or what is wrong with it. */
export async function settled(page: Page): Promise<void> {
  await page.waitForFunction(() => {
    const state = globalThis.explorer;
    if (state === undefined || !state.idle.value) return false;
    const wrong = state.trouble.value !== null;
    if (document.querySelector("main")?.dataset["state"] !== (wrong ? "wrong" : "current")) return false;
    const grid = state.gridCanvas.now;
    return wrong || grid === null || (grid.tiles.complete(state.layout.value) && grid.still);
  });
  // What has changed is drawn with the next frame.
  await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
}
