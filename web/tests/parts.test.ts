/** Parts of the page that do not come: the network is at fault then, and never who reads; and each can be asked for again. */
import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import type { Page } from "playwright-core";
import { blank, leave, settled } from "./browser";
import { text } from "./explorer";
import { DIST } from "./server";
import { stage } from "./setup";

const here = stage();

/** How a part may be missing: no network, blocked, gone after a new build, or another page in its place. */
const WAYS = {
  offline: (route: { abort(why: string): Promise<void> }) => route.abort("internetdisconnected"),
  gone: (route: { fulfill(of: object): Promise<void> }) => route.fulfill({ status: 404, body: "Not found" }),
  another: (route: { fulfill(of: object): Promise<void> }) =>
    route.fulfill({ status: 200, contentType: "text/html", body: "<!doctype html><p>Welcome" }),
} as const;

/**
 * A page of the site without some of its files. `quiet` waits until it asks for none of them any more: each question asks anew
 * for what it needs, so that what is given before that may come without the button.
 */
async function without(
  names: RegExp,
  at: string,
  way: keyof typeof WAYS = "gone",
): Promise<{ page: Page; give(): Promise<void>; quiet(): Promise<void> }> {
  const page = await blank(here.browser);
  let last = Date.now();
  page.on("request", () => (last = Date.now()));
  const quiet = async (): Promise<void> => {
    // The course has no state of its own that could settle.
    if (!at.startsWith("course")) await settled(page);
    last = Date.now();
    await expect.poll(() => Date.now() - last).toBeGreaterThan(800);
  };
  const asked = (url: URL): boolean => names.test(url.pathname.split("/").at(-1)!);
  await page.route(asked, (route) => WAYS[way](route as never));
  await page.goto(`${here.url}${at}`);
  return { page, give: () => page.unroute(asked), quiet };
}

/** Nothing is called a mistake, and the one notice says what is missing. */
async function told(page: Page, says: RegExp): Promise<void> {
  await expect.poll(() => page.locator(".notice.missing").allInnerTexts(), { message: String(says) }).toHaveLength(1);
  await expect.poll(() => text(page, ".notice.missing"), { message: String(says) }).toMatch(says);
  expect(await page.locator(".notice.missing").getAttribute("role")).toBe("alert");
  expect(await page.locator(".badge").count()).toBe(0);
  expect(await page.locator("textarea[aria-invalid=true], input[aria-invalid=true]").count()).toBe(0);
}

async function again(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Try again" }).click();
}

const NAMED = "#c=(B, T, 64).reshape(B*T, 64)";

test("names: without what reads them a chain with names is no mistake, and it is read when that comes", async () => {
  for (const way of ["offline", "gone", "another"] as const) {
    const { page, give } = await without(/^names\.wasm$/, NAMED, way);
    await told(page, /reads sizes that are names/);
    expect(await text(page, "#chain-fault")).toMatch(/sizes that are names.* could not be loaded/);
    expect(await text(page, ".spoken")).toContain("could not be loaded");
    // Once more in vain: it is said so, and nothing is lost.
    await again(page);
    await expect.poll(() => text(page, ".notice.missing")).toContain("Tried again once, in vain.");
    await give();
    await again(page);
    await expect.poll(() => page.locator("main").getAttribute("data-state")).toBe("current");
    await expect.poll(() => text(page, ".answer")).toContain("One view");
    await expect.poll(() => page.locator(".notice").count()).toBe(0);
    await leave(page);
  }
});

test("names: a mistake is still one, and what is right without names is still read", async () => {
  const { page } = await without(/^names\.wasm$/, "#(3, 2).permtue(1, 0)");
  await page.waitForSelector(".badge");
  expect(await text(page, "#chain-fault")).toContain("did you mean `permute`".replaceAll("`", ""));
  expect(await page.locator(".notice").count()).toBe(0);
  await leave(page);
});

test("names: the shape of an array needs them too, and devices have a part of their own", async () => {
  const { page, give } = await without(/^names\.wasm$/, "#c=x.transpose(1, 2)&base=B, T, 64");
  await told(page, /reads sizes that are names/);
  await give();
  await again(page);
  await expect.poll(() => page.evaluate(() => globalThis.explorer.layout.value?.shape.length)).toBe(3);
  await leave(page);
  const other = await without(/^devices\.wasm$/, "#c=(4, 6).permute(1, 0)&mesh=2 : S(0)");
  await told(other.page, /reads tensors on many devices/);
  expect(await text(other.page, "#devices-say")).toContain("could not be loaded");
  await other.give();
  await again(other.page);
  await expect.poll(() => text(other.page, "#devices-say")).toContain("2 devices.");
  await leave(other.page);
});

