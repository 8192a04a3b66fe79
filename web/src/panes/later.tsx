/** Parts of the page that the first picture does not need: their code is fetched when the page has been drawn. */
import { h, type ComponentType } from "preact";
import { signal } from "@preact/signals-core";
import { live } from "./live";

/** A component whose module is fetched with its first use; until then there is what `meanwhile` draws. */
export function later<Props extends object = object>(
  fetch: () => Promise<ComponentType<Props>>,
  meanwhile: () => preact.ComponentChildren = () => null,
) {
  const there = signal<ComponentType<Props> | null>(null);
  let asked = false;
  return live((props: Props) => {
    const Part = there.value;
    if (Part !== null) return <Part {...props} />;
    if (!asked) {
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
