/** Asks a service worker to keep the page for when there is no network: first what this visit fetches, and on later visits all of it. */
import type { Keep } from "./worker";

/** What this machine serves itself needs no copy, and another page may be served from the same address tomorrow. */
const OWN = ["localhost", "127.0.0.1", "[::1]"];

export async function keepForOffline(): Promise<void> {
  const workers = navigator.serviceWorker as ServiceWorkerContainer | undefined;
  // A frame of another page is not a visit; and a page that is opened from a folder has no workers.
  if (workers === undefined || window !== window.top || OWN.includes(location.hostname)) return;
  const isFirst = workers.controller === null;
  try {
    await workers.register("./offline.js");
    const { active } = await workers.ready;
    const ask = (what: Keep): void => active?.postMessage(what);
    const names = (entries: PerformanceEntryList): string[] => entries.map(({ name }) => name);
    ask([location.href]);
    // The scripts of workers are no entries of the page in every browser.
    new PerformanceObserver((list) => ask(names(list.getEntries()))).observe({ type: "resource", buffered: true });
    if (!isFirst && (navigator as { connection?: { saveData?: boolean } }).connection?.saveData !== true) ask("all");
  } catch {
    // Without a worker the page needs the network: what does not come is told where it is missed.
  }
}
