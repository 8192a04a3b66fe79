import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

/**
 * What is said of the page to those who only read it. Where it will lie, as `PAGE_URL=https://host/path/ npm run build`
 * says, stands before the name of the preview image: some readers follow no relative address. Without it the image is
 * beside the page. And where the page is opened from a folder, its style sheet is one of another origin.
 */
const heads: Plugin = {
  name: "heads",
  transformIndexHtml: {
    order: "post",
    handler(html) {
      const at = process.env["PAGE_URL"] ?? "";
      return html
        .replace(/(property="og:image" content=")\.\//, at === "" ? "$1./" : `$1${new URL(".", at).href}`)
        .replace(/(<link rel="stylesheet") crossorigin/g, "$1");
    },
  },
};

/** What all pages begin with. */
const CORE = new RegExp(
  [
    String.raw`node_modules\/`,
    String.raw`npm\/dist\/engine\.js`,
    String.raw`src\/(ask|copying|faults|focus|fragment|lane|layout|numbers|page|parts|presets|typing)\.ts`,
    String.raw`src\/draw\/(grid|sheet|theme|tiles)\.ts`,
    String.raw`src\/panes\/(controls|copybutton|live|missing|mistake|pane|prose|scrub)\.tsx`,
  ].join("|"),
);

/**
 * Tells the service worker the files of this edition, each with a digest: all that the build made, and the modules of the engine. What
 * other sites show of a link to the page is none of it.
 */
const offline: Plugin = {
  name: "offline",
  generateBundle: {
    order: "post",
    handler(_, bundle) {
      const digest = (content: string | Uint8Array): string => createHash("sha256").update(content).digest("hex").slice(0, 16);
      const made = Object.values(bundle).map((file): [string, string | Uint8Array] => [
        file.fileName,
        file.type === "chunk" ? file.code : file.source,
      ]);
      const given = readdirSync("public").map((name): [string, Uint8Array] => [name, readFileSync(`public/${name}`)]);
      const files = [...made, ...given].filter(([name]) => name !== OFFLINE && name !== "preview.png");
      const worker = bundle[OFFLINE];
      if (worker?.type !== "chunk") throw new Error(`There is no ${OFFLINE}.`);
      worker.code = `const FILES=${JSON.stringify(Object.fromEntries(files.map(([name, content]) => [name, digest(content)])))};${worker.code}`;
    },
  },
};

/** The file of the service worker, which lies beside the pages that it keeps. */
const OFFLINE = "offline.js";

/** Later imports bring no style sheets and need no list of what to fetch: the helper for these is left out. */
const imports: Plugin = {
  name: "imports",
  transform(_, id) {
    return id.includes("vite/preload-helper") ? "export const __vitePreload = (load) => load();" : null;
  },
};

// The page works under any path of any static host, so nothing in it may name where it lies.
export default defineConfig({
  base: "./",
  // The package of the engine is a folder beside this one.
  server: { fs: { allow: [".."] } },
  plugins: [heads, imports, offline],
  build: {
    target: "es2022",
    rolldownOptions: {
      input: { index: "index.html", course: "course.html", kernels: "kernels.html", offline: "src/offline/worker.ts" },
      // What all pages begin with is one file: many small ones take longer to come.
      output: {
        entryFileNames: ({ name }) => (name === "offline" ? OFFLINE : "[name]-[hash].js"),
        codeSplitting: { groups: [{ name: "core", test: CORE }] },
      },
    },
    assetsDir: ".",
    modulePreload: {
      polyfill: false,
      resolveDependencies: (_, names, { hostType }) => (hostType === "html" ? names : []),
    },
    reportCompressedSize: true,
  },
  // Calls of `h` are shorter than those of the newer transform.
  oxc: { jsx: { runtime: "classic", pragma: "h", pragmaFrag: "Fragment" } },
  test: {
    include: ["tests/**/*.test.ts"],
    fileParallelism: false,
    // One process for all files, and in it one browser, whose pages are visited again and again (tests/browser.ts).
    isolate: false,
    testTimeout: 60_000,
    expect: { poll: { timeout: 10_000 } },
    hookTimeout: 60_000,
  },
});
