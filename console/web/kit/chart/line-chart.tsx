// Numbers over time as lines. The drawing is for eyes; whoever uses it puts the same numbers into a table. Colours are
// the theme's, moments the user's zone's.
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { createEffect, For, onCleanup, onMount, type JSX } from 'solid-js';
import { offsetMsAt } from '../../client/time-zone.js';
import { theme } from '../../shell/theme.js';

export interface Line {
  readonly label: string;
  /** Of the theme: `--series-1`. */
  readonly color: string;
  readonly values: readonly number[];
}

/** Which colour is which line, and what the numbers are. */
export function Legend(props: {
  readonly of: readonly Pick<Line, 'label' | 'color'>[];
  readonly unit?: string;
}): JSX.Element {
  return (
    <span class="row wrap small">
      <For each={props.of}>
        {({ label, color }) => (
          <span class="row">
            <span class={`legend-mark ${color === '--series-2' ? 'is-second' : ''}`} aria-hidden="true" />
            {label}
          </span>
        )}
      </For>
      <span class="faint">{props.unit}</span>
    </span>
  );
}

export interface LineChartProps {
  /** Moments, in seconds since 1970. */
  readonly at: readonly number[];
  readonly lines: readonly Line[];
  /** What is asked for, in seconds since 1970, whatever of it has numbers; without it the numbers say it. */
  readonly span?: readonly [from: number, to: number];
  /** Upper end of the scale where it is known; else the lines say it. */
  readonly max?: number;
  /** A stretch of time was drawn, in seconds since 1970. */
  readonly onPick?: (from: number, to: number) => void;
}

const height = 190;
/** Seconds since 1970, with the clock of the user's zone as its UTC. */
const onClock = (seconds: number): Date => new Date(seconds * 1000 + offsetMsAt(seconds * 1000));
const two = (value: number): string => String(value).padStart(2, '0');

/** Hours where the marks are closer than a day, else days; both in the user's zone. */
function showMark(seconds: number, isFine: boolean): string {
  const at = onClock(seconds);
  const isMidnight = at.getUTCHours() === 0 && at.getUTCMinutes() === 0;
  return isFine && !isMidnight
    ? `${two(at.getUTCHours())}:${two(at.getUTCMinutes())}`
    : `${two(at.getUTCMonth() + 1)}-${two(at.getUTCDate())}`;
}

const tokenOf = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function optionsFor(width: number, { lines, max, span, onPick }: LineChartProps): uPlot.Options {
  const axis = { stroke: tokenOf('--ink-3'), grid: { stroke: tokenOf('--line'), width: 1 }, ticks: { show: false } };
  const drawn = ({ label, color, values }: Line): uPlot.Series => ({
    label,
    stroke: tokenOf(color),
    fill: `${tokenOf(color)}26`,
    width: 1.5,
    points: { show: values.length < 3 }, // one point alone is no line
  });
  return {
    width,
    height,
    tzDate: (seconds) => uPlot.tzDate(onClock(seconds), 'Etc/UTC'),
    legend: { show: false },
    cursor: { drag: { x: onPick !== undefined, y: false, setScale: false } },
    scales: {
      ...(span === undefined ? {} : { x: { range: [span[0], span[1]] } }),
      // from nothing on: a line that begins elsewhere makes a small change look like a large one
      y: {
        range: max === undefined ? (_plot, _least, most) => uPlot.rangeNum(0, Math.max(most, 1), 0.1, true) : [0, max],
      },
    },
    padding: [12, 16, 0, 0],
    axes: [
      {
        ...axis,
        size: 28,
        values: (_plot, marks) => marks.map((seconds) => showMark(seconds, (marks[1] ?? 0) - (marks[0] ?? 0) < 86_400)),
      },
      { ...axis, size: 44 },
    ],
    series: [{}, ...lines.map(drawn)],
    hooks: {
      setSelect: [
        (plot) => {
          if (onPick === undefined || plot.select.width < 4) return;
          onPick(plot.posToVal(plot.select.left, 'x'), plot.posToVal(plot.select.left + plot.select.width, 'x'));
        },
      ],
    },
  };
}

export function LineChart(props: LineChartProps): JSX.Element {
  let holder: HTMLDivElement | undefined;
  let plot: uPlot | undefined;
  const dataOf = (): uPlot.AlignedData => [[...props.at], ...props.lines.map(({ values }) => [...values])];
  const draw = (): void => {
    plot?.destroy();
    if (holder === undefined) return;
    plot = new uPlot(optionsFor(holder.clientWidth, props), dataOf(), holder);
  };
  const observer = new ResizeObserver(() => {
    if (holder !== undefined && plot !== undefined && holder.clientWidth !== plot.width)
      plot.setSize({ width: holder.clientWidth, height });
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
  return <div class="chart" ref={holder} aria-hidden="true" />;
}
