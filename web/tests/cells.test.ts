/** The picture of the tensor: how it fills its pane, what its colours and marks say, and how it moves. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { Page } from "playwright-core";
import { leave, open } from "./browser";
import { choose, go, text } from "./explorer";
import { stage } from "./setup";

const here = stage();

type Rgb = [number, number, number];

/** The colours of cells, at a place in each where no number stands. */
function colours(page: Page, cells: number[][], place: "grid" | "a" | "b" = "grid"): Promise<Rgb[]> {
  return page.evaluate(
    ([cells, place]) => {
      const { gridCanvas, gridView } = globalThis.explorer;
      const grid = gridCanvas.now!;
      const view = gridView.value!;
      const canvas =
        place === "grid"
          ? grid.canvas
          : document.querySelectorAll<HTMLCanvasElement>("#compare canvas")[place === "a" ? 0 : 1]!;
      const ratio = canvas.width / canvas.clientWidth;
      const frame = grid.frame(view);
      const { row, column } = view.scene.plan;
      return cells.map((index) => {
        const x = frame.left + (column.place(column.ofIndex(index)) - frame.camera.x + 0.5) * frame.wide;
        const y = frame.top + (row.place(row.ofIndex(index)) - frame.camera.y + 0.87) * frame.tall;
        const { data } = canvas.getContext("2d")!.getImageData(Math.round(x * ratio), Math.round(y * ratio), 1, 1);
        return [data[0]!, data[1]!, data[2]!] as Rgb;
      });
    },
    [cells, place] as const,
  );
}

const light = ([red, green, blue]: Rgb): number => 0.3 * red + 0.6 * green + 0.1 * blue;

test("cells fill their pane, whatever the shape", async () => {
  const { page } = await here.shared();
  for (const [chain, least] of [
    ["(3, 2)", 0.35],
    ["(4, 6)", 0.75],
    ["(8, 8)", 0.75],
    ["(12, 20)", 0.8],
    ["(2, 6, 12).reshape(2, 6, 3, 4).permute(0, 2, 1, 3)", 0.55],
    ["(1000, 1000)", 0.4],
  ] as const) {
    await go(page, { chain });
    const share = await page.evaluate(() => {
      const { gridCanvas, gridView } = globalThis.explorer;
      const grid = gridCanvas.now!;
      const { wide, tall } = grid.frame(gridView.value!);
      const { row, column } = gridView.value!.scene.plan;
      return (wide * column.extent * tall * row.extent) / (grid.width * grid.height);
    });
    expect(share, chain).toBeGreaterThan(least);
  }
});

test("shades go from pale to deep with the address, and address mod n repeats", async () => {
  const { page } = await here.shared();
  await go(page, { chain: "(4, 6)", at: "3,5" });
  const row = (at: number): number[][] => Array.from({ length: 6 }, (_, column) => [at, column]);
  const ramp = (await colours(page, [0, 1, 2].flatMap(row))).map(light);
  ramp.forEach((shade, at) => at > 0 && expect(shade).toBeLessThan(ramp[at - 1]!));
  await page.getByLabel("Colour").selectOption("mod");
  await page.getByLabel("n of address mod n").fill("3");
  await page.waitForFunction(() => globalThis.explorer.gridView.value!.scene.color === "mod3");
  await page.waitForTimeout(300);
  const rests = await colours(page, row(1));
  expect(rests[0]).toEqual(rests[3]);
  expect(rests[1]).toEqual(rests[4]);
  expect(new Set(rests.map(String)).size).toBe(3);
  expect(await text(page, "#grid .key")).toContain("address mod 3: from 0 to 2");
  expect(page.url()).toContain("mod3");
});

test("a colour by operation follows elements through the operations after it", async () => {
  const { page } = await here.shared();
  // In the tensor before it, the first row is 0 1 2: seen after the permutation it goes down.
  await go(page, { chain: "(6).flip(0).reshape(2, 3).permute(1, 0)", color: "op2", at: "2,1" });
  expect(await page.getByLabel("Colour").locator("option:checked").innerText()).toBe("position before permute");
  const down = (await colours(page, [[0, 0], [1, 0], [2, 0], [0, 1], [1, 1]])).map(light);
  down.forEach((shade, at) => at > 0 && expect(shade).toBeLessThan(down[at - 1]!));
  // Addresses go the other way.
  await go(page, { chain: "(6).flip(0).reshape(2, 3).permute(1, 0)", at: "2,1" });
  const address = (await colours(page, [[0, 0], [1, 0], [2, 0], [0, 1], [1, 1]])).map(light);
  address.forEach((shade, at) => at > 0 && expect(shade).toBeGreaterThan(address[at - 1]!));
});

