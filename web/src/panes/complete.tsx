/** Completion: the operations that a word after a dot may become, and the signature of the one whose brackets are open. */
import { h, type ComponentType } from "preact";
import { computed, signal, type ReadonlySignal } from "@preact/signals-core";
import { ask } from "../ask";
import type { OperationHelp } from "shapetracker/engine";
import { AFRESH, chain, change } from "../page";
import { pasted, typed } from "../typing";
import { live } from "./live";

/** What the text needs of it. */
export interface Completion {
  /** The operation whose brackets the caret stands in. */
  hint: ReadonlySignal<OperationHelp | null>;
  /** The name of the list where it is open, and that of its option. */
  list: ReadonlySignal<string | undefined>;
  option: ReadonlySignal<string | undefined>;
  /** Whether a key meant something to the list. */
  pressed(event: KeyboardEvent): boolean;
  /** The caret has moved; null where there is none. */
  moved(at: number | null): void;
  List: ComponentType;
}

const operations = signal<readonly OperationHelp[]>([]);
let asked = false;

function fetchOperations(): void {
  if (asked) return;
  asked = true;
  void ask("operations", {}).then((said) => {
    if (said?.ok === true) operations.value = said.value.operations;
    else asked = false;
  });
}

const caret = signal<number | null>(null);
/** The text for which the list was closed. */
const closed = signal<string | null>(null);
const chosen = signal(0);

/** The word that is being written after a dot, and where it begins. */
const word = computed(() => {
  const at = caret.value;
  if (at === null) return null;
  const text = chain.value;
  // A dot within a number begins no operation, and a word that goes on after the caret is not being written.
  const found = /[\w)\]"']\s*\.([A-Za-z_]\w*)?$/.exec(text.slice(0, at));
  if (found === null || /^[\w(]/.test(text.slice(at)) || /(^|[^\w.)\]])\d+\.$/.test(text.slice(0, at))) return null;
  return { text: found[1] ?? "", begin: at - (found[1]?.length ?? 0) };
});

const options = computed((): readonly OperationHelp[] => {
  const begun = word.value;
  // What came as a whole is not being written.
  if (begun === null || closed.value === chain.value || pasted.value === chain.value) return [];
  const small = begun.text.toLowerCase();
  const found = operations.value.filter(({ name }) => name.toLowerCase().startsWith(small));
  // Our own names first, as they say everything; the order is otherwise that of the library.
  return [...found.filter(({ library }) => library === null), ...found.filter(({ library }) => library !== null)];
});

const LIST = "operations";
const list = computed(() => (options.value.length > 0 ? LIST : undefined));
const at = computed(() => Math.min(chosen.value, options.value.length - 1));
const option = computed(() => (options.value.length > 0 ? `${LIST}-${at.value}` : undefined));

const hint = computed((): OperationHelp | null => {
  const place = caret.value;
  if (place === null || options.value.length > 0) return null;
  let depth = 0;
  for (let each = place - 1; each >= 0; each--) {
    const letter = chain.value[each];
    if (letter === ")" || letter === "]") depth++;
    if (letter !== "(" && letter !== "[") continue;
    if (depth-- > 0) continue;
    depth = 0;
    const name = /\.([A-Za-z_]\w*)\s*$/.exec(chain.value.slice(0, each))?.[1];
    const found = operations.value.find((operation) => operation.name === name);
    if (found !== undefined) return found;
  }
  return null;
});

function area(): HTMLTextAreaElement | null {
  return document.querySelector<HTMLTextAreaElement>("#chain textarea");
}

/** Writes the operation with open brackets, where it has any, and the caret between them. */
function take({ name, signature }: OperationHelp): void {
  const begun = word.peek();
  const [text, place] = [chain.peek(), caret.peek()];
  if (begun === null || place === null) return;
  const call = signature.includes("(");
  const put = call ? `${name}()` : name;
  const next = text.slice(0, begun.begin) + put + text.slice(place);
  const to = begun.begin + name.length + (call ? 1 : 0);
  typed();
  change({ chain: next, muted: [], step: null, ...AFRESH }, "chain text");
  closed.value = next;
  // At once and not when the page is drawn: the next key may come before that.
  const field = area();
  if (field === null) return;
  field.value = next;
  field.focus();
  field.setSelectionRange(to, to);
  caret.value = to;
}

/** Where the word begins, in pixels of the box around the text. */
function place(): { left: number; top: number } {
  const mirror = document.querySelector("#chain .mirror");
  const letters = mirror?.firstChild;
  const box = mirror?.parentElement?.parentElement?.getBoundingClientRect();
  const begin = word.peek()?.begin ?? 0;
  if (mirror == null || box === undefined || !(letters instanceof Text)) return { left: 12, top: 44 };
  const range = document.createRange();
  range.setStart(letters, Math.min(begin, letters.length));
  range.setEnd(letters, Math.min(begin, letters.length));
  const at = range.getBoundingClientRect();
  if (at.height === 0) return { left: 12, top: box.height };
  return { left: Math.max(Math.min(at.left - box.left, box.width - 420), 0), top: at.bottom - box.top + 6 };
}

const List = live(() => {
  const found = options.value;
  const now = at.value;
  if (found.length === 0) return null;
  return (
    <ul
      class="completion"
      id={LIST}
      role="listbox"
      aria-label="Operations"
      ref={(box) => {
        if (box === null) return;
        const { left, top } = place();
        box.style.setProperty("left", `${left}px`);
        box.style.setProperty("top", `${top}px`);
        box.children[now]?.scrollIntoView({ block: "nearest" });
      }}
    >
      {found.map((each, number) => (
        <li
          id={`${LIST}-${number}`}
          role="option"
          aria-selected={number === now}
          // The text keeps the focus.
          onPointerDown={(event) => {
            event.preventDefault();
            take(each);
          }}
        >
          <code>{each.signature}</code>
          {each.library !== null && <span class="tag">{each.library}</span>}
          <small>{each.says}</small>
        </li>
      ))}
    </ul>
  );
});

export const completes: Completion = {
  hint,
  list,
  option,
  List,
  moved(to) {
    fetchOperations();
    if (caret.peek() !== to) chosen.value = 0;
    caret.value = to;
  },
  pressed({ key, ctrlKey, metaKey, altKey, shiftKey }) {
    const count = options.peek().length;
    if (count === 0 || ctrlKey || metaKey || altKey || shiftKey) return false;
    switch (key) {
      case "ArrowDown":
        chosen.value = (at.peek() + 1) % count;
        return true;
      case "ArrowUp":
        chosen.value = (at.peek() + count - 1) % count;
        return true;
      case "Enter":
      case "Tab":
        take(options.peek()[at.peek()]!);
        return true;
      case "Escape":
        closed.value = chain.peek();
        return true;
      default:
        return false;
    }
  },
};

// Something may have been typed before this was there.
const now = area();
if (now !== null && document.activeElement === now) completes.moved(now.selectionStart);
