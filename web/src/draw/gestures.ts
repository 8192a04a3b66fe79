/** Pointers, wheel and pinch on a canvas, as pans, zooms, clicks and hovers. */

export interface Gestures {
  pan(dx: number, dy: number): void;
  zoom(factor: number, x: number, y: number): void;
  hover(x: number, y: number): void;
  leave(): void;
  click(x: number, y: number): void;
  /** Whether the wheel zooms although no key is held, because the canvas is at work. */
  engaged(): boolean;
  /** Whether dragging moves anything. */
  movable(): boolean;
}

/** A pointer that moves less than this has clicked. */
const STILL = 4;

export function listen(canvas: HTMLElement, gestures: Gestures): () => void {
  const pointers = new Map<number, { x: number; y: number }>();
  let travelled = 0;
  const at = (event: MouseEvent): { x: number; y: number } => {
    const box = canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  const down = (event: PointerEvent): void => {
    if (event.button !== 0) return;
    pointers.set(event.pointerId, at(event));
    travelled = 0;
    canvas.setPointerCapture(event.pointerId);
  };
  const move = (event: PointerEvent): void => {
    const now = at(event);
    const before = pointers.get(event.pointerId);
    if (before === undefined) {
      if (event.pointerType !== "touch") gestures.hover(now.x, now.y);
      return;
    }
    const other = [...pointers].find(([id]) => id !== event.pointerId)?.[1];
    pointers.set(event.pointerId, now);
    travelled += Math.hypot(now.x - before.x, now.y - before.y);
    if (other !== undefined) {
      const distance = (point: { x: number; y: number }): number => Math.hypot(point.x - other.x, point.y - other.y);
      gestures.zoom(
        Math.max(distance(now), 1) / Math.max(distance(before), 1),
        (now.x + other.x) / 2,
        (now.y + other.y) / 2,
      );
      gestures.pan((now.x - before.x) / 2, (now.y - before.y) / 2);
    } else if (gestures.movable() && travelled > STILL) {
      gestures.pan(now.x - before.x, now.y - before.y);
    } else {
      gestures.hover(now.x, now.y);
    }
  };
  const up = (event: PointerEvent): void => {
    const known = pointers.delete(event.pointerId);
    const { x, y } = at(event);
    if (known && event.type === "pointerup" && travelled <= STILL && pointers.size === 0) gestures.click(x, y);
    if (event.pointerType === "touch") gestures.leave();
  };
  const leave = (): void => gestures.leave();
  const wheel = (event: WheelEvent): void => {
    if (!event.ctrlKey && !event.metaKey && !gestures.engaged()) return;
    event.preventDefault();
    const { x, y } = at(event);
    if (event.shiftKey) gestures.pan(-(event.deltaX || event.deltaY), 0);
    else gestures.zoom(Math.exp(-Math.min(Math.max(event.deltaY, -120), 120) * 0.004), x, y);
  };
  // Two fingers zoom, also where one scrolls the page.
  const touch = (event: TouchEvent): void => {
    if (event.touches.length > 1) event.preventDefault();
  };
  const end = new AbortController();
  const { signal } = end;
  canvas.addEventListener("touchstart", touch, { passive: false, signal });
  canvas.addEventListener("pointerdown", down, { signal });
  canvas.addEventListener("pointermove", move, { signal });
  canvas.addEventListener("pointerup", up, { signal });
  canvas.addEventListener("pointercancel", up, { signal });
  canvas.addEventListener("pointerleave", leave, { signal });
  canvas.addEventListener("wheel", wheel, { passive: false, signal });
  return () => end.abort();
}
