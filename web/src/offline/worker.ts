/**
 * Keeps the page for when there is no network. What a first visit fetched is kept, and the next one fetches the rest while nothing else
 * is fetched (`keep.ts` asks for both), so that nobody who looks once pays for parts that they do not use. Each file is kept under its
 * name and a digest of what the build made of it: files of another edition are never mixed with this one's.
 *
 * The page itself is asked of the network first: whoever has one gets the newest edition.
 */
interface Lasting extends Event {
  waitUntil(until: Promise<unknown>): void;
}
interface Fetching extends Lasting {
  readonly request: Request;
  respondWith(response: Promise<Response>): void;
}
interface Scope {
  readonly registration: { readonly scope: string };
  readonly clients: { claim(): Promise<void> };
  skipWaiting(): Promise<void>;
  addEventListener(type: "install" | "activate", listener: (event: Lasting) => void): void;
  addEventListener(type: "fetch", listener: (event: Fetching) => void): void;
  addEventListener(type: "message", listener: (event: Lasting & { data: Keep }) => void): void;
}

/** What the page asks for: files by their addresses, or all that there are. */
export type Keep = readonly string[] | "all";

/** The files of this edition, each with its digest; the build puts them here. */
declare const FILES: Readonly<Record<string, string>>;

const here = self as unknown as Scope;
const base = here.registration.scope;
const store = caches.open(`explorer ${base}`);
/** Whether the page that the network gave last is of this edition: else the network has all that belongs to it. */
let same: Promise<boolean> = Promise.resolve(true);

/** The name of a file of the page; null for whatever else is asked for. */
function nameOf(address: string): string | null {
  const { origin, pathname } = new URL(address);
  const path = `${origin}${pathname}`;
  if (!path.startsWith(base)) return null;
  const name = path.slice(base.length) || "index.html";
  return Object.hasOwn(FILES, name) ? name : null;
}

const keyOf = (name: string): string => `${base}${name}?${FILES[name]}`;

async function isOfEdition(name: string, response: Response): Promise<boolean> {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", await response.arrayBuffer()));
  const hex = [...digest.subarray(0, 8)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex === FILES[name];
}

/** Keeps a file if it is what the build made; whether it is. */
async function keep(name: string, response: Response): Promise<boolean> {
  const copy = response.clone();
  if (!response.ok || !(await isOfEdition(name, response))) return false;
  await (await store).put(keyOf(name), copy);
  return true;
}

const kept = async (name: string): Promise<Response | undefined> => (await store).match(keyOf(name));

/** A page: the newest one, or the one that is kept. */
async function page(event: Fetching, name: string): Promise<Response> {
  try {
    const response = await fetch(event.request);
    same = keep(name, response.clone()).catch(() => false);
    event.waitUntil(same);
    return response;
  } catch (error) {
    const response = await kept(name);
    if (response === undefined) throw error;
    same = Promise.resolve(true);
    return response;
  }
}

async function file(event: Fetching, name: string): Promise<Response> {
  const found = (await same) ? await kept(name) : undefined;
  if (found !== undefined) return found;
  const response = await fetch(event.request);
  event.waitUntil(keep(name, response.clone()).catch(() => false));
  return response;
}

/** Fetches what is not kept, one after the other. */
async function keepAll(names: Iterable<string>): Promise<void> {
  for (const name of names) {
    if ((await kept(name)) !== undefined) continue;
    try {
      await keep(name, await fetch(`${base}${name}`));
    } catch {
      // Without a network the next visit asks again.
      return;
    }
  }
}

here.addEventListener("install", (event) => event.waitUntil(here.skipWaiting()));

here.addEventListener("activate", (event) => {
  const forget = async (): Promise<void> => {
    const known = new Set(Object.keys(FILES).map(keyOf));
    for (const { url } of await (await store).keys()) if (!known.has(url)) await (await store).delete(url);
    await here.clients.claim();
  };
  event.waitUntil(forget());
});

here.addEventListener("fetch", (event) => {
  const { method, mode, url } = event.request;
  const name = method === "GET" ? nameOf(url) : null;
  if (name === null) return;
  event.respondWith(mode === "navigate" ? page(event, name) : file(event, name));
});

here.addEventListener("message", (event) => {
  const asked = event.data === "all" ? Object.keys(FILES) : event.data.map(nameOf).filter((name) => name !== null);
  event.waitUntil(keepAll(asked));
});
