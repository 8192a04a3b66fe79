/**
 * What people do, in any order: nothing of it may be an error, and what is drawn is what the engine says. Twenty seconds of it,
 * or as many as RANDOM_SECONDS says (`npm run random`: five minutes); RANDOM_SEED repeats a run.
 */
import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { Engine, moduleOf, type Integer, type ModuleName, type Source } from "shapetracker/engine";
import { leave, open, settled } from "./browser";
import { DIST } from "./server";
import { stage } from "./setup";

const here = stage();
const SECONDS = Number(process.env["RANDOM_SECONDS"] ?? 20);
const SEED = Number(process.env["RANDOM_SEED"] ?? Date.now() % 1_000_000);

let state = SEED + 1;
/** A number below another. */
const random = (below: number): number => (state = (state * 48271) % 2147483647) % below;
const choose = <T>(list: readonly T[]): T => list[random(list.length)]!;

const TEXTS = [
  "(3, 2).permute(1, 0).reshape(3, 2)",
  "(1000, 1000).permute(1, 0).reshape(1000000)",
  "(5, 6).pad((1, 1), (1, 1)).as_strided((5, 6, 3, 3), (8, 1, 8, 1))",
  "torch.arange(24).view(2, 3, 4).transpose(1, 2).contiguous().view(8, 3)",
  "x = np.zeros((4, 6))\ny = x[::2, ::-1].T",
  "x.view(B, T, H, D).transpose(1, 2)",
  "(B, T, 4).permute(1, 0, 2).reshape(B*T, 4)",
  "rearrange(torch.empty(2, 12, 5), 'b (h d) t -> b h t d', h=3)",
  "((2, 4), 8):((1, 16), 2)",
  "(1000000, 1000000).reshape(1000, 1000, 1000, 1000).permute(0, 2, 1, 3)",
  "(0, 3).flip(1)",
  "(2, 3).reshape(7)",
  "(2, 3).",
  "a ( b",
];
const LETTERS = [..."0123456789(),.: -+*/%", ".permute(1, 0)", ".reshape(", ".flip(0)", ".pad((1, 1))", "T", "x"];
const KEYS = [
  ...["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End", "PageUp", "PageDown", "Tab", "Shift+Tab", "Escape"],
  ...["Enter", "Control+z", "Control+Shift+z", "+", "-", "0", "Shift+ArrowLeft", "Backspace", "Delete"],
];

/** A part of the page that can be seen and used, chosen at random. */
async function part(page: Page, selector: string): Promise<{ x: number; y: number; what: string } | null> {
  return page.evaluate(
    ([selector, number]) => {
      const all = [...document.querySelectorAll<HTMLElement>(selector)].filter(
        (each) => each.getClientRects().length > 0 && !each.matches(":disabled, [inert] *"),
      );
      const chosen = all[number % Math.max(all.length, 1)];
      if (chosen === undefined) return null;
      chosen.scrollIntoView({ block: "center" });
      const { left, top, width, height } = chosen.getBoundingClientRect();
      const name = chosen.getAttribute("aria-label") ?? chosen.textContent?.slice(0, 40) ?? "";
      return { x: left + width / 2, y: top + height / 2, what: `${chosen.tagName.toLowerCase()} ${name}` };
    },
    [selector, random(1_000_000)] as const,
  );
}

/**
 * Asks the page, and again where it was left meanwhile: links and steps back in the history may load it anew, and what it was just
 * asked is then lost.
 */
async function asked<T>(page: Page, ask: (page: Page) => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask(page);
    } catch (error) {
      if (!/because of a navigation/.test(String(error))) throw error;
      await page.waitForLoadState();
    }
  }
}

/** Does something, and says what. */
type Action = (page: Page) => Promise<string>;

async function replace(page: Page, field: string, text: string): Promise<string> {
  const found = await page.evaluate((field) => {
    const place = document.querySelector<HTMLTextAreaElement>(field);
    place?.focus();
    place?.select();
    return place !== null;
  }, field);
  if (found) await page.keyboard.insertText(text);
  return `${field}: ${text}`;
}

