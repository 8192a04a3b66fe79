/**
 * What people paste, each as a visit from the first page with the number of actions that it takes: a text that is pasted, a field
 * that is filled, and a press are one each.
 */
import { afterAll, expect, test } from "vitest";
import type { Page } from "playwright-core";
import { settled } from "./browser";
import { text } from "./explorer";
import { stage } from "./setup";

const here = stage();
const taken: string[] = [];

afterAll(() => console.log(taken.join("\n")));

interface Visit {
  page: Page;
  paste(what: string): Promise<void>;
  /** The shape of the array of which only the name is known. */
  shape(sizes: string): Promise<void>;
  answer(): Promise<string>;
  /** The shape of what is shown. */
  shown(): Promise<number[] | undefined>;
}

/** Every visit leaves the text as the last one has left it: what is pasted takes its place. */
async function visited(task: string, most: number, does: (visit: Visit) => Promise<void>): Promise<void> {
  const { page } = await here.shared();
  let actions = 0;
  const acted = async (): Promise<void> => {
    actions++;
    await settled(page);
  };
  await page.evaluate(() => globalThis.explorer.change({ mode: "chain", chain: "(2, 3)", base: "", where: "", values: {}, step: null, at: [] }));
  await settled(page);
  await does({
    page,
    async paste(what) {
      await page.getByLabel("Chain as text", { exact: true }).fill(what);
      await acted();
    },
    async shape(sizes) {
      await page.locator(".base-field input").fill(sizes);
      await acted();
    },
    async answer() {
      await page.waitForSelector(".answer[data-fresh=yes]");
      return text(page, ".answer");
    },
    shown: () => page.evaluate(() => globalThis.explorer.layout.value?.shape),
  });
  taken.push(`${task.padEnd(64)} ${actions} (at most ${most})`);
  expect(actions).toBeLessThanOrEqual(most);
}

const RAISED =
  "RuntimeError: view size is not compatible with input tensor's size and stride (at least one dimension spans across two contiguous subspaces). Use .reshape(...) instead.";

test("an error with the code in front of it is answered, with a repair of that code", async () => {
  await visited("error pasted, with the code", 1, async ({ paste, answer, page }) => {
    await paste(`x = torch.randn(8, 12, 128, 64)\nx.transpose(1, 2).view(8, 128, 768)\n${RAISED}`);
    expect(await answer()).toMatch(/PyTorch\s*raises/);
    // Of the code that repairs it what is new is marked.
    expect((await page.locator(".library ins").allInnerTexts()).join("")).toContain(".contiguous()");
    // No list of operations lies over the answer.
    expect(await page.locator("[role=option]").count()).toBe(0);
  });
});

test("an error that says its shapes is the chain that it is about", async () => {
  await visited("error that says its shapes", 1, async ({ paste, page }) => {
    await paste("ValueError: cannot reshape array of size 12 into shape (5,)");
    expect(await text(page, ".mistake")).toContain("shape (12,) has 12 elements, but shape (5,) needs 5");
  });
});

test("a traceback asks for no more than the shape of the array in its line", async () => {
  await visited("traceback", 2, async ({ paste, shape, answer, page }) => {
    await paste(
      `Traceback (most recent call last):\n  File "a.py", line 9, in <module>\n    model(x)\n  File "m.py", line 3, in forward\n    return x.transpose(1, 2).view(8, 128, 768)\n${RAISED}`,
    );
    expect(await text(page, ".base-field")).toContain("Shape of x");
    await shape("8, 12, 128, 64");
    expect(await answer()).toMatch(/PyTorch\s*raises/);
  });
});

test("an error that says nothing asks for the line that raised it, and no list opens over that", async () => {
  await visited("error that says nothing", 1, async ({ paste, page }) => {
    await paste(RAISED);
    expect(await text(page, ".mistake")).toContain("the line that raised it");
    expect(await page.locator("[role=option]").count()).toBe(0);
  });
});

test.each([
  ["x[:, ::2]", "2, 6", [2, 3]],
  ["x[0]", "4, 5", [5]],
  ["x.T", "4, 5", [5, 4]],
  ["x.flatten(1)", "2, 3, 4", [2, 12]],
  ["x.view(x.size(0), -1)", "2, 3, 4", [2, 12]],
  ["rearrange(x, 'b h t d -> b t (h d)')", "2, 3, 4, 5", [2, 4, 15]],
] as const)("%s asks for the shape of x in the one field", async (line, sizes, shape) => {
  await visited(line, 2, async (visit) => {
    await visit.paste(line);
    expect(await text(visit.page, ".base-field")).toContain("Shape of x");
    await visit.shape(sizes);
    expect(await visit.shown()).toEqual([...shape]);
  });
});

