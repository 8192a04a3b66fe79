/** Pictures of the main states for the README: `npm run screenshots` after `npm run build`. */
import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { launch, open } from "./tests/browser";
import { go } from "./tests/explorer";
import { serve } from "./tests/server";

const FOLDER = fileURLToPath(new URL("screenshots/", import.meta.url));
/** What is shown of a link to the page, in the shape that those who show it expect. */
const PREVIEW = fileURLToPath(new URL("public/preview.png", import.meta.url));

interface Shot {
  name: string;
  /** The page that a link opens; without one it is the first visit. */
  fields: Record<string, string> | null;
  dark?: boolean;
  phone?: boolean;
  /** How many pixels are seen of the page's height. */
  height?: number;
}

const SHOTS: readonly Shot[] = [
  { name: "start", fields: null, height: 1360 },
  {
    name: "flow",
    fields: { chain: "(2, 6, 12).reshape(2, 6, 3, 4).permute(0, 2, 1, 3).reshape(2, 3, 24)", at: "1,2,7" },
  },
  {
    name: "windows",
    fields: { chain: "(5, 6).pad((1, 1), (1, 1)).as_strided((5, 6, 3, 3), (8, 1, 8, 1))", at: "2,3,1,1" },
  },
  {
    name: "triangle-dark",
    dark: true,
    fields: {
      chain:
        "(1).expand(8).pad((7, 0)).reshape(1, 15).expand(9, 15).reshape(135).shrink((0, 128)).reshape(8, 16).shrink((0, 8), (0, 8)).flip(1)",
      at: "5,2",
    },
  },
  {
    name: "million",
    fields: {
      chain: "(1000, 1000).reshape(10, 100, 10, 100).permute(0, 2, 1, 3).reshape(1000, 1000)",
      at: "400,520",
    },
  },
  {
    name: "expression",
    fields: { mode: "free", index: "(y // 2 * 4 + x) % 12", valid: "x + y < 7", variables: "y:0:6,x:0:6", at: "2,3" },
  },
  { name: "phone", phone: true, fields: { chain: "(4, 6).pad((1, 1), (2, 1)).flip(1)", at: "2,3" } },
];

mkdirSync(FOLDER, { recursive: true });
const { url, server } = await serve();
const browser = await launch();
for (const { name, fields, dark = false, phone = false, height = 820 } of SHOTS) {
  const { page } = await open(browser, fields === null ? url : `${url}#at=0`, {
    viewport: phone ? { width: 390, height: 844 } : { width: 1280, height },
    colorScheme: dark ? "dark" : "light",
  });
  if (fields !== null) await go(page, fields);
  await page.waitForTimeout(500);
  await page.screenshot({ path: `${FOLDER}${name}.png` });
  await page.context().close();
}
const { page } = await open(browser, `${url}#(3,2).permute(1,0).reshape(3,2)&at=2,0`, {
  viewport: { width: 1200, height: 630 },
  colorScheme: "light",
});
await page.locator("#flow canvas").nth(2).waitFor();
await page.waitForTimeout(1000);
await page.screenshot({ path: PREVIEW });
// The page carries it wherever it goes: a third of the bytes, where the tool is there (apt-get install pngquant).
spawnSync("pngquant", ["--force", "--strip", "--output", PREVIEW, "64", PREVIEW]);
await page.context().close();

/** A lesson of the course, from its heading on. */
for (const [name, lesson, phone] of [
  ["lesson", "views", false],
  ["lesson-phone", "strides", true],
] as const) {
  const { page } = await open(browser, url, {
    viewport: phone ? { width: 390, height: 844 } : { width: 820, height: 1020 },
    colorScheme: "light",
  });
  await page.goto(`${url}course.html#${lesson}`);
  await page.locator(`#${lesson} .figure .strip i`).first().waitFor();
  await page.waitForTimeout(700);
  await page.locator(`#${lesson}`).evaluate((section) => section.scrollIntoView());
  await page.waitForTimeout(300);
  await page.screenshot({ path: `${FOLDER}${name}.png` });
  await page.context().close();
}

/** The page of threads and banks: a tile that is read by columns. */
{
  const { page } = await open(browser, url, { viewport: { width: 1280, height: 900 }, colorScheme: "light" });
  await page.goto(`${url}kernels.html`);
  await page.locator(".banks").waitFor();
  await page.setViewportSize({ width: 1280, height: 1000 });
  await page.screenshot({ path: `${FOLDER}kernels.png` });
  await page.context().close();
}
await browser.close();
server.close();
