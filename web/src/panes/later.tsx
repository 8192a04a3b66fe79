/** Parts of the page that the first picture does not need: their code is fetched when the page has been drawn. */
import { h, type ComponentType } from "preact";
import { signal } from "@preact/signals-core";
import { part } from "../parts";
import { live } from "./live";

/** Whether the first picture is there, or none will come: what is beside it takes nothing from it. */
export const pictured = signal(false);

/**
 * A component whose module is fetched with its first use, or when the first picture is there; until then there is what
 * `meanwhile` draws. What it does, after "the part of the page that", is for when it does not come.
 */
export function later<Props extends object = object>(
  does: string,
  fetch: () => Promise<ComponentType<Props>>,
  meanwhile: () => preact.ComponentChildren = () => null,
  afterPicture = false,
) {
  const there = signal<ComponentType<Props> | null>(null);
  let asked = false;
  return live((props: Props) => {
    const Part = there.value;
    if (Part !== null) return <Part {...props} />;
    if (!asked && (!afterPicture || pictured.value)) {
      asked = true;
      void part(does, fetch, (part) => (there.value = part));
    }
    return meanwhile();
  });
}
