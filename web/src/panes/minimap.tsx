/** Where in the tensor the picture is: the whole of it, small, with a frame around what is seen. */
import { h } from "preact";
import type { GridView } from "../draw/grid";
import { gridCanvas, gridView, look } from "./grid";
import { live } from "./live";
import { Figure } from "./minigrid";

const [WIDE, TALL] = [168, 120];

function view(): GridView | null {
  const [now, grid] = [gridView.value, gridCanvas.now];
  if (now === null || grid === null) return null;
  const none = { focus: null, readers: [], arrows: [], crossed: [] };
  return { ...now, ...none, camera: null, moving: false, bare: true, label: "valid", window: grid.seen(now) };
}

export const Minimap = live(() => {
  const now = gridView.value;
  if (now === null) return null;
  const { row, column } = now.scene.plan;
  const scale = Math.min(WIDE / Math.max(column.extent, 1), TALL / Math.max(row.extent, 1));
  const size = (extent: number): number => Math.round(Math.max(extent * scale, 28)) + 14;
  return (
    // Over a picture that is hardly taller than the overview there would be nothing left of it.
    <div class={(gridCanvas.now?.height ?? 0) > 220 ? "minimap" : "minimap below"}>
      <Figure
        view={view}
        width={size(column.extent)}
        height={size(row.extent)}
        name={undefined}
        placed={undefined}
        onPick={(_, column, row) => look(column, row)}
        onPoint={undefined}
      />
    </div>
  );
});
