// Events over time as bars; drawing over them chooses a stretch. The same numbers stand in a table for screen readers,
// and the range can be chosen by keyboard in the fields beside it.
import { createMemo, createSignal, For, Show, type JSX } from 'solid-js';
import type { Reply } from '../../../client/http.js';
import { showCount, showMoment } from '../../../client/moments.js';
import { workbenchText as text } from '../../../texts/events/workbench.js';
import { allBars, type Bar } from './time-range.js';

type Stats = Reply<'GET /api/events/stats'>;

const height = 64;
const barWidth = 10;

export function Histogram(props: {
  readonly of: Stats;
  readonly onPick: (from: string, to: string) => void;
}): JSX.Element {
  const bars = createMemo(() => allBars(props.of.from, props.of.to, props.of.step_seconds, props.of.histogram));
  const most = createMemo(() => Math.max(1, ...bars().map(({ n }) => n)));
  const width = (): number => bars().length * barWidth;
  const [brush, setBrush] = createSignal<readonly [number, number] | null>(null);
  const indexAt = (event: PointerEvent & { readonly currentTarget: SVGSVGElement }): number => {
    const { left, width: shown } = event.currentTarget.getBoundingClientRect();
    const share = (event.clientX - left) / Math.max(1, shown);
    return Math.min(bars().length - 1, Math.max(0, Math.floor(share * bars().length)));
  };
  const pick = (): void => {
    const drawn = brush();
    setBrush(null);
    if (drawn === null) return;
    const [first, last] = [Math.min(...drawn), Math.max(...drawn)];
    const moment = (index: number): string =>
      new Date((bars()[0]?.atMs ?? 0) + index * props.of.step_seconds * 1000).toISOString();
    props.onPick(moment(first), moment(last + 1));
  };
  const tall = (n: number): number => (n === 0 ? 0 : Math.max(1.5, (n / most()) * height));
  const bar = (one: Bar, index: () => number): JSX.Element => (
    <>
      <rect
        class="bar-all"
        x={index() * barWidth + 1}
        width={barWidth - 2}
        y={height - tall(one.n)}
        height={tall(one.n)}
      />
      <rect
        class="bar-blocked"
        x={index() * barWidth + 1}
        width={barWidth - 2}
        y={height - tall(one.blocked)}
        height={tall(one.blocked)}
      />
    </>
  );
  return (
    <figure class="histogram">
      <svg
        viewBox={`0 0 ${width()} ${height}`}
        preserveAspectRatio="none"
        aria-hidden="true"
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          const at = indexAt(event);
          setBrush([at, at]);
        }}
        onPointerMove={(event) => {
          const drawn = brush();
          if (drawn !== null) setBrush([drawn[0], indexAt(event)]);
        }}
        onPointerUp={pick}
        onPointerCancel={() => setBrush(null)}
      >
        <For each={bars()}>{bar}</For>
        <Show when={brush()}>
          {(drawn) => (
            <rect
              class="brush"
              x={Math.min(...drawn()) * barWidth}
              width={(Math.abs(drawn()[1] - drawn()[0]) + 1) * barWidth}
              y="0"
              height={height}
            />
          )}
        </Show>
      </svg>
      <figcaption class="row between small faint">
        <span>{showMoment(props.of.from)}</span>
        <span>
          {text.total(showCount(props.of.total), props.of.total)}
          {props.of.is_estimate ? ` (${text.estimate})` : ''}
        </span>
        <span>{showMoment(props.of.to)}</span>
      </figcaption>
      <div class="visually-hidden">
        <table>
          <caption>{text.overTime}</caption>
          <tbody>
            <For each={props.of.histogram}>
              {({ at, n, blocked }) => (
                <tr>
                  <th scope="row">{showMoment(at)}</th>
                  <td>{text.barOf(n, blocked)}</td>
                </tr>
              )}
            </For>
          </tbody>
        </table>
      </div>
    </figure>
  );
}
