/** Parts of the page that the first picture does not need: their code is fetched when the page has been drawn. */
import { h, type ComponentType } from "preact";
import { signal } from "@preact/signals-core";
import { live } from "./live";

/** Whether the first picture is there, or none will come: what is beside it takes nothing from it. */
export const pictured = signal(false);

/**
 * A component whose module is fetched with its first use, or when the first picture is there; until then there is what
 * `meanwhile` draws.
 */
export function later<Props extends object = object>(
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
      // What cannot be fetched is asked for again with the next use.
      fetch().then(
        (part) => (there.value = part),
        () => (asked = false),
      );
    }
    return meanwhile();
  });
}