test("advice and code: their panes say what is missing, and fill when it comes", async () => {
  const { page, give, quiet } = await without(/^code\.wasm$/, "#(3, 2).permute(1, 0).reshape(3, 2)", "offline");
  await settled(page);
  await told(page, /advises, compares, and writes code/);
  await expect.poll(() => text(page, ".answer")).toContain("could not be loaded");
  await page.locator("#expression").scrollIntoViewIfNeeded();
  await expect.poll(() => text(page, "#expression")).toContain("could not be loaded");
  // Carried to another mode nothing is said of the layout that is not so.
  await page.getByRole("button", { name: "Expression", exact: true }).click();
  await expect.poll(() => page.locator(".notice").allInnerTexts()).toHaveLength(2);
  const carried = (await page.locator(".notice").allInnerTexts()).join();
  expect(carried).not.toContain("too long");
  await page.getByRole("button", { name: "Operations", exact: true }).click();
  await quiet();
  await give();
  await again(page);
  await expect.poll(() => text(page, ".answer")).toContain("Not one view");
  await expect.poll(() => text(page, "#expression")).toContain("index");
  await expect.poll(() => text(page, "#expression pre")).toContain("index =");
  await leave(page);
});

test("expressions over variables: the fields are no mistake, and the tensor comes when it can", async () => {
  const { page, give } = await without(/^free\.wasm$/, "#f=y_*_4_+_x&for=y:6,x:4");
  await told(page, /reads expressions over variables/);
  expect(await text(page, "#free")).toContain("could not be loaded");
  await give();
  await again(page);
  await expect.poll(() => page.evaluate(() => globalThis.explorer.layout.value?.shape)).toEqual([6, 4]);
  await leave(page);
});

test("bank conflicts: the page of threads and banks says so, and counts when it can", async () => {
  for (const way of ["offline", "gone", "another"] as const) {
    const { page, give } = await without(/^kernels\.wasm$/, "kernels.html", way);
    await told(page, /counts bank conflicts/);
    expect(await text(page, "#say")).toContain("could not be loaded");
    await give();
    await again(page);
    await expect.poll(() => text(page, "#say")).toContain("conflict");
    await expect.poll(() => page.locator(".notice").count()).toBe(0);
    await leave(page);
  }
});

/** What stands on the page when a script has come, and what is done to need it. */
const SCRIPTS: readonly [script: RegExp, at: string, says: RegExp, act: ((page: Page) => Promise<void>) | null, there: string][] = [
  [/^hand-/, "#view=2:6,3:2", /reads a(re)? ?.*view|fields of a view/, null, "#hand table"],
  [/^free-.*js$/, "#f=y_*_4_+_x&for=y:6,x:4", /fields of an expression/, null, "#free textarea"],
  [/^carry-/, "#(3,2)", /changes what the layout is made from/, (page) => page.getByRole("button", { name: "One view" }).click(), "#hand table"],
  [/^answer-/, "#(3,2)", /answers whether it is a view/, null, ".headline-answer"],
  [/^film-/, "#(3,2).permute(1,0).reshape(3,2)", /plays the copy/, (page) => page.getByRole("button", { name: "Play the copy" }).click(), ".film-says"],
  [/^flow-/, "#(3,2).permute(1,0)", /draws the steps/, null, "#flow .base"],
  [/^strip-/, "#(3,2)", /draws memory/, null, "#memory canvas"],
  [/^rest-/, "#(3,2).permute(1,0).reshape(3,2)", /tells of the element/, null, "#element"],
  [/^outputs-/, "#(3,2)", /exports/, null, ".menu"],
  [/^examples-.*js$/, "#(3,2)", /shows the examples/, (page) => page.locator(".examples-button").click(), "#examples"],
  [/^presets\.json$/, "#(3,2)", /has the examples/, null, ".examples-button"],
  [/^names-.*js$/, NAMED, /sliders of names/, null, ".names"],
  [/^devices-.*js$/, "#c=(4, 6)&mesh=2 : S(0)", /has the devices/, null, ".devices"],
  [/^complete-/, "#(3,2)", /completes names/, (page) => page.locator("#chain textarea").focus(), "#chain textarea"],
  [/^extras-/, "#(3,2)", /moves and marks cells/, null, "#grid canvas"],
  [/^nest-.*js$/, "#c=C[i, j] = A[j, i]; A = (5, 4); C = (4, 5)", /draws the loops of a kernel/, null, ".nest"],
  [/^embed-.*js$/, "?embed=tensor#(3,2)", /shows one pane/, null, ".embedded canvas"],
];

