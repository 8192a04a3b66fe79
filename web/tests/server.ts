/** A static server under a path of its own, with the security policy as a header. */
import { createReadStream, existsSync, readFileSync, statSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

/** The npm package. */
export const NPM = fileURLToPath(new URL("../../npm/", import.meta.url));
export const DIST = fileURLToPath(new URL("../dist/", import.meta.url));
const TYPES: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
  ".wasm": "application/wasm",
  ".json": "application/json",
  ".png": "image/png",
};
const POLICY =
  "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'";

export interface Served {
  url: string;
  server: Server;
}

/** Serves the built page, or another folder, on a free port of this machine; with `gzip` compressed, as static hosts do it. */
export function serve(path = "/any/path/", gzip = false, folder = DIST): Promise<Served> {
  const zipped = new Map<string, Buffer>();
  const server = createServer((request, response) => {
    const asked = new URL(request.url ?? "/", "http://localhost").pathname;
    const name = asked === path ? "index.html" : asked.slice(path.length);
    const file = join(folder, normalize(name));
    if (!asked.startsWith(path) || !file.startsWith(folder) || !existsSync(file) || !statSync(file).isFile()) {
      response.writeHead(404).end();
      return;
    }
    const headers = {
      "content-type": TYPES[extname(file)] ?? "application/octet-stream",
      "content-security-policy": POLICY,
      // What has come need not come again: visits of tests are many.
      ...(extname(file) !== ".html" && { "cache-control": "max-age=3600" }),
    };
    if (gzip && extname(file) !== ".png") {
      const content = zipped.get(file) ?? gzipSync(readFileSync(file));
      zipped.set(file, content);
      response.writeHead(200, { ...headers, "content-encoding": "gzip", "content-length": content.length });
      response.end(content);
      return;
    }
    response.writeHead(200, headers);
    createReadStream(file).pipe(response);
  });
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      resolve({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`, server });
    });
  });
}
