// What the engine sees now: how many clients have which verdict, and those with the highest risks.
import { A, useSearchParams } from '@solidjs/router';
import { createSignal, For, onCleanup, Show, type JSX } from 'solid-js';
import { showAge, showCount } from '../../client/moments.js';
import type { QueryState } from '../../client/query.js';
import { Badge, Card, Foreign, Notice } from '../../kit/basics.js';
import { Read } from '../../kit/page-state.js';
import { Table, type TableColumn, type TableSource } from '../../kit/table/table.js';
import { engineText as text } from '../../texts/engine/engine.js';
import { RungFigures } from './rung-figures.js';
import {
  layerLine,
  measureOf,
  rungIn,
  rungs,
  rungTones,
  whomOf,
  type LiveClient,
  type Rung,
  type Soc,
} from './words.js';

const columnsOf = (action: () => Soc['action']): readonly TableColumn<LiveClient>[] => [
  { title: text.verdict, cell: ({ verdict }) => <Badge tone={rungTones[verdict]}>{text.rungs[verdict]}</Badge> },
  { title: text.risk, isNumber: true, sortBy: ({ risk }) => risk, cell: ({ risk }) => risk },
  { title: text.client, class: 'mono', sortBy: ({ address }) => address, cell: (one) => whomOf(one) },
  {
    title: text.reasons,
    class: 'reasons',
    cell: ({ signals }) => (
      <Foreign
        text={
          signals
            .slice(0, 3)
            .map(({ name, points }) => `${name} ${points}`)
            .join(', ') || text.nothing
        }
        max={200}
      />
    ),
  },
  { title: text.layerPoints, cell: ({ layers }) => layerLine(layers) },
  {
    title: text.confidence,
    isNumber: true,
    sortBy: ({ confidence }) => confidence,
    cell: ({ confidence }) => text.percent(confidence),
  },
  {
    title: text.requests,
    isNumber: true,
    sortBy: ({ requests }) => requests,
    cell: ({ requests }) => showCount(requests),
  },
  { title: text.sites, cell: ({ sites }) => <Foreign text={sites.join(', ')} max={80} /> },
  { title: text.measure, cell: (one) => measureOf(one, action()) },
];

/** Why there may be nothing to see, or less than there should be. */
export function EngineNotices(props: { readonly of: Soc; readonly nowMs: number }): JSX.Element {
  const failing = () => props.of.evaluators.filter(({ error }) => error !== null);
  const isStale = (): boolean => props.of.at === null || props.nowMs - Date.parse(props.of.at) > 120_000;
  return (
    <>
      <Show when={!props.of.enabled}>
        <Notice tone="info" title={text.off}>
          <span>{text.offAbout}</span>
          <A href="/admin/settings/engine#ai_enabled">{text.switchOn}</A>
        </Notice>
      </Show>
      <Show when={props.of.enabled && isStale()}>
        <Notice tone="warn" title={text.noRound}>
          {text.noRoundAbout}
        </Notice>
      </Show>
      <Show when={failing().length > 0}>
        <Notice tone="warn" title={text.failing}>
          <For each={failing()}>
            {({ name, error }) => (
              <span>
                <Foreign text={text.failingOf(name, error)} max={600} />
              </span>
            )}
          </For>
          <span>{text.failingAbout}</span>
        </Notice>
      </Show>
    </>
  );
}

/** The rows of a verdict, with how many clients have it in all. */
function sourceOf(soc: QueryState<Soc>, rung: () => Rung | ''): TableSource<LiveClient> {
  const rows = (): readonly LiveClient[] | undefined =>
    soc.data()?.top.filter(({ verdict }) => rung() === '' || verdict === rung());
  return {
    get rows() {
      return rows();
    },
    get problem() {
      return soc.problem();
    },
    get isAnswered() {
      return soc.isAnswered();
    },
    get total() {
      const data = soc.data();
      const asked = rung();
      if (data === undefined) return null;
      return asked === '' ? data.clients + data.principals : data.rungs[asked] + data.principal_rungs[asked];
    },
    retry: () => void soc.reload(),
  };
}

/** Rows are the clients with a risk, at most a hundred: what is counted besides is said. */
function Unlisted(props: { readonly of: TableSource<LiveClient> }): JSX.Element {
  const rest = (): number => (props.of.total ?? 0) - (props.of.rows?.length ?? 0);
  const isFull = (): boolean => (props.of.rows?.length ?? 0) >= 100;
  return (
    <Show when={rest() > 0}>
      <span class="small muted">{(isFull() ? text.andMore : text.withoutRisk)(showCount(rest()))}</span>
    </Show>
  );
}

function RungSelect(props: { readonly chosen: Rung | ''; readonly onChoose: (rung: string) => void }): JSX.Element {
  return (
    <select
      class="select fit"
      aria-label={text.rungFilter}
      value={props.chosen}
      onChange={(event) => props.onChoose(event.currentTarget.value)}
    >
      <option value="">{text.everyRung}</option>
      <For each={rungs}>
        {(rung) => (
          <option value={rung} selected={rung === props.chosen}>
            {text.rungs[rung]}
          </option>
        )}
      </For>
    </select>
  );
}

export function Live(props: {
  readonly of: QueryState<Soc>;
  readonly chosen: string | null;
  readonly onOpen: (address: string) => void;
}): JSX.Element {
  const [search, setSearch] = useSearchParams();
  const rung = (): Rung | '' => rungIn(search['rung']);
  const [now, setNow] = createSignal(Date.now());
  const timer = setInterval(() => setNow(Date.now()), 5000);
  onCleanup(() => clearInterval(timer));
  const source = sourceOf(props.of, rung);
  const columns = columnsOf(() => props.of.data()?.action ?? 'monitor');
  return (
    <>
      <Read of={props.of}>
        {(data) => (
          <>
            <EngineNotices of={data()} nowMs={now()} />
            <div class="row wrap wide">
              <Badge tone={data().action === 'block' ? 'good' : 'info'}>{text.actionNames[data().action]}</Badge>
              <span class="muted">{text.lastRound(showAge(data().at, now()))}</span>
              <span class="muted">{text.windowOf(showCount(data().window_seconds))}</span>
              <Show when={data().evicted > 0}>
                <span class="muted">{text.evicted(showCount(data().evicted))}</span>
              </Show>
            </div>
            <div class="figures-narrow">
              <RungFigures of={data()} />
            </div>
          </>
        )}
      </Read>
      {/* what could not be read is said once, above */}
      <Show when={props.of.data() !== undefined}>
        <Card
          isFlush
          title={text.topClients}
          actions={
            <>
              <Unlisted of={source} />
              <RungSelect chosen={rung()} onChoose={(value) => setSearch({ rung: value })} />
            </>
          }
        >
          <Table
            label={text.topClients}
            columns={columns}
            of={source}
            keyOf={({ address }) => address}
            chosen={props.chosen}
            onOpen={({ address }) => props.onOpen(address)}
            isLive
            empty={rung() === '' ? text.noClients : text.noneOfRung}
            emptyAbout={text.noClientsAbout}
          />
        </Card>
      </Show>
    </>
  );
}
