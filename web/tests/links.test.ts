/** Links restore everything, history is undo, and no link does harm. */
import { expect, test } from "vitest";
import { listed, read, unlisted, write } from "../src/fragment";
import { leave, open, settled } from "./browser";
import { choose, go, text } from "./explorer";
import { stage } from "./setup";

const here = stage();

const STATES: readonly Record<string, unknown>[] = [
  {
    chain: "(4, 6).pad((1, 1), (2, 1)).flip(1)",
    at: [3, 4],
    label: "index",
    color: "reads",
    strip: "wrapped",
    rowLength: 8,
  },
  {
    chain: "(2, 3, 4, 5)",
    at: [1, 2, 3, 4],
    places: ["slider", "down", "rows", "columns"],
    color: "axis2",
    muted: [],
  },
  { chain: "(6).reshape(2, 3).flip(0)", muted: [1], at: [1, 1], language: "cuda", kernel: true },
  { mode: "view", axes: [{ size: "4", stride: "-2", begin: "1", end: "3" }], offset: "6", at: [2] },
  {
    mode: "free",
    index: "a % 3 & b",
    valid: "a+b < 4",
    variables: [
      { name: "a", begin: "-2", end: "3" },
      { name: "b", begin: "0", end: "4" },
    ],
    at: [1, 1],
    syntax: "c",
  },
  {
    chain: "(1000, 1000).permute(1, 0)",
    camera: { scale: 12, x: 100, y: 50 },
    stripCamera: { scale: 4, x: 5000, y: 0 },
    at: [110, 60],
  },
  {
    chain: "(1000000, 1000000).permute(1, 0)",
    camera: { scale: 20, x: 765432.25, y: 123456.5 },
    stripCamera: { scale: 4, x: 987654321012.5, y: 0 },
  },
  { chain: "(8, 8)", other: "(8, 8).permute(1, 0)", width: 2, line: 128, at: [0, 1] },
  {
    chain: "ShapeTracker(views=(View(shape=(2, 3), strides=(1, 2), offset=0, mask=None, contiguous=False),))",
    at: [1, 2],
  },
];

test("a link restores the whole page", async () => {
  const { page, complaints } = await open(here.browser, here.url);
  for (const state of STATES) {
    const before = await page.evaluate(async (patch) => {
      globalThis.explorer.change(patch as never, true);
      await new Promise((done) => setTimeout(done, 400));
      return { page: globalThis.explorer.page.value, href: location.href };
    }, state);
    const fresh = await open(here.browser, before.href);
    const after = await fresh.page.evaluate(() => globalThis.explorer.page.value);
    const mode = before.page.mode;
    // What belongs to another mode is not part of the link.
    const of = (page: Record<string, unknown>): Record<string, unknown> => {
      const left = { ...page };
      const others = {
        chain: ["axes", "offset", "index", "valid", "syntax", "variables"],
        view: ["chain", "muted", "index", "valid", "syntax", "variables"],
        free: ["chain", "muted", "axes", "offset"],
      }[mode];
      for (const key of others) delete left[key];
      return left;
    };
    expect(of(after as never), before.href).toEqual(of(before.page as never));
    expect(decodeURIComponent(before.href).length).toBeLessThan(600);
    await leave(fresh.page);
    await page.evaluate(() =>
      globalThis.explorer.change(
        {
          ...globalThis.explorer.page.value,
          mode: "chain",
          muted: [],
          places: null,
          camera: null,
          stripCamera: null,
          other: "",
          label: "address",
          color: "address",
          strip: "linear",
          rowLength: null,
          language: "python",
          kernel: false,
          width: 4,
          line: 64,
        },
        true,
      ),
    );
  }
  expect(complaints).toEqual([]);
  await leave(page);
});

