/** The panes that the first picture does not need: one file to fetch. */
import { Fragment, h } from "preact";
import { ComparePane, followComparison } from "./panes/compare";
import { ElementPane } from "./panes/element";
import { ExpressionPane, followCode } from "./panes/expression";
import { nest } from "./statement";
import { later as afterwards } from "./panes/later";
import { live } from "./panes/live";
import { ViewsPane } from "./panes/views";
import { followWitness, WitnessPane } from "./panes/witness";
import { values, written } from "./written";

followCode();

/** What these panes are made of, beside what `main.tsx` lays open. */
export const later = { written, values };
Object.assign((globalThis as { explorer?: object }).explorer ?? {}, later);
followWitness();
followComparison();
// Without what keeps the page nothing is missed but that.
void import("./offline/keep").then(({ keepForOffline }) => keepForOffline()).catch(() => undefined);

/** Of a statement over several tensors there is another picture. */
const NestPane = afterwards("draws the loops of a kernel", async () => (await import("./panes/nest")).NestPane);

export const Rest = live(() =>
  nest.value !== null ? (
    <NestPane />
  ) : (
    <>
      <ElementPane />
      <WitnessPane />
      <ViewsPane />
    </>
  ),
);

export { ElementPane, ViewsPane, WitnessPane };

export const Expression = ExpressionPane;

export const Compare = ComparePane;
