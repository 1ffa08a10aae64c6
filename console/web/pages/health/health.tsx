// How the parts of the installation stand: components with what to do, queues, and what has changed.
import { useSearchParams } from '@solidjs/router';
import { Match, Show, Switch, type JSX } from 'solid-js';
import type { Item, Reply } from '../../client/http.js';
import { showBytes, showCount, showMoment, showSpan } from '../../client/moments.js';
import { createPagedList } from '../../client/pages.js';
import { createQuery } from '../../client/query.js';
import { Badge, Card, Figure, Foreign, PageHead, Pairs, Tabs, type Tone } from '../../kit/basics.js';
import { Overlay } from '../../kit/overlays.js';
import { Read } from '../../kit/page-state.js';
import { createChosen, ListCard } from '../../kit/table/list-card.js';
import { Table, type TableColumn } from '../../kit/table/table.js';
import { ofQuery, ofRows } from '../../kit/table/table-source.js';
import { healthText as text } from '../../texts/resources/health.js';

type Overview = Reply<'GET /api/v1/health_monitor'>;
type Component = Overview['components'][number];
type State = Component['state'];
type Queue = Item<'GET /api/v1/health_monitor/queues'>;
type Change = Item<'GET /api/v1/health_monitor/changes'>;

const everyMs = 30_000;
const textMax = 400;
const tones: Readonly<Record<State, Tone>> = {
  ok: 'good',
  warning: 'warn',
  failing: 'danger',
  unknown: 'neutral',
  off: 'neutral',
};
const order: readonly State[] = ['failing', 'warning', 'unknown', 'ok', 'off'];
const nameOf = (id: string): string => text.components[id] ?? id;

function StateBadge(props: { readonly of: State }): JSX.Element {
  return <Badge tone={tones[props.of]}>{text.states[props.of]}</Badge>;
}

function valueOf({ value, unit }: NonNullable<Component['measure']>): string {
  if (unit === 'bytes') return showBytes(value);
  if (unit === 'seconds') return value < 0 ? `−${showSpan(-value)}` : showSpan(value);
  if (unit === 'percent') return `${value} %`;
  return unit === 'milliseconds' ? `${value} ms` : showCount(value);
}

const columns: readonly TableColumn<Component>[] = [
  { title: text.component, cell: ({ id }) => nameOf(id), sortBy: ({ id }) => nameOf(id) },
  { title: text.state, cell: ({ state }) => <StateBadge of={state} />, sortBy: ({ state }) => order.indexOf(state) },
  { title: text.summary, cell: ({ summary }) => <Foreign text={summary} max={textMax} /> },
  {
    title: text.since,
    isMinor: true,
    class: 'nums',
    sortBy: ({ since }) => since,
    cell: ({ since }) => (since === null ? text.sinceNow : showMoment(since)),
  },
  {
    title: text.action,
    class: 'words',
    cell: ({ action }) => <Foreign text={action ?? text.nothing} max={textMax} />,
  },
];

function Opened(props: { readonly of: Component }): JSX.Element {
  const parts: readonly TableColumn<Component['parts'][number]>[] = [
    { title: text.component, cell: ({ name }) => <Foreign text={name} max={textMax} /> },
    { title: text.state, cell: ({ state }) => <StateBadge of={state} /> },
    { title: text.summary, class: 'words', cell: (one) => <Foreign text={one.text} max={textMax} /> },
  ];
  const measured = (): string => {
    const { measure } = props.of;
    return measure === null ? text.nothing : text.measured(valueOf(measure), measure.name);
  };
  return (
    <>
      <Pairs
        of={[
          [text.component, nameOf(props.of.id)],
          [text.state, <StateBadge of={props.of.state} />],
          [text.since, props.of.since === null ? text.sinceNow : showMoment(props.of.since)],
          [text.summary, <Foreign text={props.of.summary} max={textMax} />],
          [text.measure, measured()],
          [text.action, <Foreign text={props.of.action ?? text.nothing} max={textMax} />],
        ]}
      />
      <Show when={props.of.parts_total > 0}>
        <Card
          isFlush
          title={
            props.of.parts_total > props.of.parts.length
              ? text.partsOf(props.of.parts.length, props.of.parts_total)
              : text.parts
          }
        >
          <Table
            label={text.parts}
            columns={parts}
            of={ofRows(() => props.of.parts)}
            keyOf={({ name }) => name}
            empty={text.noParts}
          />
        </Card>
      </Show>
    </>
  );
}

