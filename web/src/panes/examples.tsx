/** The examples as small pictures: each shows one thing, and says in a sentence what to look at. */
import { h } from "preact";
import { signal } from "@preact/signals-core";
import { ask } from "../ask";
import type { Integer } from "shapetracker/engine";
import { NESTS, open } from "../statement";
import { AFRESH, chain, change } from "../page";
import { presets, type Preset } from "../presets";
import { live } from "./live";
import { MiniGrid } from "./minigrid";

/** What is needed to draw an example: its shape and the addresses that it reads. */
interface Drawn {
  shape: Integer[];
  addresses: [Integer, Integer] | null;
}

const drawn = signal<ReadonlyMap<string, Drawn>>(new Map());
let asked = false;

async function fetchDrawn(): Promise<void> {
  if (asked) return;
  asked = true;
  for (const preset of presets.value) {
    const said = await ask("chain", { text: preset.chain });
    if (said?.ok !== true || said.value.result === null) continue;
    const { shape, address_range: addresses } = said.value.result;
    drawn.value = new Map(drawn.value).set(preset.chain, { shape, addresses });
  }
}

function take(preset: Preset): void {
  change({ chain: preset.chain, muted: [], ...AFRESH, at: preset.at, step: null }, true);
}

export const Examples = live(({ close }: { close(): void }) => {
  void fetchDrawn();
  return (
    <ul
      class="examples"
      id="examples"
      aria-label="Examples"
      onKeyDown={(event) => event.key === "Escape" && close()}
      ref={(list) => list?.querySelector("button")?.focus({ preventScroll: true })}
    >
      {presets.value.map((preset) => {
        const known = drawn.value.get(preset.chain);
        return (
          <li>
            <button
              type="button"
              class="example"
              aria-pressed={chain.value === preset.chain}
              onClick={() => {
                take(preset);
                close();
              }}
            >
              <span class="thumbnail">
                {known !== undefined && (
                  <MiniGrid
                    source={{ chain: preset.chain }}
                    shape={known.shape}
                    addresses={known.addresses}
                    width={132}
                    height={84}
                  />
                )}
              </span>
              <span class="example-words">
                <b>{preset.name}</b>
                <span>{preset.text}</span>
              </span>
            </button>
          </li>
        );
      })}
      <li>
        <button
          type="button"
          class="example"
          onClick={() => {
            open(NESTS[0]!);
            close();
          }}
        >
          <span class="example-words">
            <b>A kernel over several tensors?</b>
            <span>A matrix product, a convolution, split loops: what one step touches, and which steps touch an element.</span>
          </span>
        </button>
      </li>
      <li>
        <a class="example" href="./kernels.html">
          <span class="example-words">
            <b>A layout of a GPU kernel?</b>
            <span>Its threads and banks by colour, the conflicts of all warps, and the swizzle without them.</span>
          </span>
        </a>
      </li>
      <li>
        <a class="example" href="./course.html">
          <span class="example-words">
            <b>New to this?</b>
            <span>Five short lessons with live pictures: strides, permute and expand, masks, two views, expressions.</span>
          </span>
        </a>
      </li>
    </ul>
  );
});
