import { defineConfig } from "vitest/config";

// The page works under any path of any static host, so nothing in it may name where it lies.
export default defineConfig({
  base: "./",
  build: {
    target: "es2022",
    assetsDir: ".",
    modulePreload: { polyfill: false },
    reportCompressedSize: true,
  },
  // Calls of `h` are shorter than those of the newer transform.
  oxc: { jsx: { runtime: "classic", pragma: "h", pragmaFrag: "Fragment" } },
  test: {
    include: ["tests/**/*.test.ts"],
    fileParallelism: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