const ACTIONS: readonly [often: number, action: Action][] = [
  [5, (page) => replace(page, "#chain textarea", choose(TEXTS))],
  [
    6,
    async (page) => {
      await page.evaluate(() => document.querySelector<HTMLElement>("#chain textarea")?.focus());
      const letters = Array.from({ length: 1 + random(6) }, () => choose(LETTERS)).join("");
      if (random(2) === 0) await page.keyboard.press(choose(["End", "Home", "Backspace", "Control+ArrowLeft"]));
      await page.keyboard.type(letters);
      return `typed ${letters}`;
    },
  ],
  [
    10,
    async (page) => {
      const key = choose(KEYS);
      await page.keyboard.press(key);
      return `pressed ${key}`;
    },
  ],
  [
    10,
    async (page) => {
      const found = await part(page, "button, summary, [role=option], a[href]");
      if (found === null) return "no button";
      await page.mouse.click(found.x, found.y);
      return `clicked ${found.what}`;
    },
  ],
  [
    8,
    async (page) => {
      const found = await part(page, "canvas");
      if (found === null) return "no canvas";
      const [dx, dy] = [random(300) - 150, random(120) - 60];
      await page.mouse.move(found.x + dx / 3, found.y + dy / 3);
      if (random(3) === 0) await page.mouse.wheel(random(200) - 100, random(400) - 200);
      if (random(2) === 0) {
        await page.mouse.down();
        await page.mouse.move(found.x + dx, found.y + dy, { steps: 4 });
        await page.mouse.up();
      } else await page.mouse.click(found.x + dx / 3, found.y + dy / 3);
      return `canvas by ${dx}, ${dy}`;
    },
  ],
  [
    5,
    async (page) => {
      const said = await page.evaluate((number) => {
        const all = [...document.querySelectorAll("select")].filter(({ disabled }) => !disabled);
        const chosen = all[number % Math.max(all.length, 1)];
        if (chosen === undefined) return "no select";
        chosen.selectedIndex = number % chosen.options.length;
        chosen.dispatchEvent(new Event("input", { bubbles: true }));
        chosen.dispatchEvent(new Event("change", { bubbles: true }));
        return `${chosen.getAttribute("aria-label") ?? ""}: ${chosen.value}`;
      }, random(1_000_000));
      return `chose ${said}`;
    },
  ],
  [
    4,
    async (page) => {
      // A number that is dragged, or a slider.
      const found = await part(page, "[role=spinbutton], input[type=range], .handle");
      if (found === null) return "no number";
      await page.mouse.move(found.x, found.y);
      await page.mouse.down();
      await page.mouse.move(found.x + random(60) - 30, found.y, { steps: 5 });
      await page.mouse.up();
      return `dragged ${found.what}`;
    },
  ],
  [
    2,
    async (page) => {
      const found = await part(page, "input[type=text], textarea");
      if (found === null) return "no field";
      await page.mouse.click(found.x, found.y);
      await page.keyboard.type(choose(["2", "(3, 2)", "x", "", "1..9", "i*2"]));
      return `field ${found.what}`;
    },
  ],
  [1, async (page) => `back ${String(await page.evaluate(() => history.back()))}`],
  [1, async (page) => `forward ${String(await page.evaluate(() => history.forward()))}`],
  [
    1,
    async (page) => {
      const width = choose([390, 700, 1024, 1360]);
      await page.setViewportSize({ width, height: choose([600, 844, 900]) });
      return `${width} pixels wide`;
    },
  ],
];
const OFTEN = ACTIONS.flatMap(([often, action]) => Array.from({ length: often }, () => action));

const engines = new Map<ModuleName, Engine>();

/** The address that an element has, without the page. */
function address(source: Source, index: number[]): Integer | null {
  const op = "chain" in source ? "trace" : "evaluate";
  const request = { source, index } as never;
  const name = moduleOf(op, request);
  const module = (): WebAssembly.Module => new WebAssembly.Module(readFileSync(`${DIST}${name}.wasm`));
  const engine = engines.get(name) ?? new Engine(module());
  engines.set(name, engine);
  const said = engine.call(op, request);
  if (!said.ok) throw new Error(said.fault.message);
  return "address" in said.value ? (said.value.address as Integer | null) : null;
}

