/** The page in Firefox, driven by the protocol that it speaks itself: what only another browser can show to be wrong. */
import { existsSync } from "node:fs";
import puppeteer, { type Browser, type Page } from "puppeteer-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { NPM, serve, type Served } from "./server";

const PLACES = ["/usr/bin/firefox-esr", "/usr/bin/firefox"];
const executablePath = process.env["FIREFOX"] ?? PLACES.find((place) => existsSync(place));
if (executablePath === undefined) console.log("skipped: there is no Firefox (apt-get install firefox-esr, or FIREFOX=/path/to/it)");

let served: Served;
let browser: Browser;
beforeAll(async () => {
  if (executablePath === undefined) return;
  served = await serve();
  // The size is that of the window: the older Firefox of Debian lets no one change that of a page.
  const args = ["--width=1360", "--height=1000"];
  browser = await puppeteer.launch({ browser: "firefox", executablePath, headless: true, args, defaultViewport: null });
});
afterAll(async () => {
  await browser?.close();
  served?.server.close();
});

/** A test in Firefox; whatever its console or its network complains of is a mistake. */
function inFirefox(name: string, visit: (page: Page) => Promise<void>): void {
  test.skipIf(executablePath === undefined)(name, async () => {
    const page = await browser.newPage();
    const complaints: string[] = [];
    page.on("console", (message) => {
      if (["error", "warn"].includes(message.type())) complaints.push(message.text());
    });
    page.on("pageerror", (error) => complaints.push(String(error)));
    page.on("requestfailed", (request) => complaints.push(`${request.url()}: ${request.failure()?.errorText}`));
    try {
      await visit(page);
      expect(complaints).toEqual([]);
    } finally {
      await page.close();
    }
  });
}

/** Opens a link, and waits for all that it shows. */
async function open(page: Page, link: string): Promise<void> {
  await page.goto(`${served.url}${link}`);
  await settled(page);
}

/** Waits until something is so in the page. What the driver has for it would compile a text, which the page's policy forbids. */
async function until<Given extends unknown[]>(page: Page, is: (...given: Given) => unknown, ...given: Given): Promise<void> {
  for (let tries = 0; tries < 500; tries++) {
    if (await page.evaluate(is as (...given: unknown[]) => unknown, ...given)) return;
    await new Promise((done) => setTimeout(done, 20));
  }
  throw new Error(`it is never so that ${String(is)} of ${JSON.stringify(given)}`);
}

function there(page: Page, selector: string): Promise<void> {
  return until(page, (selector) => document.querySelector(selector) !== null, selector);
}

async function settled(page: Page): Promise<void> {
  await until(page, () => {
    const state = globalThis.explorer;
    if (state === undefined || !state.idle.value) return false;
    const grid = state.gridCanvas.now;
    return state.trouble.value !== null || (grid !== null && grid.tiles.complete(state.layout.value) && grid.still);
  });
  await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
}

async function text(page: Page, selector: string): Promise<string> {
  await there(page, selector);
  const found = await page.$eval(selector, (part) => (part as HTMLElement).innerText);
  return found.replaceAll("\u2212", "-").replaceAll("\u202f", "");
}

type Rgb = [number, number, number];

/** The colours of cells of a matrix, at a place in each where no number stands. */
function colours(page: Page, cells: number[][]): Promise<Rgb[]> {
  return page.evaluate((cells) => {
    const { gridCanvas, gridView } = globalThis.explorer;
    const [{ canvas }, view] = [gridCanvas.now!, gridView.value!];
    const frame = gridCanvas.now!.frame(view);
    const ratio = canvas.width / canvas.clientWidth;
    return cells.map(([row, column]) => {
      const x = frame.left + (column! + 0.5 - frame.camera.x) * frame.wide;
      const y = frame.top + (row! + 0.87 - frame.camera.y) * frame.tall;
      const { data } = canvas.getContext("2d")!.getImageData(Math.round(x * ratio), Math.round(y * ratio), 1, 1);
      return [data[0]!, data[1]!, data[2]!] as Rgb;
    });
  }, cells);
}

const light = ([red, green, blue]: Rgb): number => 0.3 * red + 0.6 * green + 0.1 * blue;

