/** One server and one browser for all tests of a process. */
import { afterAll, beforeAll } from "vitest";
import type { Browser } from "playwright-core";
import { launch, leaveAll, open, type Watched } from "./browser";
import { serve, type Served } from "./server";

export interface Stage {
  browser: Browser;
  url: string;
  /** A page that stays open from test to test, for those that go where they want to be. */
  shared(): Promise<Watched>;
}

let served: Promise<Served> | undefined;

export function stage(): Stage {
  let watched: Promise<Watched> | null = null;
  const shared = (): Promise<Watched> => (watched ??= open(stage.browser, stage.url));
  const stage = { shared } as Stage;
  beforeAll(async () => {
    stage.url = (await (served ??= serve())).url;
    stage.browser = await launch();
  });
  afterAll(leaveAll);
  return stage;
}