/** Links as they are written, and what they say. */
const LINKS: readonly [fields: Record<string, string>, link: string][] = [
  [{ c: "(3, 2).permute(1, 0).reshape(3, 2)" }, "(3,2).permute(1,0).reshape(3,2)"],
  [{ c: "(3, 2).flip(0)", at: "2,0" }, "(3,2).flip(0)&at=2,0"],
  // What is spaced in another way comes back as it was.
  [{ c: "(3,2).permute(1, 0)" }, "c=(3,2).permute(1,+0)"],
  [{ c: "x" }, "c=x"],
  [{ c: "" }, "c="],
  [{ c: "x=f(2)" }, "c=x=f(2)"],
  [{ c: "a & 100% #" }, "a+%26+100%25+%23"],
  [{ c: "x[::-1, 1]" }, "x[::-1,1]"],
  [{ c: "View(shape=(2, 3), strides=(1, 2))" }, "View(shape=(2,3),strides=(1,2))"],
  [{ c: "x = torch.arange(6)\nx.view(2, 3)" }, "x+=+torch.arange(6)%0Ax.view(2,3)"],
  [{ f: "idx1 + idx0*4", if: "a_b < 3", for: "idx0:3,idx1:4" }, "f=idx1_+_idx0*4&if=a%5Fb_<_3&for=idx0:3,idx1:4"],
];

test("links are short and readable, and nothing is lost", () => {
  for (const [fields, link] of LINKS) {
    expect(write(new Map(Object.entries(fields)))).toBe(link);
    expect(Object.fromEntries(read(link))).toEqual(fields);
  }
  // Any text at all.
  let seed = 1;
  const random = (below: number): number => (seed = (seed * 48271) % 2147483647) % below;
  const letters = ["a", "_", "=", "&", "%", "+", " ", ",", ", ", ":", "(", ")", "2", "\n", "\u00e9", "-", "#", "."];
  const word = (): string => Array.from({ length: random(8) }, () => letters[random(letters.length)]).join("");
  for (let k = 0; k < 5000; k++) {
    const fields = { c: word(), at: word(), f: word(), if: word() };
    const link = write(new Map(Object.entries(fields)));
    expect(Object.fromEntries(read(link)), link).toEqual(fields);
    const rows = [[word(), word()], [word()]];
    expect(unlisted(listed(rows))).toEqual(rows);
  }
  // The name of a place on the page is no chain, nor is a stray percent sign anything.
  expect(read("grid").size).toBe(0);
  expect(read("%E0%A4%A&at=1")).toEqual(new Map([["at", "1"]]));
});

test("what is shared is short enough for a chat", async () => {
  const { page } = await open(here.browser, here.url);
  const hash = (patch: object): Promise<string> =>
    page.evaluate((patch) => {
      globalThis.explorer.change(patch as never, true);
      return location.hash;
    }, patch);
  expect(await hash({ chain: "(3, 2).flip(0)", at: [] })).toBe("#(3,2).flip(0)");
  expect(await hash({ chain: "(2, 6, 12).reshape(2, 6, 3, 4).permute(0, 2, 1, 3)", at: [1, 0, 2, 3] })).toBe(
    "#(2,6,12).reshape(2,6,3,4).permute(0,2,1,3)&at=1,0,2,3",
  );
  const axes = [
    { size: "2", stride: "6", begin: "0", end: "2" },
    { size: "3", stride: "2", begin: "1", end: "3" },
  ];
  expect(await hash({ mode: "view", axes, offset: "4", at: [] })).toBe("#view=2:6,3:2:1:3&offset=4");
  const variables = [
    { name: "y", begin: "0", end: "6" },
    { name: "x", begin: "-1", end: "6" },
  ];
  expect(await hash({ mode: "free", index: "y * 4 + x", valid: "", variables, places: ["rows", "columns"] })).toBe(
    "#f=y_*_4_+_x&for=y:6,x:-1:6&axes=rc",
  );
  await leave(page);
});