test("the reason is pointed out in the tensor, and can be hidden", async () => {
  const { page } = await here.shared();
  const red = (): Promise<number> =>
    page.evaluate(() => {
      const { canvas } = globalThis.explorer.gridCanvas.now!;
      const { data } = canvas.getContext("2d")!.getImageData(0, 0, canvas.width, canvas.height);
      let count = 0;
      for (let k = 0; k < data.length; k += 4) {
        if (data[k]! > 150 && data[k + 1]! < 60 && data[k + 2]! < 60) count++;
      }
      return count;
    });
  for (const [chain, says] of [
    ["(3, 2).permute(1, 0).reshape(3, 2)", "two steps that differ"],
    ["(5).pad((0, 3)).reshape(2, 4)", "two valid elements, and a masked one between"],
  ] as const) {
    await go(page, { chain, at: "0,0" });
    await page.waitForFunction((says) => document.querySelector("#grid .key")?.textContent?.includes(says), says);
    await page.waitForTimeout(400);
    expect(await red(), chain).toBeGreaterThan(60);
    await page.getByLabel("Mark it in the tensor").uncheck();
    await page.waitForTimeout(300);
    expect(await red(), chain).toBe(0);
    await page.getByLabel("Mark it in the tensor").check();
  }
  // One view has no reason.
  await go(page, { chain: "(3, 2)", at: "0,0" });
  expect(await red()).toBe(0);
});

test("going to an element moves the picture, and one press makes it readable", async () => {
  const { page } = await here.shared();
  await go(page, { chain: "(1000000, 1000000)", zoom: "20,0,0", at: "3,3" });
  const seen = (): Promise<boolean> =>
    page.evaluate(() => {
      const { gridCanvas, gridView } = globalThis.explorer;
      const { rows, columns } = gridCanvas.now!.seen(gridView.value!);
      const [row, column] = gridView.value!.selected!;
      return row! >= rows[0] && row! < rows[1] && column! >= columns[0] && column! < columns[1];
    });
  expect(await seen()).toBe(true);
  await page.getByLabel("index along axis 0").fill("765432");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => globalThis.explorer.gridView.value?.selected?.[0] === 765_432);
  await page.waitForTimeout(300);
  expect(await seen()).toBe(true);
  // From everything in sight to a cell that can be read.
  await go(page, { chain: "(1000000, 1000000)", at: "123456,654321" });
  await page.getByRole("button", { name: "Show the element" }).click();
  await page.waitForTimeout(500);
  expect(await seen()).toBe(true);
  const tall = await page.evaluate(
    () => globalThis.explorer.gridCanvas.now!.frame(globalThis.explorer.gridView.value!).tall,
  );
  expect(tall).toBeGreaterThanOrEqual(24);
});

test("an overview shows what is in sight, and a press on it goes there", async () => {
  const { page } = await here.shared();
  await go(page, { chain: "(1000, 1000)", at: "0,0" });
  expect(await page.locator(".minimap").count()).toBe(0);
  await go(page, { chain: "(1000, 1000)", zoom: "20,100,100", at: "0,0" });
  const map = page.locator(".minimap canvas");
  await map.waitFor();
  const box = (await map.boundingBox())!;
  await page.mouse.click(box.x + box.width * 0.75, box.y + box.height * 0.25);
  await page.waitForFunction(() => globalThis.explorer.page.value.camera!.x > 500);
  const camera = await page.evaluate(() => globalThis.explorer.page.value.camera!);
  expect(camera.x).toBeGreaterThan(680);
  expect(camera.x).toBeLessThan(790);
  expect(camera.y).toBeGreaterThan(180);
  expect(camera.y).toBeLessThan(290);
});

