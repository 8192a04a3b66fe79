/** One server and one browser for a file of tests. */
import { afterAll, beforeAll } from "vitest";
import type { Browser } from "playwright-core";
import { launch } from "./browser";
import { serve, type Served } from "./server";

export interface Stage {
  browser: Browser;
  url: string;
}

export function stage(): Stage {
  const stage = {} as Stage;
  let served: Served;
  beforeAll(async () => {
    served = await serve();
    stage.url = served.url;
    stage.browser = await launch();
  });
  afterAll(async () => {
    await stage.browser?.close();
    served?.server.close();
  });
  return stage;
}
