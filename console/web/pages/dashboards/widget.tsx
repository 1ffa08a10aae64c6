// One part of a dashboard: a metric as a number, as bars, as a line or as a table.
import { For, Match, Show, Switch, type JSX } from 'solid-js';
import type { Item, Reply } from '../../client/http.js';
import { showCount } from '../../client/moments.js';
import { createQuery } from '../../client/query.js';
import { Card, Foreign } from '../../kit/basics.js';
import { LineChart } from '../../kit/chart/line-chart.js';
import { Read } from '../../kit/page-state.js';
import { dashboardsText as text } from '../../texts/vm/models/dashboards.js';
import type { Applications } from '../vulnerabilities/words.js';

type Answer = Reply<'POST /api/v1/bi/query'>;
export type Dashboard = Item<'GET /api/v1/bi/dashboards'>;
export type Widget = Dashboard['widgets'][number];
export type Metric = Reply<'GET /api/v1/bi/dashboards'>['metrics'][number];

interface Point {
  readonly name: string;
  readonly value: number;
}

const shown = (value: number): string => showCount(Math.round(value * 10) / 10);

/** `application_id` is an id: people read names. */
function pointsOf({ rows }: Answer, by: string | null | undefined, applications: Applications): readonly Point[] {
  return rows.map((row) => {
    const [first, second] = by == null ? ['', row[0]] : row;
    const said = first === null || first === '' ? '–' : String(first as string | number | boolean);
    return { name: by === 'application_id' ? applications.nameOf(said) : said, value: Number(second ?? 0) };
  });
}

function Numbers(props: { readonly label: string; readonly of: readonly Point[] }): JSX.Element {
  return (
    <table class="table" aria-label={props.label}>
      <tbody>
        <For each={props.of}>
          {(point) => (
            <tr>
              <th scope="row">
                <Foreign text={point.name} max={120} />
              </th>
              <td class="nums">{shown(point.value)}</td>
            </tr>
          )}
        </For>
      </tbody>
    </table>
  );
}

function Bars(props: { readonly label: string; readonly of: readonly Point[] }): JSX.Element {
  const most = (): number => Math.max(1, ...props.of.map(({ value }) => value));
  return (
    <ul class="bars plain-list" aria-label={props.label}>
      <For each={props.of}>
        {(point) => (
          <li>
            <span class="small">
              <Foreign text={point.name} max={60} />
            </span>
            <meter min={0} max={most()} value={point.value} aria-label={point.name} />
            <span class="nums small">{shown(point.value)}</span>
          </li>
        )}
      </For>
    </ul>
  );
}

function Line(props: { readonly label: string; readonly of: readonly Point[] }): JSX.Element {
  const sorted = (): readonly Point[] => [...props.of].sort((a, b) => a.name.localeCompare(b.name));
  return (
    <figure>
      <LineChart
        at={sorted().map(({ name }) => Date.parse(name) / 1000)}
        lines={[{ label: props.label, color: '--series-1', values: sorted().map(({ value }) => value) }]}
      />
      <div class="visually-hidden">
        <Numbers label={text.numbers(props.label)} of={sorted()} />
      </div>
    </figure>
  );
}

export function WidgetCard(props: {
  readonly of: Widget;
  readonly metric: Metric;
  readonly applications: Applications;
}): JSX.Element {
  const title = (): string => props.of.title || props.metric.title;
  const answer = createQuery('POST /api/v1/bi/query', () => {
    const { dataset, measure, predicate } = props.metric;
    const dimensions = props.of.by == null ? [] : [props.of.by];
    const limit = props.of.shape === 'line' ? 400 : 12;
    return {
      body: { dataset, measures: [measure], dimensions, limit, ...(predicate === null ? {} : { predicate }) },
    };
  });
  const points = (data: Answer): readonly Point[] => pointsOf(data, props.of.by, props.applications);
  return (
    <div classList={{ wide: props.of.wide === true }}>
      <Card title={title()}>
        <Read of={answer}>
          {(data) => (
            <Show when={points(data()).length > 0} fallback={<p class="muted">{text.none}</p>}>
              <Switch fallback={<Numbers label={title()} of={points(data())} />}>
                <Match when={props.of.shape === 'number'}>
                  <p class="dashboard-number nums">{shown(points(data())[0]?.value ?? 0)}</p>
                </Match>
                <Match when={props.of.shape === 'bars'}>
                  <Bars label={title()} of={points(data())} />
                </Match>
                <Match when={props.of.shape === 'line'}>
                  <Line label={title()} of={points(data())} />
                </Match>
              </Switch>
            </Show>
          )}
        </Read>
        <p class="faint small">{props.metric.about}</p>
      </Card>
    </div>
  );
}
