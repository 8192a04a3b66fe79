/** Pane D: the views, and the element on its way through them. */
import { Fragment, h } from "preact";
import type { TraceLevel, View } from "shapetracker/engine";
import { detail } from "../focus";
import { layout } from "../layout";
import { bracket, pretty, tuple } from "../numbers";
import { Derived } from "./derived";
import { live } from "./live";
import { Pane } from "./pane";
import { Scroll } from "./scroll";

/** The element enters a view as an index and leaves it as an address. */
function Way({ level, view, last }: { level: TraceLevel; view: View; last: boolean }) {
  const terms = level.terms.filter(({ product }) => Number(product) !== 0);
  return (
    <div class="way">
      <p>
        {last ? (
          <span class="soft">index </span>
        ) : (
          <>
            <span class="soft">position </span>
            {pretty(level.position)}
            <span class="soft"> is </span>
          </>
        )}
        <b>{bracket(level.index)}</b>
        {!last && <span class="soft"> in {tuple(view.shape)}</span>}
      </p>
      {level.address === null ? (
        <p class="masked">
          masked:{" "}
          {level.masked_axes
            .map((axis) => {
              const range = view.mask?.[axis];
              return `${pretty(level.index[axis] ?? 0)} along axis ${axis} is outside ${range === undefined ? "the mask" : `${pretty(range[0])}..${pretty(range[1])}`}`;
            })
            .join(", ")}
        </p>
      ) : (
        <p class="sum">
          <span>{pretty(level.offset)}</span>
          {terms.map(({ index, stride }) => (
            <span>
              {" "}
              {Number(stride) < 0 ? "\u2212" : "+"} {pretty(index)}
              <i>·</i>
              {pretty(String(stride).replace("-", ""))}
            </span>
          ))}
          <span>
            {" "}
            = <b>{pretty(level.address)}</b>
          </span>
        </p>
      )}
    </div>
  );
}

/** More letters than this do not fit beside each other into a card on a telephone. */
const MOST_LETTERS = 24;

/** What a view is made of: an axis a column or, where that would be too wide, an axis a row. */
function Numbers({ view }: { view: View }) {
  const { mask } = view;
  const rows: [string, string[]][] = [
    ["shape", view.shape.map(pretty)],
    ["strides", view.strides.map(pretty)],
    ...(mask === null
      ? []
      : [["valid", mask.map(([begin, end]) => `${pretty(begin)}..${pretty(end)}`)] as [string, string[]]]),
  ];
  const wide = view.shape.reduce<number>(
    (all, _, axis) => all + 2 + Math.max(...rows.map(([, values]) => values[axis]!.length)),
    0,
  );
  if (wide <= MOST_LETTERS) {
    return (
      <table class="numbers-table">
        <thead>
          <tr>
            <td />
            {view.shape.map((_, axis) => (
              <th scope="col">{axis}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(([name, values]) => (
            <tr>
              <th scope="row">{name}</th>
              {values.map((value) => (
                <td>{value}</td>
              ))}
            </tr>
          ))}
          <tr>
            <th scope="row">offset</th>
            <td class="left" colSpan={Math.max(view.shape.length, 1)}>
              {pretty(view.offset)}
            </td>
          </tr>
        </tbody>
      </table>
    );
  }
  return (
    <table class="numbers-table by-axis">
      <thead>
        <tr>
          <th scope="col">axis</th>
          {rows.map(([name]) => (
            <th scope="col">{name}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {view.shape.map((_, axis) => (
          <tr>
            <th scope="row">{axis}</th>
            {rows.map(([, values]) => (
              <td>{values[axis]}</td>
            ))}
          </tr>
        ))}
        <tr>
          <th scope="row">offset</th>
          <td colSpan={rows.length}>{pretty(view.offset)}</td>
        </tr>
      </tbody>
    </table>
  );
}

function Card({
  view,
  number,
  count,
  level,
}: {
  view: View;
  number: number;
  count: number;
  level: TraceLevel | null;
}) {
  return (
    <li class="view">
      <h3>
        View {number}{" "}
        <span class="soft">
          {count === 1 ? "" : number === 1 ? "next to memory" : number === count ? "which the index goes into" : ""}
        </span>
      </h3>
      <Scroll label={`View ${number}`}>
        <Numbers view={view} />
      </Scroll>
      {level !== null && <Way level={level} view={view} last={number === count} />}
    </li>
  );
}

export const ViewsPane = live(() => {
  const now = layout.value;
  if (now !== null && now.chain === null) return null;
  const views = now?.chain?.views ?? [];
  const trace = detail.value?.layout === now ? (detail.value?.trace ?? null) : null;
  return (
    <Pane id="views" title={views.length === 0 ? "Views" : views.length === 1 ? "One view" : `${views.length} views`}>
      <ol class="views">
        {views
          .map((view, at) => ({ view, at }))
          .reverse()
          .map(({ view, at }) => {
            const levelOf = (of: number): TraceLevel | null => trace?.levels.find((level) => level.view === of) ?? null;
            const above = views[at + 1];
            return (
              <>
                {above !== undefined && <Derived above={above} below={view} from={levelOf(at + 1)} to={levelOf(at)} />}
                <Card view={view} number={at + 1} count={views.length} level={levelOf(at)} />
              </>
            );
          })}
      </ol>
    </Pane>
  );
});
