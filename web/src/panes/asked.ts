/** What the answer is about: the whole chain as far as it is good, whichever tensor of it is shown. */
import { computed } from "@preact/signals-core";
import type { Source } from "shapetracker/engine";
import { current, layout, result } from "../layout";

export const asked = computed((): Source | null => (current.value ? (result.value?.source ?? layout.value!.source) : null));
