/** The real browser that the tests run in. */
import { existsSync } from "node:fs";
import { chromium, type Browser, type BrowserContextOptions, type Page } from "playwright-core";

const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

export function launch(): Promise<Browser> {
  const executablePath = process.env["CHROMIUM"] ?? PLACES.find((place) => existsSync(place));
  if (executablePath === undefined) throw new Error("There is no Chromium: set CHROMIUM to where it is.");
  return chromium.launch({
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
  });
}

/** A page whose console is watched: whatever it complains of is collected. */
export interface Watched {
  page: Page;
  complaints: string[];
}

/** Opens any page of the site in a context of its own. */
export async function visit(browser: Browser, url: string, options: BrowserContextOptions = {}): Promise<Watched> {
  const context = await browser.newContext({
    viewport: { width: 1360, height: 900 },
    // What moves by itself is still when tests look at it; a test of its own asks for it.
    reducedMotion: "reduce",
    ...options,
  });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  await page.goto(url);
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