test("a comparison draws both layouts and marks where they differ", async () => {
  const { page } = await here.shared();
  await go(page, { chain: "(4, 6)", other: "(4, 6).shrink((0, 3), (0, 6)).pad((0, 1), (0, 0))", at: "0,0" });
  await page.locator("#compare canvas").nth(1).waitFor();
  await page.waitForTimeout(700);
  // How many cells have a red corner, in each of the two.
  const marked = await page.evaluate(() =>
    [...document.querySelectorAll<HTMLCanvasElement>("#compare canvas")].map((canvas) => {
      const { data } = canvas.getContext("2d")!.getImageData(0, 0, canvas.width, canvas.height);
      let [count, inside] = [0, false];
      // Along the rows of pixels there is an edge of a mark twice a cell; count the rows that have any, and the marks of one.
      let most = 0;
      for (let y = 0; y < canvas.height; y++) {
        let runs = 0;
        inside = false;
        for (let x = 0; x < canvas.width; x++) {
          const at = 4 * (y * canvas.width + x);
          const red = data[at]! > 150 && data[at + 1]! < 60 && data[at + 2]! < 60;
          if (red && !inside) runs++;
          inside = red;
        }
        if (runs > 0) count++;
        most = Math.max(most, runs);
      }
      return { rows: count, most };
    }),
  );
  // Only the last row differs: six cells, each with two sides.
  for (const { rows, most } of marked) {
    expect(most).toBe(12);
    expect(rows).toBeGreaterThan(10);
    expect(rows).toBeLessThan(48);
  }
  await go(page, { chain: "(4, 6)", other: "(6, 4)", at: "0,0" });
  await page.waitForFunction(() => document.querySelector("#compare .key")?.textContent?.includes("shapes differ"));
});

test("exports say what they are of and what their colours mean, two pixels for one", async () => {
  const { page } = await here.shared();
  const chain = "(5).pad((0, 3)).reshape(2, 4)";
  await go(page, { chain, at: "0,0" });
  await page.waitForFunction(() => globalThis.explorer.stripCanvas.now?.known != null);
  const exported = async (name: string): Promise<string> => {
    await page.getByRole("button", { name: "Export" }).click();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name, exact: true }).click(),
    ]);
    return (await download.path())!;
  };
  const svg = readFileSync(await exported("SVG"), "utf8");
  const words = [...svg.matchAll(/<text[^>]*>([^<]*)</g)].map(([, word]) => word);
  for (const word of [
    chain,
    "shape (2, 4) \u00b7 2 views \u00b7 buffer of 5 elements",
    "Memory",
    "address from 0 to 4",
    "masked: no address",
    "read once",
    "shapetracker",
  ]) {
    expect(words).toContain(word);
  }
  const [, width, height] = /width="(\d+)[^"]*" height="(\d+)/.exec(svg)!.map(Number);
  const png = readFileSync(await exported("PNG"));
  expect(Math.abs(png.readUInt32BE(16) - 2 * width!)).toBeLessThanOrEqual(2);
  expect(Math.abs(png.readUInt32BE(20) - 2 * height!)).toBeLessThanOrEqual(2);
});

test("a changed operation moves cells from where they were, unless motion is not wanted", async () => {
  for (const reducedMotion of ["no-preference", "reduce"] as const) {
    const { page } = await open(here.browser, here.url, { reducedMotion });
    await go(page, { chain: "(4, 6)", at: "0,0" });
    await page.waitForTimeout(600);
    const frames = await page.evaluate(
      () =>
        new Promise<number>((done) => {
          let [moving, waited] = [0, 0];
          const look = (): void => {
            if (globalThis.explorer.gridCanvas.now?.still === false && globalThis.explorer.idle.value) moving++;
            if (++waited < 120) requestAnimationFrame(look);
            else done(moving);
          };
          globalThis.explorer.change({ chain: "(4, 6).flip(1)" }, true);
          requestAnimationFrame(look);
        }),
    );
    if (reducedMotion === "reduce") expect(frames).toBeLessThan(4);
    else expect(frames).toBeGreaterThan(5);
    // In the end it is the picture of the flipped tensor.
    await page.waitForTimeout(300);
    const row = (await colours(page, [[1, 0], [1, 5]])).map(light);
    expect(row[0]).toBeLessThan(row[1]!);
    // A copy is played to its end, or only gone through.
    await go(page, { chain: "(3, 2).permute(1, 0).reshape(3, 2)" });
    await page.getByRole("button", { name: "Play the copy" }).click();
    const [says, play] = [page.locator(".film-says"), page.getByRole("button", { name: /^(Play|Pause)$/ })];
    if (reducedMotion === "reduce") {
      await says.waitFor();
      expect(await play.count()).toBe(0);
      expect(await says.innerText()).toContain("6 elements");
    } else {
      await expect.poll(() => says.innerText()).toContain("All is copied");
      await play.click();
      await expect.poll(() => says.innerText()).toMatch(/^[1-3] of 6/);
      await page.keyboard.press("Space");
      const held = await says.innerText();
      await page.waitForTimeout(1500);
      expect(await says.innerText()).toBe(held);
    }
    await leave(page);
  }
});