/** Links as earlier editions of the page wrote them. */
const OLD_LINKS: readonly [link: string, page: Record<string, unknown>][] = [
  [
    "chain=(2,+3,+4).flip(0)&muted=0&at=1,2,3&other=(2)&axes=slider,down,rows&stripzoom=4,5000,0&color=axis2",
    {
      mode: "chain",
      chain: "(2, 3, 4).flip(0)",
      muted: [0],
      at: [1, 2, 3],
      other: "(2)",
      places: ["slider", "down", "rows"],
      stripCamera: { scale: 4, x: 5000, y: 0 },
      color: "axis2",
    },
  ],
  [
    "mode=view&size=2,3&stride=6,2&begin=0,1&end=2,3&offset=4",
    {
      mode: "view",
      axes: [
        { size: "2", stride: "6", begin: "0", end: "2" },
        { size: "3", stride: "2", begin: "1", end: "3" },
      ],
      offset: "4",
    },
  ],
  ["mode=view&size=&stride=&begin=&end=", { mode: "view", axes: [] }],
  [
    "mode=free&index=(a_b+%2B+2)+%25+3&valid=a_b+<+4&syntax=c&variables=a_b:-2:3",
    {
      mode: "free",
      index: "(a_b + 2) % 3",
      valid: "a_b < 4",
      syntax: "c",
      variables: [{ name: "a_b", begin: "-2", end: "3" }],
    },
  ],
];

test("links of earlier editions are still read", async () => {
  for (const [link, expected] of OLD_LINKS) {
    const { page } = await open(here.browser, `${here.url}#${link}`);
    expect(await page.evaluate(() => globalThis.explorer.page.value), link).toMatchObject(expected);
    await leave(page);
  }
});

test("undo and redo are the browser's own", async () => {
  const { page } = await open(here.browser, `${here.url}#chain=(4,6)`);
  const field = page.getByLabel("Chain as text");
  await field.fill("(4, 6).flip(0)");
  await field.blur();
  await settled(page);
  await page.getByLabel("Delete flip, operation 1").click();
  await page.waitForFunction(() => globalThis.explorer.page.value.chain === "(4, 6)");
  await page.goBack();
  await page.waitForFunction(() => globalThis.explorer.page.value.chain === "(4, 6).flip(0)");
  await page.getByRole("button", { name: "Undo" }).click();
  await page.waitForFunction(() => globalThis.explorer.page.value.chain === "(4,6)");
  expect(await page.getByRole("button", { name: "Undo" }).isDisabled()).toBe(true);
  await page.getByRole("button", { name: "Redo" }).click();
  await page.waitForFunction(() => globalThis.explorer.page.value.chain === "(4, 6).flip(0)");
  await leave(page);
});

test("a link that is followed on the page is a step of undo", async () => {
  const { page } = await open(here.browser, `${here.url}#chain=(4,6)`);
  const undo = page.getByRole("button", { name: "Undo" });
  const redo = page.getByRole("button", { name: "Redo" });
  await page.evaluate(() => globalThis.explorer.change({ chain: "(5, 5)" }, true));
  await page.evaluate(() => globalThis.explorer.change({ chain: "(6, 6)" }, true));
  await undo.click();
  await page.waitForFunction(() => globalThis.explorer.page.value.chain === "(5, 5)");
  await go(page, { chain: "(2, 2)" });
  expect(await redo.isDisabled()).toBe(true);
  await undo.click();
  await page.waitForFunction(() => globalThis.explorer.page.value.chain === "(5, 5)");
  await redo.click();
  await page.waitForFunction(() => globalThis.explorer.page.value.chain === "(2, 2)");
  expect(await redo.isDisabled()).toBe(true);
  await leave(page);
});

