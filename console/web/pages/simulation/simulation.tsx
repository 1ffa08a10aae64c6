// Attack waves through the own data plane: start one, watch it, read its report; and the self-test of every night.
import { useSearchParams } from '@solidjs/router';
import { createMemo, Match, onCleanup, Show, Switch, type JSX } from 'solid-js';
import { showCount, showMoment } from '../../client/moments.js';
import { createPagedList } from '../../client/pages.js';
import { mayAs } from '../../client/session.js';
import { Badge, Foreign, PageHead, Tabs } from '../../kit/basics.js';
import { createChosen, ListCard } from '../../kit/table/list-card.js';
import type { TableColumn } from '../../kit/table/table.js';
import { simulationText as text } from '../../texts/engine/simulation.js';
import { RunDrawer } from './run-drawer.js';
import { SelfTests } from './self-tests.js';
import { StartForm } from './start-form.js';
import { statusTones, type Run, type Wave } from './words.js';

const everyMs = 3000;

const detected = ({ report }: Run): string => {
  if (report === null) return text.none;
  return report.first_stopped_ms === null ? text.notDetected : text.ms(showCount(report.first_stopped_ms));
};

const columns: readonly TableColumn<Run>[] = [
  { title: text.started, class: 'nums', sortBy: (one) => one.started_at, cell: (one) => showMoment(one.started_at) },
  {
    title: text.wave,
    sortBy: ({ type }) => text.waves[type],
    cell: ({ type, self_test: isSelfTest }) => (
      <span class="row wrap">
        {text.waves[type]}
        <Show when={isSelfTest}>
          <Badge>{text.selfTest}</Badge>
        </Show>
      </span>
    ),
  },
  { title: text.site, cell: ({ site }) => <Foreign text={site} max={60} /> },
  { title: text.status, cell: ({ status }) => <Badge tone={statusTones[status]}>{text.statuses[status]}</Badge> },
  { title: text.sent, isNumber: true, sortBy: ({ sent }) => sent, cell: ({ sent }) => showCount(sent) },
  {
    title: text.stopped,
    isNumber: true,
    sortBy: ({ report }) => report?.stopped ?? -1,
    cell: ({ report }) => (report === null ? text.none : showCount(report.stopped)),
  },
  {
    title: text.passed,
    isNumber: true,
    sortBy: ({ report }) => report?.passed ?? -1,
    cell: ({ report }) => (report === null ? text.none : showCount(report.passed)),
  },
  { title: text.detect, isNumber: true, sortBy: (one) => one.report?.first_stopped_ms ?? -1, cell: detected },
  { title: text.startedBy, cell: (one) => <Foreign text={one.started_by} max={60} /> },
];

function Runs(): JSX.Element {
  const [search, setSearch] = useSearchParams();
  const list = createPagedList('GET /api/ai/simulate', () => ({}));
  const [chosen, choose] = createChosen('run');
  const running = createMemo(() => list.items().find(({ status }) => status === 'running')?.id ?? null);
  // one that somebody else started, or that was left, ends while nobody looks
  const timer = setInterval(() => {
    if (running() !== null && chosen() === null && document.visibilityState === 'visible') list.reload();
  }, everyMs);
  onCleanup(() => clearInterval(timer));
  const wave = (): Wave | null => (Object.keys(text.waves) as Wave[]).find((one) => one === search['wave']) ?? null;
  const site = (): string | null =>
    typeof search['site'] === 'string' && search['site'] !== '' ? search['site'] : null;
  const started = ({ id }: Run): void => {
    choose(id);
    list.reload();
  };
  const again = ({ type, site: of }: Run): void => setSearch({ run: '', wave: type, site: of });
  return (
    <>
      <Show when={mayAs('operator')} fallback={<p class="muted">{text.operators}</p>}>
        {/* another wave from the list begins a form of its own */}
        <Show when={`${wave()} ${site()}`} keyed>
          <StartForm from={{ type: wave(), site: site() }} running={running()} onStarted={started} onShow={choose} />
        </Show>
      </Show>
      <ListCard
        title={text.runs}
        label={text.runs}
        list={list}
        columns={columns}
        keyOf={({ id }) => id}
        chosen={chosen()}
        onOpen={({ id }) => choose(id)}
        empty={text.noRuns}
        emptyAbout={mayAs('operator') ? text.noRunsAbout : text.operators}
      />
      <RunDrawer id={chosen()} onClose={() => choose(null)} onEnded={list.reload} onAgain={again} />
    </>
  );
}

type TabName = keyof typeof text.tabs;
const tabs = Object.entries(text.tabs) as [TabName, string][];

export function Simulation(): JSX.Element {
  const [search, setSearch] = useSearchParams();
  const tab = (): TabName => (search['view'] === 'self-tests' ? 'self-tests' : 'runs');
  return (
    <>
      <PageHead title={text.simulation} about={text.about} />
      <Tabs label={text.simulation} tabs={tabs} chosen={tab()} onChoose={(view) => setSearch({ view })} />
      <Switch>
        <Match when={tab() === 'runs'}>
          <Runs />
        </Match>
        <Match when={tab() === 'self-tests'}>
          <SelfTests />
        </Match>
      </Switch>
    </>
  );
}
