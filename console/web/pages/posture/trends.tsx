// The posture day by day: score, what is open, what was found and closed; as lines and as a table.
import { Show, type JSX } from 'solid-js';
import type { Reply } from '../../client/http.js';
import { showCount } from '../../client/moments.js';
import { Card } from '../../kit/basics.js';
import { Legend, LineChart, type Line } from '../../kit/chart/line-chart.js';
import { Table, type TableColumn } from '../../kit/table/table.js';
import { ofRows } from '../../kit/table/table-source.js';
import { postureText as text } from '../../texts/vm/posture.js';

export type Day = Reply<'GET /api/v1/posture/trend'>['items'][number];

const daySeconds = 86_400;
const grave = ({ open }: Day): number => (open['critical'] ?? 0) + (open['high'] ?? 0);

const columns: readonly TableColumn<Day>[] = [
  { title: text.day, class: 'nums', cell: ({ day }) => day },
  { title: text.score, isNumber: true, cell: ({ score }) => String(score) },
  { title: text.open, isNumber: true, cell: (one) => showCount(one.open_total) },
  { title: text.critical, isNumber: true, cell: (one) => showCount(grave(one)) },
  { title: text.opened, isNumber: true, cell: ({ opened }) => showCount(opened) },
  { title: text.closed, isNumber: true, cell: ({ closed }) => showCount(closed) },
  { title: text.reopened, isNumber: true, cell: ({ reopened }) => showCount(reopened) },
];

function Chart(props: {
  readonly title: string;
  readonly days: readonly Day[];
  readonly asked: number;
  readonly lines: readonly Line[];
  readonly max?: number;
}): JSX.Element {
  const span = (): readonly [number, number] => {
    const last = Date.parse(`${props.days.at(-1)?.day ?? ''}T00:00:00Z`) / 1000;
    return [last - props.asked * daySeconds, last];
  };
  return (
    <Card title={props.title}>
      <Legend of={props.lines} />
      <LineChart
        span={span()}
        at={props.days.map(({ day }) => Date.parse(`${day}T00:00:00Z`) / 1000)}
        lines={props.lines}
        {...(props.max === undefined ? {} : { max: props.max })}
      />
    </Card>
  );
}

/** `asked`: so many days are shown, whether or not there are numbers of all of them. */
export function Trends(props: { readonly days: readonly Day[]; readonly asked: number }): JSX.Element {
  const line = (label: string, color: string, of: (day: Day) => number): Line => ({
    label,
    color,
    values: props.days.map(of),
  });
  return (
    <Show when={props.days.length > 0}>
      <div class="grid-3">
        <Chart
          title={text.scoreTrend}
          days={props.days}
          asked={props.asked}
          max={100}
          lines={[line(text.score, '--series-1', ({ score }) => score)]}
        />
        <Chart
          title={text.openTrend}
          days={props.days}
          asked={props.asked}
          lines={[
            line(text.openTotal, '--series-1', (one) => one.open_total),
            line(text.criticalOpen, '--series-2', grave),
          ]}
        />
        <Chart
          title={text.flowTrend}
          days={props.days}
          asked={props.asked}
          lines={[
            line(text.opened, '--series-2', ({ opened }) => opened),
            line(text.closed, '--series-1', ({ closed }) => closed),
          ]}
        />
      </div>
      <details class="fold">
        <summary>{text.asTable}</summary>
        <Table
          label={text.asTable}
          columns={columns}
          of={ofRows(() => [...props.days].reverse())}
          keyOf={({ day }) => day}
          empty={text.counting}
        />
      </details>
    </Show>
  );
}
