/** A worker that answers the page's requests one by one, so that the page itself never waits. */
import { Engine, type ModuleName, type Requests } from "shapetracker/engine";

/** A module of the engine, before the first request for it. */
export interface Begin {
  name: ModuleName;
  module: WebAssembly.Module;
}

/** A request with its number, and its answer with the same. */
export interface Ask {
  id: number;
  name: ModuleName;
  op: keyof Requests;
  request: unknown;
}

const engines = new Map<ModuleName, Engine>();

addEventListener("message", ({ data }: MessageEvent<Begin | Ask>) => {
  if ("module" in data) {
    engines.set(data.name, new Engine(data.module));
    return;
  }
  postMessage({ id: data.id, answer: engines.get(data.name)?.call(data.op, data.request as never) });
});

// The page learns that the script has come.
postMessage({ id: 0 });