inFirefox("the first visit answers, draws, and threads the element to memory", async (page) => {
  await open(page, "");
  await there(page, ".answer[data-fresh=yes]");
  expect(await text(page, ".headline")).toMatch(/view.*memory/s);
  expect(await text(page, ".answer")).toMatch(/Not one view.*reshape\(3, 2\).*all 6 elements.*raises/s);
  expect(await text(page, ".remedy code")).toBe("x.permute((1, 0)).contiguous().view(3, 2)");
  // Column by column the addresses are 0 4 3 and 2 1 5: shades go with them.
  const shades = await colours(page, [[0, 0], [1, 1], [0, 1], [1, 0], [2, 1]]);
  expect(new Set(shades.map(String)).size).toBe(5);
  shades.map(light).forEach((shade, at, all) => at > 0 && expect(shade).toBeLessThan(all[at - 1]!));
  // The element [2, 0], which is blue, at address 3; three pictures, and memory behind them.
  const [[red, , blue]] = (await colours(page, [[2, 0]])) as [Rgb];
  expect(blue).toBeGreaterThan(red + 100);
  await until(page, () => document.querySelector(".thread path")?.getAttribute("d")?.split("M").length === 4);
  expect(await text(page, "#element .to")).toBe("3");
  expect(await text(page, ".memory-end output")).toBe("3");
  expect(await page.$$eval("#flow canvas", (all) => all.length)).toBe(3);
  await there(page, "#views .view");
  expect(await text(page, "#witness")).toMatch(/4 from \[0, 0\] to \[1, 0\].*-1 from \[1, 0\] to \[2, 0\]/s);
});

inFirefox("a chain is typed letter by letter, completed, undone and mended", async (page) => {
  await open(page, "#(4,6)");
  await page.click("#chain textarea");
  await page.keyboard.press("End");
  for (const letter of ".fli") {
    await page.keyboard.type(letter);
    expect(await page.$(".badge")).toBeNull();
  }
  await there(page, "[role=option]");
  await page.keyboard.press("Enter");
  await page.keyboard.type("1");
  await until(page, () => globalThis.explorer.page.value.chain === "(4, 6).flip(1)");
  await settled(page);
  const first = await page.evaluate(() => [...globalThis.explorer.gridCanvas.now!.tiles.get(0, 0, 1)!.addresses].slice(0, 7));
  expect(first).toEqual([5, 4, 3, 2, 1, 0, 11]);
  await page.keyboard.down("Control");
  await page.keyboard.press("z");
  await page.keyboard.up("Control");
  await until(page, () => !globalThis.explorer.page.value.chain.includes("flip(1)"));
  await page.evaluate(() => globalThis.explorer.change({ chain: "(4, 6).flp(1)" }));
  await there(page, ".badge");
  expect(await text(page, "#chain-fault")).toContain("flip");
});

inFirefox("from afar a permutation is a ramp down its rows, and is read once", async (page) => {
  await open(page, "#(1000,1000).permute(1,0)");
  // Address c * 1000 + r: along a row it goes from the first shade to the last, down a column it stays.
  const row = (await colours(page, [20, 200, 400, 600, 800, 980].map((column) => [500, column]))).map(light);
  row.forEach((shade, at) => at > 0 && expect(shade).toBeLessThan(row[at - 1]! - 5));
  const column = (await colours(page, [100, 500, 900].map((row) => [row, 500]))).map(light);
  expect(Math.max(...column) - Math.min(...column)).toBeLessThan(4);
  const strip = await page.evaluate(() => {
    const { canvas } = globalThis.explorer.stripCanvas.now!;
    const pen = canvas.getContext("2d")!;
    const y = Math.floor(canvas.height / 2);
    const { data } = pen.getImageData(Math.floor(canvas.width / 4), y, Math.floor(canvas.width / 2), 1);
    return new Set(Array.from({ length: data.length / 4 }, (_, at) => data.slice(4 * at, 4 * at + 3).join())).size;
  });
  expect(strip).toBe(1);
});

