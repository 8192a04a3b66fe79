/** A worker that answers the page's requests one by one, so that the page itself never waits. */
import { Engine, type Requests } from "./engine";

/** The first message: the bytes of the engine. */
export interface Begin {
  engine: ArrayBuffer;
}

/** A request with its number, and its answer with the same. */
export interface Ask {
  id: number;
  op: keyof Requests;
  request: unknown;
}

let engine: Promise<Engine> | null = null;

addEventListener("message", (event: MessageEvent<Begin | Ask>) => {
  const message = event.data;
  if ("engine" in message) {
    engine = Engine.load(message.engine);
    return;
  }
  engine?.then(
    (ready) => postMessage({ id: message.id, answer: ready.call(message.op, message.request as never) }),
    (error: unknown) => {
      const fault = { kind: "trap", message: `the engine cannot be started here: ${String(error)}` };
      postMessage({
        id: message.id,
        answer: { ok: false, fault: { ...fault, field: null, span: null, step: null } },
      });
    },
  );
});
