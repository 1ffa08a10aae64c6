// Requests and blocked requests over time. The numbers stand in a table for screen readers.
import { For, type JSX } from 'solid-js';
import { showMoment } from '../../client/moments.js';
import { kitText as text } from '../../texts/kit.js';
import { LineChart } from './line-chart.js';

/** Its lines, for a legend. */
export const seriesLines = [
  { label: text.requests2, color: '--series-1' },
  { label: text.blocked2, color: '--series-2' },
] as const;

export interface SeriesPoint {
  readonly at: string;
  readonly requests: number;
  readonly blocked: number;
}

/** `onPick`: a stretch of time was drawn, in seconds since 1970. */
export function SeriesChart(props: {
  readonly points: readonly SeriesPoint[];
  readonly onPick: (from: number, to: number) => void;
}): JSX.Element {
  return (
    <figure>
      <LineChart
        at={props.points.map(({ at }) => Date.parse(at) / 1000)}
        lines={[
          { label: text.requests2, color: '--series-1', values: props.points.map(({ requests }) => requests) },
          { label: text.blocked2, color: '--series-2', values: props.points.map(({ blocked }) => blocked) },
        ]}
        onPick={props.onPick}
      />
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