test("nothing is wider than the page, at any rank", async () => {
  const many = `(${[...Array(32).fill(1), ...Array(32).fill(2)].join(",")})`;
  for (const width of [390, 1024, 1280, 1440]) {
    const { page } = await open(here.browser, here.url, { viewport: { width, height: 900 } });
    for (const chain of ["(16,128,64,56,56,8,8)", "(2,3,2,3,2,3,2,3,2,3,2,3).pad((1,1),(1,1),(1,1),(1,1),(1,1),(1,1),(1,1),(1,1),(1,1),(1,1),(1,1),(1,1))", many]) {
      await go(page, { chain, other: chain });
      await page.locator("#views table").first().waitFor();
      await page.waitForTimeout(200);
      const { over, spilled } = await page.evaluate(() => {
        const spilled: string[] = [];
        for (const pane of document.querySelectorAll("#views, #compare, #grid, #witness")) {
          const edge = pane.getBoundingClientRect().right;
          for (const part of pane.querySelectorAll("table, canvas, p, select, input")) {
            // What scrolls in a card does not leave it.
            if (part.closest(".scroll") !== null) continue;
            if (part.getBoundingClientRect().right > edge + 1) spilled.push(`${pane.id} ${part.tagName}`);
          }
        }
        return { over: document.documentElement.scrollWidth - innerWidth, spilled };
      });
      expect(over, `${width} ${chain}`).toBeLessThanOrEqual(0);
      expect(spilled, `${width} ${chain}`).toEqual([]);
    }
    await leave(page);
  }
});

test("modes of a layout of CuTe are told apart by thicker lines", async () => {
  const { page } = await here.shared();
  await go(page, { chain: "((2,2),(2,3)):((1,4),(2,8))", at: "0,0" });
  await choose(page, [0, 0]);
  const gaps = await page.evaluate(() => {
    const { gridCanvas, gridView } = globalThis.explorer;
    const grid = gridCanvas.now!;
    const { left, top, wide, tall } = grid.frame(gridView.value!);
    const ratio = grid.canvas.width / grid.width;
    const { data } = grid.canvas
      .getContext("2d")!
      .getImageData(0, Math.round((top + tall * 1.15) * ratio), grid.canvas.width, 1);
    // How wide the line between columns is that begins at each of them.
    return [1, 2, 3, 4, 5].map((column) => {
      const middle = Math.round((left + column * wide) * ratio);
      let count = 0;
      for (let x = middle - 8; x < middle + 8; x++) {
        if (data[4 * x]! > 250 && data[4 * x + 1]! > 250 && data[4 * x + 2]! > 250) count++;
      }
      return count;
    });
  });
  const [first, second, third, fourth, fifth] = gaps as [number, number, number, number, number];
  expect(second).toBeGreaterThan(first);
  expect(fourth).toBe(second);
  expect(third).toBe(first);
  expect(fifth).toBe(first);
});

test("a colour for each device", async () => {
  const { page } = await here.shared();
  await go(page, { chain: "(8, 12).permute(1, 0)", mesh: "dp=2, tp=2 : S(0), S(1)", color: "device", at: "11,7" });
  await page.waitForTimeout(400);
  expect(await page.getByLabel("Colour").locator("option:checked").innerText()).toBe("device");
  // The base is split into four quarters, which the permutation transposes.
  const corners = await colours(page, [[0, 0], [0, 4], [6, 0], [6, 4]]);
  expect(new Set(corners.map(String)).size).toBe(4);
  const within = await colours(page, [[5, 3], [5, 7], [11, 3], [10, 5]]);
  expect(within).toEqual(corners);
});