/** What is drawn: some cells with their addresses. */
function drawn(page: Page): Promise<{ source: Source; cells: { index: number[]; address: number | null }[]; wide: string[] }> {
  return page.evaluate(() => {
    const { layout, gridCanvas, gridView } = globalThis.explorer;
    const [now, grid, view] = [layout.value, gridCanvas.now, gridView.value];
    const { clientWidth, scrollWidth } = document.documentElement;
    const beyond = [...document.querySelectorAll("body *")].filter(
      (part) => part.getBoundingClientRect().right > clientWidth + 1 && part.closest(".blocks, .scroll, pre, code") === null,
    );
    const names = beyond.map((part) => `${part.tagName} ${part.id} ${part.className}`.trim());
    const wide = scrollWidth > clientWidth ? [`${scrollWidth} of ${clientWidth} pixels`, ...names] : [];
    const cells: { index: number[]; address: number | null }[] = [];
    const tile = grid?.tiles.get(0, 0, 1);
    // With a mistake in the text it is the tensor of what stands before it.
    const there = now !== null && !now.shape.includes(0) && view !== null && tile != null;
    if (there && view.scene.layout === now && tile.addresses instanceof Float64Array) {
      for (const sample of [0, 1, Math.floor(tile.addresses.length / 2), tile.addresses.length - 1]) {
        const value = tile.addresses[sample];
        // Between facets there is nothing.
        if (value === undefined || value === Infinity) continue;
        const index = [...view.scene.fixed];
        view.scene.plan.row.toIndex(tile.rowCells.begins[Math.floor(sample / tile.columns)]!, index);
        view.scene.plan.column.toIndex(tile.columnCells.begins[sample % tile.columns]!, index);
        cells.push({ index, address: Number.isNaN(value) ? null : value });
      }
    }
    return { source: now?.source ?? { chain: "" }, cells, wide };
  });
}

test("whatever is done, nothing fails", { timeout: (SECONDS + 60) * 1000 }, async () => {
  const { page, complaints } = await open(here.browser, here.url);
  // A link to another page of the site leads nowhere: 204 is the answer at which a browser stays where it is.
  const elsewhere = (url: string): boolean => /^https?:/.test(url) && (!url.startsWith(here.url) || /\/(?!index)\w+\.html$/.test(new URL(url).pathname));
  await page.route(
    (url) => elsewhere(url.href),
    (route) => route.fulfill({ status: 204 }),
  );
  page.on("requestfailed", (request) => {
    const why = request.failure()?.errorText ?? "";
    // Links and steps back in the history may leave the page while it still loads something.
    if (!elsewhere(request.url()) && why !== "net::ERR_ABORTED") complaints.push(`${request.url()} failed: ${why}`);
  });
  page.on("dialog", (dialog) => void dialog.dismiss());
  // What opens beside the page is another page.
  page.context().on("page", (other) => void (other === page ? undefined : other.close()));
  await page.evaluate(() => {
    const seen = { longest: 0, now: "", during: "" };
    Object.assign(globalThis, { seen });
    let last = performance.now();
    const look = (): void => {
      const now = performance.now();
      if (now - last > seen.longest) [seen.longest, seen.during] = [now - last, seen.now];
      last = now;
      requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  });
  const done: string[] = [];
  const end = performance.now() + SECONDS * 1000;
  let [actions, compared] = [0, 0];
  try {
    while (performance.now() < end) {
      const said = await asked(page, choose(OFTEN));
      actions++;
      done.push(said);
      expect(complaints).toEqual([]);
      const note = (page: Page): Promise<void> =>
        page.evaluate((said) => {
          const { seen } = globalThis as unknown as { seen?: { now: string } };
          if (seen !== undefined) seen.now = said;
        }, said);
      await asked(page, note);
      if (actions % 20 > 0) continue;
      await asked(page, settled);
      const { source, cells, wide } = await asked(page, drawn);
      expect(wide, "nothing is wider than the page").toEqual([]);
      if (!("chain" in source)) continue;
      for (const { index, address: shown } of cells) {
        compared++;
        const known = address(source, index);
        expect(shown, `${source.chain} at ${index.join()}`).toBe(known === null ? null : Number(known));
      }
    }
  } catch (error) {
    console.log(`seed ${SEED}, action ${actions}; the last ones: ${done.slice(-30).join(" | ")}; ${page.url()}`);
    throw error;
  }
  const { longest, during } = await page.evaluate(() => {
    const { seen } = globalThis as unknown as { seen?: { longest: number; during: string } };
    return seen ?? { longest: 0, during: "" };
  });
  console.log(
    `${actions} actions in ${SECONDS} seconds, ${compared} cells compared; seed ${SEED}; ` +
      `the longest time between two frames: ${longest.toFixed(0)} ms, after: ${during}`,
  );
  await leave(page);
});