test("scrubbing a number is one step of undo, and selecting is none", async () => {
  const { page } = await open(here.browser, `${here.url}#chain=(4,6)`);
  const length = await page.evaluate(() => history.length);
  const number = page.getByRole("spinbutton", { name: "base, number 2" });
  await number.focus();
  for (let k = 0; k < 5; k++) await page.keyboard.press("ArrowUp");
  await page.waitForFunction(() => globalThis.explorer.page.value.chain === "(4,11)");
  await settled(page);
  await choose(page, [2, 2]);
  expect(await page.evaluate(() => history.length)).toBe(length + 1);
  await page.goBack();
  await page.waitForFunction(() => globalThis.explorer.page.value.chain === "(4,6)");

  const box = (await number.boundingBox())!;
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x + 30, y, { steps: 10 });
  await page.mouse.up();
  await page.waitForFunction(() => globalThis.explorer.page.value.chain === "(4,9)");
  await settled(page);
  await page.goBack();
  await page.waitForFunction(() => globalThis.explorer.page.value.chain === "(4,6)");
  await leave(page);
});

test("nothing in a link runs", async () => {
  const evil = [
    "<img src=x onerror=alert(1)>",
    '"><script>globalThis.evil=1</script>',
    "javascript:alert(1)",
    "${globalThis.evil=1}",
    "{{7*7}}",
    "__proto__",
  ];
  const { page, complaints } = await here.shared();
  let dialogs = 0;
  page.on("dialog", (dialog) => {
    dialogs++;
    void dialog.dismiss();
  });
  for (const text of evil) {
    for (const fields of [
      { chain: text },
      { chain: "(2)", other: text },
      { mode: "free", index: text, valid: text, variables: `${text}:0:2` },
      { mode: "view", size: text, stride: text, offset: text },
      { chain: "(2)", color: text, label: text, axes: text, at: text, zoom: text, code: text },
    ]) {
      await go(page, fields);
      expect(
        await page.evaluate(() => document.querySelectorAll("#page script, #page img, #page iframe").length),
      ).toBe(0);
    }
  }
  expect(dialogs).toBe(0);
  expect(await page.evaluate(() => "evil" in globalThis)).toBe(false);
  expect(complaints).toEqual([]);
});

test("links and texts that are too long are refused with a sentence", async () => {
  const { page } = await here.shared();
  await go(page, { chain: `(2)${".flip(0)".repeat(3000)}` });
  expect(await text(page, ".notice")).toContain("characters long");
  await page.getByRole("button", { name: "Close" }).last().click();
  await page.evaluate(() => globalThis.explorer.change({ chain: "(2)" + ".flip(0)".repeat(2000) }, true));
  await page.waitForSelector("#chain-fault");
  expect(await text(page, "#chain-fault")).toContain("at most 12000");
});

test("input that is hard to decide does not stop the page", { timeout: 120_000 }, async () => {
  const { page } = await here.shared();
  const hard = [
    `(${"2, ".repeat(40)})`,
    `(${"1, ".repeat(63)}1)`,
    "(9223372036854775807)",
    "(9223372036854775807, 2)",
    "(3037000499, 3037000499).permute(1, 0).reshape(9223372030926249001)",
    `(4096)${".reshape(64, 64).permute(1, 0).reshape(4096).pad((1, 2)).shrink((0, 4096))".repeat(40)}`,
    `(97, 89, 83, 79)${".permute(3, 1, 0, 2).reshape(56602913).pad((1, 3)).shrink((2, 56602915)).reshape(97, 89, 83, 79)".repeat(6)}`,
  ];
  for (const chain of hard) {
    await page.evaluate(
      (chain) => globalThis.explorer.change({ chain, at: [], places: null, camera: null }, true),
      chain,
    );
    // The page answers while the engine thinks: a frame is drawn within a fraction of a second.
    const frame = await page.evaluate(() => {
      const before = performance.now();
      return new Promise<number>((done) =>
        requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - before))),
      );
    });
    expect(frame, chain.slice(0, 60)).toBeLessThan(1000);
    await page.waitForFunction(() => document.querySelector("main")!.dataset["state"] !== "waiting", undefined, {
      timeout: 15_000,
    });
  }
});
