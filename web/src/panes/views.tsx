/** Pane D: the views, and the element on its way through them. */
import { Fragment, h } from "preact";
import type { TraceLevel, View } from "../engine";
import { detail } from "../focus";
import { layout } from "../layout";
import { bracket, plain, tuple } from "../numbers";
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
            {plain(level.position)}
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
              return `${plain(level.index[axis] ?? 0)} along axis ${axis} is outside ${range === undefined ? "the mask" : `${plain(range[0])}..${plain(range[1])}`}`;
            })
            .join(", ")}
        </p>
      ) : (
        <p class="sum">
          <span>{plain(level.offset)}</span>
          {terms.map(({ index, stride }) => (
            <span>
              {" "}
              {Number(stride) < 0 ? "\u2212" : "+"} {plain(index)}
              <i>·</i>
              {plain(String(stride).replace("-", ""))}
            </span>
          ))}
          <span>
            {" "}
            = <b>{plain(level.address)}</b>
          </span>
        </p>
      )}
    </div>
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
  const names = view.shape.map((_, axis) => axis);
  return (
    <li class="view">
      <h3>
        View {number}{" "}
        <span class="soft">
          {count === 1 ? "" : number === 1 ? "next to memory" : number === count ? "what the index enters" : ""}
        </span>
      </h3>
      <Scroll label={`View ${number}`}>
        <table class="numbers-table">
          <thead>
            <tr>
              <td />
              {names.map((axis) => (
                <th scope="col">{axis}</th>
              ))}
            </tr>
          </thead>
          <tbody>
            <tr>
              <th scope="row">shape</th>
              {view.shape.map((size) => (
                <td>{plain(size)}</td>
              ))}
            </tr>
            <tr>
              <th scope="row">strides</th>
              {view.strides.map((stride) => (
                <td>{plain(stride)}</td>
              ))}
            </tr>
            {view.mask !== null && (
              <tr>
                <th scope="row">valid</th>
                {view.mask.map(([begin, end]) => (
                  <td>
                    {plain(begin)}..{plain(end)}
                  </td>
                ))}
              </tr>
            )}
            <tr>
              <th scope="row">offset</th>
              <td class="left" colSpan={Math.max(names.length, 1)}>
                {plain(view.offset)}
              </td>
            </tr>
          </tbody>
        </table>
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
          .map(({ view, at }) => (
            <Card
              view={view}
              number={at + 1}
              count={views.length}
              level={trace?.levels.find((level) => level.view === at) ?? null}
            />
          ))}
      </ol>
    </Pane>
  );
});
