// Two counts over time. The numbers stand in a table for screen readers; the colours are the theme's.
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { createEffect, For, onCleanup, onMount, type JSX } from 'solid-js';
import { showMoment } from '../client/moments.js';
import { theme } from '../shell/theme.js';
import { kitText as text } from '../texts/kit.js';

export interface SeriesPoint {
  readonly at: string;
  readonly requests: number;
  readonly blocked: number;
}

const offsetSeconds = 4 * 3600;
const two = (value: number): string => String(value).padStart(2, '0');

/** Hours where the marks are closer than a day, else days; both in GMT+4. */
function showMark(seconds: number, isFine: boolean): string {
  const at = new Date((seconds + offsetSeconds) * 1000);
  const isMidnight = at.getUTCHours() === 0 && at.getUTCMinutes() === 0;
  return isFine && !isMidnight
    ? `${two(at.getUTCHours())}:${two(at.getUTCMinutes())}`
    : `${two(at.getUTCMonth() + 1)}-${two(at.getUTCDate())}`;
}

const tokenOf = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function optionsFor(width: number, onPick: (from: number, to: number) => void): uPlot.Options {
  const axis = { stroke: tokenOf('--ink-3'), grid: { stroke: tokenOf('--line'), width: 1 }, ticks: { show: false } };
  const line = (label: string, color: string): uPlot.Series => ({
    label,
    stroke: tokenOf(color),
    fill: `${tokenOf(color)}26`,
    width: 1.5,
    points: { show: false },
  });
  return {
    width,
    height: 190,
    // the axis shows GMT+4, as all times of the console
    tzDate: (seconds) => uPlot.tzDate(new Date((seconds + offsetSeconds) * 1000), 'Etc/UTC'),
    legend: { show: false },
    cursor: { drag: { x: true, y: false, setScale: false } },
    axes: [
      {
        ...axis,
        values: (_plot, marks) => marks.map((seconds) => showMark(seconds, (marks[1] ?? 0) - (marks[0] ?? 0) < 86_400)),
      },
      { ...axis, size: 44 },
    ],
    series: [{}, line(text.requests2, '--series-1'), line(text.blocked2, '--series-2')],
    hooks: {
      setSelect: [
        (plot) => {
          if (plot.select.width < 4) return;
          onPick(plot.posToVal(plot.select.left, 'x'), plot.posToVal(plot.select.left + plot.select.width, 'x'));
        },
      ],
    },
  };
}

/** `onPick`: a stretch of time was drawn, in seconds since 1970. */
export function SeriesChart(props: {
  readonly points: readonly SeriesPoint[];
  readonly onPick: (from: number, to: number) => void;
}): JSX.Element {
  let holder: HTMLDivElement | undefined;
  let plot: uPlot | undefined;
  const dataOf = (): uPlot.AlignedData => [
    props.points.map(({ at }) => Date.parse(at) / 1000),
    props.points.map(({ requests }) => requests),
    props.points.map(({ blocked }) => blocked),
  ];
  const draw = (): void => {
    plot?.destroy();
    if (holder === undefined) return;
    plot = new uPlot(optionsFor(holder.clientWidth, props.onPick), dataOf(), holder);
  };
  const observer = new ResizeObserver(() => {
    if (holder !== undefined && plot !== undefined && holder.clientWidth !== plot.width)
      plot.setSize({ width: holder.clientWidth, height: 190 });
  });
  onMount(() => {
    if (holder !== undefined) observer.observe(holder);
  });
  createEffect(() => {
    theme(); // its colours are drawn, so another theme is another drawing
    draw();
  });
  onCleanup(() => {
    observer.disconnect();
    plot?.destroy();
  });
  return (
    <figure>
      <div class="chart" ref={holder} aria-hidden="true" />
      <div class="visually-hidden">
        <table>
          <caption>{text.requestsOverTime}</caption>
          <tbody>
            <For each={props.points.filter(({ requests }) => requests > 0)}>
              {(point) => (
                <tr>
                  <th scope="row">{showMoment(point.at)}</th>
                  <td>{text.requestsOf(point.requests)}</td>
                  <td>{text.blockedOf(point.blocked)}</td>
                </tr>
              )}
            </For>
          </tbody>
        </table>
      </div>
    </figure>
  );
}
