/** The page as the command serves it: `shapetracker explore`, which `SHAPETRACKER` names, with the page built into it. */
import { spawn, type ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { Browser } from "playwright-core";
import { launch, leave, leaveAll, open, settled } from "./browser";
import { text } from "./explorer";

const command = process.env["SHAPETRACKER"];
const why = "SHAPETRACKER names no command that was built with the page";
if (command === undefined) console.log(`skipped: ${why}`);

let browser: Browser;
let serving: ChildProcess | undefined;
beforeAll(async () => {
  browser = await launch();
});
afterEach(() => {
  // Not an interrupt, which is ignored in the background of a shell.
  serving?.kill("SIGKILL");
});
afterAll(leaveAll);

/** Starts the command on a chain; the address that it prints. */
async function explore(chain: string, how: "argument" | "input" = "argument"): Promise<string> {
  const given = how === "input" ? "-" : chain;
  const child = spawn(command!, ["explore", "--json", given], { stdio: ["pipe", "pipe", "inherit"] });
  serving = child;
  if (how === "input") child.stdin.end(chain);
  for await (const line of createInterface(child.stdout)) {
    const { url, error } = JSON.parse(line) as { url?: string; error?: { message: string } };
    if (url === undefined) throw new Error(error?.message ?? line);
    return url;
  }
  throw new Error("The command ended without an address.");
}

const CHAINS: readonly [chain: string, shape: string][] = [
  ["(3, 2).permute(1, 0).reshape(3, 2)", "3,2"],
  ["(4, 6).pad((1, 1), (0, 2)).flip(1)", "6,8"],
  ["np.arange(12).reshape(3, 4).transpose(1, 0)[::-1]", "4,3"],
  ["torch.arange(24).reshape(2, 3, 4).permute(2, 0, 1)", "4,2,3"],
  ["((3, 2), 4):((1, 3), 6)", "6,4"],
  ["ShapeTracker(views=(View(shape=(2, 3), strides=(1, 2), offset=0, mask=None, contiguous=False),))", "2,3"],
];

test.skipIf(command === undefined).each(CHAINS)("the page shows the chain that was given: %s", async (chain, shape) => {
  const url = await explore(chain);
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#(\(|c=|np\.|torch\.|ShapeTracker\()/);
  const { page, complaints } = await open(browser, url);
  const shown = await page.evaluate(() => ({
    chain: globalThis.explorer.page.value.chain,
    shape: globalThis.explorer.layout.value?.shape.join(),
    trouble: globalThis.explorer.trouble.value,
  }));
  expect(shown).toEqual({ chain, shape, trouble: null });
  // The page writes the same address as the command, and after it the element that it chose itself where the first has no data.
  await page.evaluate((chain) => globalThis.explorer.change({ chain, at: [] }, true), chain);
  await settled(page);
  expect((await page.evaluate(() => location.href)).replace(/&at=[\d,]+$/, "")).toBe(url);
  expect(complaints).toEqual([]);
  await leave(page);
});

test.skipIf(command === undefined)("every file comes from the command under its policy", async () => {
  const url = await explore("(2, 3)\n  .permute(1, 0)\n", "input");
  const context = await browser.newContext();
  const page = await context.newPage();
  const answers = new Map<string, { status: number; type: string; policy: string }>();
  page.on("response", (response) => {
    const headers = response.headers();
    answers.set(response.url().slice(new URL(url).origin.length), {
      status: response.status(),
      type: headers["content-type"] ?? "",
      policy: headers["content-security-policy"] ?? "",
    });
  });
  await page.goto(url);
  await settled(page);
  expect(await page.evaluate(() => globalThis.explorer.layout.value?.shape)).toEqual([3, 2]);
  // Browsers without a window ask for no icon.
  await page.evaluate(() => fetch("./icon.svg"));
  const types = Object.fromEntries([...answers].map(([path, { type }]) => [path.replace(/-[\w-]{8}\./, "."), type]));
  expect(types).toMatchObject({
    "/": "text/html; charset=utf-8",
    "/shapetracker.wasm": "application/wasm",
    "/presets.json": "application/json",
    "/icon.svg": "image/svg+xml",
  });
  for (const [path, { status, policy }] of answers) {
    expect(status, path).toBe(200);
    expect(policy, path).toContain("default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'");
  }
  const origin = new URL(url).origin;
  for (const resource of await page.evaluate(() => performance.getEntriesByType("resource").map(({ name }) => name))) {
    expect(resource.startsWith(`${origin}/`), resource).toBe(true);
  }
  await context.close();
});

test.skipIf(command === undefined)("a chain with a mistake is shown at its operation", async () => {
  const { page, complaints } = await open(browser, await explore("(3, 2).permute(1, 0).reshape(4)"));
  expect(await text(page, "#chain-fault")).toContain("4");
  expect(complaints).toEqual([]);
  await leave(page);
});

test.skipIf(command === undefined)("the course comes from the command too", async () => {
  const url = await explore("(2, 3)");
  const context = await browser.newContext();
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error") complaints.push(message.text());
  });
  await page.goto(new URL("course.html", url).href);
  const figure = page.locator('[data-part="strides"]');
  await figure.locator(".strip i").nth(11).waitFor();
  expect(await figure.locator(".rule").innerText()).toContain("1\u00b74 + 2\u00b71 = 6");
  await page.locator("header").getByRole("link", { name: "The explorer" }).click();
  await settled(page);
  expect(complaints).toEqual([]);
  await context.close();
});
