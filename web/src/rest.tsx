/** The panes that the first picture does not need: one file to fetch. */
import { Fragment, h } from "preact";
import { ComparePane, followComparison } from "./panes/compare";
import { ElementPane } from "./panes/element";
import { ExpressionPane, followCode } from "./panes/expression";
import { live } from "./panes/live";
import { ViewsPane } from "./panes/views";
import { followWitness, WitnessPane } from "./panes/witness";

followCode();
followWitness();
followComparison();

export const Rest = live(() => (
  <>
    <ElementPane />
    <WitnessPane />
    <ViewsPane />
  </>
));

export { ElementPane, ViewsPane, WitnessPane };

export const Expression = ExpressionPane;

export const Compare = ComparePane;