inFirefox("the keyboard selects elements, and every pane follows", async (page) => {
  await open(page, "#(3,4).pad((1,1),(0,0))&at=1,0");
  await page.focus("#grid .canvas-host");
  for (const key of ["ArrowRight", "ArrowRight", "ArrowDown"] as const) await page.keyboard.press(key);
  await until(page, () => globalThis.explorer.detail.value?.index?.join() === "2,2");
  await until(page, () => document.querySelector("#element .to")?.textContent === "6");
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("ArrowUp");
  await until(page, () => document.querySelector("#element")?.textContent?.includes("masked"));
});

inFirefox("expressions, names and comparisons", async (page) => {
  await open(page, "#f=(y//2*4+x)%2512&for=y:6,x:6&at=2,3");
  await there(page, ".answer[data-fresh=yes]");
  expect(await text(page, ".answer")).toMatch(/Not one view\..*one stride cannot do both/s);
  await until(page, () => document.querySelector("#element .to")?.textContent === "7");
  await page.$eval("#expression", (pane) => pane.scrollIntoView());
  await until(page, () => document.querySelector('#expression [data-line="index"] .value')?.textContent === "7");

  await open(page, "#c=(T, H, 4).permute(1, 0, 2).reshape(T*H, 4)");
  expect(await text(page, ".formula")).toMatch(/^One view if and only if .*T == 1/);
  await page.$eval(".names input[type=range]", (slider) => {
    (slider as HTMLInputElement).value = "1";
    slider.dispatchEvent(new Event("input", { bubbles: true }));
  });
  await there(page, ".answer[data-one-view=yes][data-fresh=yes]");

  await open(page, "#(2,3).permute(1,0)");
  await there(page, "#compare textarea");
  await page.type("#compare textarea", "(3, 2)");
  await until(page, () => document.querySelector("#compare .outcome")?.getAttribute("data-equal") === "no");
  expect(await text(page, "#compare .outcome")).toMatch(/\[0, 1\]/);
});

inFirefox("a lesson is done with the keyboard, and a pane stands in another page", async (page) => {
  await page.goto(`${served.url}course.html#strides`);
  // Figures are drawn when they come into sight.
  await there(page, "[data-part=strides-exercise]");
  await page.$eval("[data-part=strides-exercise]", (part) => part.scrollIntoView());
  await there(page, "[data-part=strides-exercise] input[aria-label='axis 0: stride']");
  const stride = (axis: number, value: string): Promise<void> =>
    until(
      page,
      (axis, value) =>
        document.querySelector<HTMLInputElement>(`[data-part=strides-exercise] input[aria-label='axis ${axis}: stride']`)?.value === value,
      axis,
      value,
    );
  const judged = (says: string): Promise<void> =>
    until(page, (says) => new RegExp(says).test(document.querySelector("[data-part=strides-exercise] .judgement")?.textContent ?? ""), says);
  await page.focus("[data-part=strides-exercise] input[aria-label='axis 0: stride']");
  await page.keyboard.press("Enter");
  await judged("rows one after the other");
  for (const key of ["ArrowDown", "ArrowDown", "ArrowDown"] as const) await page.keyboard.press(key);
  await stride(0, "1");
  await page.keyboard.press("Tab");
  for (const key of ["ArrowUp", "ArrowUp"] as const) await page.keyboard.press(key);
  await stride(1, "3");
  await page.keyboard.press("Enter");
  await judged("^Yes");

  await page.goto(`${served.url}?embed=tensor#(4,6).flip(1)`);
  await settled(page);
  const shades = (await colours(page, [[0, 0], [3, 5]])).map(light);
  expect(shades).toHaveLength(2);
  expect(await page.$$eval("section.pane", (all) => all.length)).toBe(1);
});

inFirefox("a page without a bundler imports the npm package", async (page) => {
  const { url, server } = await serve("/any/", false, NPM);
  await page.goto(`${url}dist/index.js`);
  const said = await page.evaluate(`(async () => {
    const { ask } = await import("./index.js");
    const source = { chain: "(3, 2).permute(1, 0).reshape(3, 2)" };
    const trace = await ask("trace", { source, index: [2, 0] });
    const wrong = await ask("trace", { source, index: [3, 0] }).catch(String);
    return [trace.address, wrong, (await ask("expression", { source })).expression.index_range];
  })()`);
  expect(said).toEqual([3, expect.stringContaining("EngineError: "), [0, 5]]);
  server.close();
});
