/** One server and one browser for a file of tests. */
import { afterAll, beforeAll } from "vitest";
import type { Browser } from "playwright-core";
import { launch, open, type Watched } from "./browser";
import { serve, type Served } from "./server";

export interface Stage {
  browser: Browser;
  url: string;
  /** A page that stays open from test to test, for those that go where they want to be. */
  shared(): Promise<Watched>;
}

export function stage(): Stage {
  let watched: Promise<Watched> | null = null;
  const shared = (): Promise<Watched> => (watched ??= open(stage.browser, stage.url));
  const stage = { shared } as Stage;
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
