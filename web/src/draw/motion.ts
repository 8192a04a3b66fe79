/** Cells on their way from where they were to where they are. */

/** A cell as it is drawn while it moves. */
interface Cell {
  x: number;
  y: number;
  wide: number;
  tall: number;
  fill: string;
  ink: string;
  text: string;
}

/** Where the elements that read an address are drawn. */
export type Places = Map<string, Cell[]>;

/** Slow, fast, slow. */
function ease(part: number): number {
  return part < 0.5 ? 4 * part ** 3 : 1 - (2 - 2 * part) ** 3 / 2;
}

/** Draws the cells after a part of their way, and says where that is. What was nowhere appears. */
export function glide(
  pen: CanvasRenderingContext2D,
  before: Places,
  now: Places,
  part: number,
  font: string | null,
): Places {
  const share = ease(part);
  const way = (from: number, to: number): number => from + (to - from) * share;
  const at: Places = new Map();
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  if (font !== null) pen.font = font;
  for (const [address, cells] of now) {
    const old = before.get(address);
    const there = cells.map((cell, place): Cell => {
      const from = old?.[Math.min(place, old.length - 1)];
      if (from === undefined) return cell;
      const [x, y] = [way(from.x, cell.x), way(from.y, cell.y)];
      return { ...cell, x, y, wide: way(from.wide, cell.wide), tall: way(from.tall, cell.tall) };
    });
    at.set(address, there);
    pen.globalAlpha = old === undefined ? share : 1;
    for (const { x, y, wide, tall, fill, ink, text } of there) {
      pen.fillStyle = fill;
      pen.fillRect(x + 1, y + 1, wide - 2, tall - 2);
      if (font === null) continue;
      pen.fillStyle = ink;
      pen.fillText(text, x + wide / 2, y + tall / 2 + 0.5);
    }
  }
  pen.globalAlpha = 1;
  return at;
}