test("names that nobody has said are sizes, in the line and in the shape that is asked for", async () => {
  await visited("a line with names", 2, async ({ paste, shape, answer }) => {
    await paste("q = x.view(B, T, H, D).transpose(1, 2)");
    await shape("B, T, H*D");
    expect(await answer()).toMatch(/One view/i);
  });
  await visited("a line whose names are given", 1, async ({ paste, answer, page }) => {
    await paste("x = torch.randn(B, T, C)\nx.transpose(1, 2).view(B, T*C)");
    expect(await answer()).toMatch(/PyTorch\s*raises/);
    // Told in the library of the text first, in its names; the other one is a press away.
    expect(await text(page, ".library >> nth=0")).toContain("PyTorch");
    expect(await page.locator(".library summary").innerText()).toContain("NumPy");
  });
});

test("the answer is told in the library of the text first", async () => {
  await visited("NumPy's line", 1, async ({ paste, answer, page }) => {
    await paste("np.arange(24).reshape(2, 3, 4).transpose(0, 2, 1).reshape(2, 12)");
    await answer();
    expect(await text(page, ".library >> nth=0")).toMatch(/^NumPy\s*copies/);
    expect(await page.locator(".library summary").innerText()).toContain("PyTorch");
  });
});

test("shapes and strides as they are printed", async () => {
  for (const what of ["size=(2,3,4), stride=(12,4,1)", "(2,3,4), (12,4,1), 0", "torch.Size([2, 3, 4]) (12, 4, 1)", "(2,3,4):(12,4,1)"]) {
    await visited(what, 1, async ({ paste, answer }) => {
      await paste(what);
      expect(await answer(), what).toMatch(/One view: shape \(2, 3, 4\), strides \(12, 4, 1\)/);
    });
  }
});

test("a session of Python without what it printed", async () => {
  await visited("session", 1, async ({ paste, answer }) => {
    await paste(">>> x = torch.zeros(2, 3)\n>>> x.t().stride()\n(1, 3)");
    expect(await answer()).toMatch(/strides \(1, 3\)/);
  });
});

test("a layout of CuTe with a swizzle leads to the page that reads it", async () => {
  await visited("CuTe with a swizzle", 1, async ({ paste, page }) => {
    await paste("Sw<3,3,3> o 0 o (8,64):(64,1)");
    expect(await page.getByRole("link", { name: "Its threads and banks" }).getAttribute("href")).toContain("kernels.html#layouts=Sw");
  });
});

test("an index expression of a compiler is shown as one, its names are the variables, and what is assumed is said", async () => {
  await visited("the expression of a compiler", 1, async ({ paste, page }) => {
    await paste("(((((ridx0*2)+ridx1)%3)*2)+(((ridx0*2)+ridx1)//3))");
    await page.waitForFunction(() => globalThis.explorer.page.value.mode === "free");
    await settled(page);
    const { variables } = await page.evaluate(() => globalThis.explorer.page.value);
    expect(variables.map(({ name }) => name)).toEqual(["ridx0", "ridx1"]);
    expect(await text(page, "#free .help")).toContain("does not say how far ridx0 and ridx1 go");
    // `1` is what compilers write for a condition that always holds.
    await page.getByLabel("valid", { exact: true }).fill("1");
    await settled(page);
    expect(await page.evaluate(() => globalThis.explorer.trouble.value)).toBeNull();
    // The element [1, 1] has 1*2 + 1 = 3: (3 % 3)*2 + 3//3 is 1.
    await page.evaluate(() => globalThis.explorer.change({ at: [1, 1] }));
    await page.waitForFunction(() => globalThis.explorer.detail.value?.address === 1);
  });
});

test("where nothing stands in the text there are ways to begin, and one press is enough", async () => {
  await visited("from an empty text", 2, async ({ paste, page, answer }) => {
    await paste("");
    expect(await text(page, ".empty-state")).toContain("Paste what you have");
    expect(await page.locator("#grid").isVisible()).toBe(false);
    await page.getByRole("button", { name: "An error" }).click();
    await settled(page);
    expect(await answer()).toMatch(/PyTorch\s*raises/);
  });
});