test("every script that comes later is told of when it does not, by what it does, and comes with a second try", { timeout: 300_000 }, async () => {
  for (const [script, at, says, act, there] of SCRIPTS) {
    expect(readdirSync(DIST).some((name) => script.test(name)), String(script)).toBe(true);
    const { page, give } = await without(script, at, script.source.length % 2 === 0 ? "gone" : "offline");
    await page.waitForFunction(() => globalThis.explorer !== undefined);
    await act?.(page);
    await told(page, says);
    await give();
    await again(page);
    await expect.poll(() => page.locator(".notice").count(), { message: String(script) }).toBe(0);
    // Where the page had to be loaded anew, what was pressed is pressed again.
    await page.waitForFunction(() => globalThis.explorer !== undefined);
    if ((await page.locator(there).count()) === 0) await act?.(page);
    await page.locator(there).first().waitFor({ timeout: 15_000 });
    await leave(page);
  }
});

test("every later script is one of those", () => {
  const html = ["index.html", "course.html", "kernels.html"];
  const named = (name: string): boolean => SCRIPTS.some(([script]) => script.test(name));
  // These are loaded with a page, are part of others, start the engine, or keep the page for when there is no network.
  const first = /^(index|course|kernels|core|worker|expression|minigrid|minimap|reel|scroll|statement|adopt|keep)-|^offline\.js$/;
  const others = readdirSync(DIST).filter((name) => name.endsWith(".js") && !named(name) && !first.test(name));
  expect(others).toEqual([]);
  expect(html.every((name) => readdirSync(DIST).includes(name))).toBe(true);
});

test("a worker that does not come is told of, and what was asked of it is answered when it comes", async () => {
  for (const way of ["offline", "gone"] as const) {
    const { page, give } = await without(/^worker-/, "#(3,2).permute(1,0)", way);
    await told(page, /runs the engine/);
    expect(await page.locator("canvas").count()).toBe(0);
    await give();
    await again(page);
    await settled(page);
    expect(await page.evaluate(() => globalThis.explorer.layout.value?.shape)).toEqual([2, 3]);
    await leave(page);
  }
});

test("the network is gone: one notice names all that is missing, and the page stays", async () => {
  const { page, quiet } = await without(/^none$/, "#(3,2).permute(1,0)");
  await settled(page);
  await page.locator(".headline-answer").waitFor();
  await page.context().setOffline(true);
  const area = page.locator("#chain textarea").first();
  await area.fill("(B, T, 64).reshape(B*T, 64)");
  await told(page, /reads sizes that are names/);
  expect(await text(page, ".notice.missing")).toContain("There is no network.");
  await page.getByRole("button", { name: "One view" }).click();
  await told(page, /Parts of the page could not be loaded: .*changes what/);
  // To try again where there is no network loses nothing.
  await again(page);
  await expect.poll(() => text(page, ".notice.missing")).toContain("in vain");
  expect(await area.inputValue()).toBe("(B, T, 64).reshape(B*T, 64)");
  await area.fill("(3, 2).flip(0)");
  await settled(page);
  expect(await page.evaluate(() => globalThis.explorer.layout.value?.chain?.views[0]?.strides)).toEqual([-2, 1]);
  await quiet();
  await page.context().setOffline(false);
  await again(page);
  await expect.poll(() => page.locator(".notice.missing").count()).toBe(0);
  await leave(page);
});

test("an exercise that cannot be judged is not called wrong", async () => {
  const { page, give, quiet } = await without(/^code\.wasm$/, "course.html#moves");
  const place = page.locator('[data-part="moves-exercise"]');
  await place.scrollIntoViewIfNeeded();
  await place.locator("canvas").first().waitFor();
  await told(page, /compares/);
  // Wherever one reads, the notice is in sight.
  expect(await page.locator(".notice.missing").evaluate((notice) => {
    const { top, bottom } = notice.getBoundingClientRect();
    return top >= 0 && bottom <= innerHeight;
  })).toBe(true);
  for (let k = 0; k < 3; k++) {
    await place.getByRole("button", { name: "Check" }).click();
    await expect.poll(() => place.locator(".judgement").innerText()).toMatch(/^This could not be judged: the part of the page/);
  }
  expect(await place.locator("form").getAttribute("data-right")).toBeNull();
  expect(await place.getByRole("button", { name: /^Show one way/ }).count()).toBe(0);
  await quiet();
  await give();
  await again(page);
  await expect.poll(() => page.locator(".notice").count()).toBe(0);
  await place.getByRole("button", { name: "Check" }).click();
  await expect.poll(() => place.locator(".judgement").innerText()).toMatch(/^Not yet\./);
  await leave(page);
});
