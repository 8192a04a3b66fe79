/** The npm package as others use it: what it answers in Node.js, and in a page without a bundler. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { ask, EngineError, load } from "shapetracker";
import { leave, visit } from "./browser";
import { samples } from "./protocol";
import { NPM, serve } from "./server";
import { stage } from "./setup";

const here = stage();

test("each question fetches the module that answers it", async () => {
  for (const sample of samples) {
    const answer = ask(sample.op, sample.request as never);
    if ("fault" in sample) {
      const error: unknown = await answer.catch((error: unknown) => error);
      expect(error).toBeInstanceOf(EngineError);
      const { kind, message } = sample.fault;
      expect(error).toMatchObject({ kind, message, op: sample.op, fault: sample.fault });
    } else {
      expect(await answer, JSON.stringify(sample.request)).toEqual(sample.answer);
    }
  }
});

test("a module is started once", async () => {
  expect(await load()).toBe(await load("shapetracker"));
  expect(load("names")).toBe(load("names"));
});

test("what makes no sense is told, also to callers without types", async () => {
  const asked = ask as (op: unknown, request?: unknown) => Promise<unknown>;
  const wrong: [unknown, unknown, string][] = [
    ["chian", { text: "(3, 2)" }, "there is no request `chian` here"],
    ["chain", undefined, "`text` is a text"],
    ["chain", null, "`text` is a text"],
    ["chain", { text: 3 }, "`text` is a text"],
    ["trace", { source: "(3, 2)", index: [0, 0] }, "`source` is an object"],
    ["advice", {}, "`source` is an object"],
  ];
  for (const [op, request, message] of wrong) {
    await expect(asked(op, request)).rejects.toMatchObject({ name: "EngineError", kind: "request", message });
  }
});

test("a page without a bundler imports it, and fetches one module", async () => {
  const readme = readFileSync(`${NPM}README.md`, "utf8");
  const body = /```html\n([^]*?)```/.exec(readme)![1]!;
  const { url, server } = await serve("/any/node_modules/shapetracker/", false, NPM);
  const { page, complaints } = await visit(here.browser, "about:blank");
  const plain = new URL("../../plain.html", url).href;
  const asked: string[] = [];
  page.on("request", (request) => asked.push(new URL(request.url()).pathname.split("/").at(-1)!));
  await page.route(plain, (route) => route.fulfill({ contentType: "text/html", body }));
  await page.goto(plain);
  await expect.poll(() => page.locator("#answer").innerText()).toBe("(2, 3):(1, 2) over (3, 2):(2, 1)");
  expect(asked).toEqual(["plain.html", "index.js", "engine.js", "shapetracker.wasm"]);

  const [sentence, wrong] = await page.evaluate<string[]>(`(async () => {
    const { ask } = await import("./node_modules/shapetracker/dist/index.js");
    const text = "x.transpose(1, 2).view(8, 15)";
    const { sentence } = await ask("advice", { source: { chain: text, base: [8, 3, 5] } });
    const wrong = await ask("trace", { source: { chain: "(3, 2).flip(2)" }, index: [0, 0] }).catch(String);
    return [sentence, wrong];
  })()`);
  expect(sentence).toBe("Not one view: `.view(8, 15)` needs a second one.");
  expect(wrong).toContain("EngineError: ");
  expect(asked.slice(4)).toEqual(["code.wasm"]);
  expect(complaints).toEqual([]);
  await leave(page);
  server.close();
});

test("a module that does not come is an error, and the next question fetches it again", async () => {
  const { url, server } = await serve("/any/", false, NPM);
  const { page } = await visit(here.browser, "about:blank");
  const plain = new URL("plain.html", url).href;
  await page.route(plain, (route) => route.fulfill({ contentType: "text/html", body: "" }));
  await page.route("**/names.wasm", (route) => route.fulfill({ status: 503 }), { times: 1 });
  await page.goto(plain);
  const [first, second] = await page.evaluate<string[]>(`(async () => {
    const { ask } = await import("./dist/index.js");
    const question = () => ask("names", { text: "(H, T).permute(1, 0)", where: "" }).then(({ kind }) => kind, String);
    return [await question(), await question()];
  })()`);
  expect(first).toBe(
    `Error: the module names of the engine cannot be had from ${url}dist/names.wasm: Error: the server answers 503 Service Unavailable`,
  );
  expect(second).toBe("all");
  await leave(page);
  server.close();
});