function Components(): JSX.Element {
  const overview = createQuery('GET /api/v1/health_monitor', () => ({}), { everyMs });
  const [chosen, choose] = createChosen('component');
  const opened = (): Component | undefined => overview.data()?.components.find(({ id }) => id === chosen());
  const sorted = (data: Overview): readonly Component[] =>
    [...data.components].sort((left, right) => order.indexOf(left.state) - order.indexOf(right.state));
  return (
    <>
      <Read of={overview}>
        {(data) => (
          <>
            <div class="grid-4">
              <Figure label={text.states.failing} value={showCount(data().counts['failing'] ?? 0)} />
              <Figure label={text.states.warning} value={showCount(data().counts['warning'] ?? 0)} />
              <Figure label={text.states.ok} value={showCount(data().counts['ok'] ?? 0)} />
              <Figure
                label={text.lastLook}
                value={data().looked_at === null ? text.neverLooked : showMoment(data().looked_at, true)}
                note={text.lookNote}
              />
            </div>
            <Card isFlush title={text.view.components}>
              <Table
                label={text.view.components}
                columns={columns}
                of={ofRows(() => sorted(data()))}
                keyOf={({ id }) => id}
                chosen={chosen()}
                onOpen={({ id }) => choose(id)}
                empty={text.nothing}
              />
            </Card>
          </>
        )}
      </Read>
      <Overlay
        isOpen={opened() !== undefined}
        look="drawer"
        title={nameOf(chosen() ?? '')}
        onClose={() => choose(null)}
      >
        <Show when={opened()}>{(one) => <Opened of={one()} />}</Show>
      </Overlay>
    </>
  );
}

function Queues(): JSX.Element {
  const queues = createQuery('GET /api/v1/health_monitor/queues', () => ({}), { everyMs });
  const queueColumns: readonly TableColumn<Queue>[] = [
    {
      title: text.queue,
      class: 'words',
      sortBy: ({ about }) => about,
      cell: ({ about }) => <Foreign text={about} max={textMax} />,
    },
    { title: text.state, cell: ({ state }) => <StateBadge of={state} />, sortBy: ({ state }) => order.indexOf(state) },
    { title: text.waits, isNumber: true, sortBy: ({ depth }) => depth, cell: ({ depth }) => showCount(depth) },
    {
      title: text.lag,
      isNumber: true,
      sortBy: (one) => one.lag_seconds,
      cell: (one) => (one.depth === 0 ? text.nothing : showSpan(one.lag_seconds)),
    },
    { title: text.lagMax, isNumber: true, isMinor: true, cell: (one) => showSpan(one.lag_seconds_max) },
    { title: text.failures, isNumber: true, sortBy: (one) => one.failures, cell: (one) => showCount(one.failures) },
    {
      title: text.action,
      class: 'words',
      cell: ({ action }) => <Foreign text={action ?? text.nothing} max={textMax} />,
    },
  ];
  return (
    <Card isFlush>
      <Table
        label={text.view.queues}
        columns={queueColumns}
        of={ofQuery(queues, ({ items }) => items)}
        keyOf={({ id }) => id}
        empty={text.noQueues}
      />
    </Card>
  );
}

function Changes(): JSX.Element {
  const list = createPagedList('GET /api/v1/health_monitor/changes', () => ({}));
  const changeColumns: readonly TableColumn<Change>[] = [
    { title: text.when, class: 'nums', cell: ({ at }) => showMoment(at) },
    { title: text.component, cell: ({ component }) => nameOf(component) },
    {
      title: text.was,
      isMinor: true,
      cell: ({ before }) => (before === null ? text.first : <StateBadge of={before} />),
    },
    { title: text.state, cell: ({ state }) => <StateBadge of={state} /> },
    { title: text.summary, class: 'words', cell: ({ summary }) => <Foreign text={summary} max={textMax} /> },
  ];
  return (
    <ListCard
      label={text.view.changes}
      list={list}
      columns={changeColumns}
      keyOf={({ id }) => id}
      empty={text.noChanges}
    />
  );
}

const tabs = [
  ['components', text.view.components],
  ['queues', text.view.queues],
  ['changes', text.view.changes],
] as const;

export function Health(): JSX.Element {
  const [search, setSearch] = useSearchParams();
  const tab = () => tabs.find(([name]) => name === search['view'])?.[0] ?? 'components';
  return (
    <>
      <PageHead title={text.title} about={text.about} />
      <Tabs label={text.views} tabs={tabs} chosen={tab()} onChoose={(view) => setSearch({ view, component: '' })} />
      <Switch>
        <Match when={tab() === 'components'}>
          <Components />
        </Match>
        <Match when={tab() === 'queues'}>
          <Queues />
        </Match>
        <Match when={tab() === 'changes'}>
          <Changes />
        </Match>
      </Switch>
    </>
  );
}
