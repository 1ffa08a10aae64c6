// Attack chains: how findings become an attack together, as pictures and as a table, and what to fix first.
import { useSearchParams } from '@solidjs/router';
import { createSignal, For, Match, Show, Switch, type JSX } from 'solid-js';
import { linkTo, type Reply } from '../../client/http.js';
import { showCount } from '../../client/moments.js';
import { createQuery } from '../../client/query.js';
import { Badge, Button, Card, Empty, Figure, Foreign, PageHead, Tabs } from '../../kit/basics.js';
import { SelectField, Switch as Toggle } from '../../kit/form.js';
import { Read } from '../../kit/page-state.js';
import { Table, type TableColumn } from '../../kit/table/table.js';
import { ofQuery } from '../../kit/table/table-source.js';
import { chainsText as words } from '../../texts/vm/chains.js';
import { ownGraphText as ownText } from '../../texts/vm/models/own-graph.js';
import { vulnText as text } from '../../texts/vm/vulnerabilities.js';
import { ChainPicture, Proof, type Chain } from './chain-picture.js';
import { FixFirst, type Scope } from './chain/fix-first.js';
import { ChainHistory } from './chain/history.js';
import { Topology } from './chain/topology.js';
import { WhatCounts } from './chain/what-counts.js';
import { createApplications, plain } from './words.js';

type Chains = Reply<'GET /api/v1/graph/attack-chains'>;
type TabName = 'picture' | 'table' | 'fix' | 'history' | 'rules' | 'topology';

const tabs: readonly (readonly [TabName, string])[] = [
  ['picture', text.picture],
  ['table', text.table],
  ['fix', text.fixFirst],
  ['history', words.history],
  ['rules', words.whatCounts],
  ['topology', ownText.topology],
];
/** Pictures are drawn so many at a time. */
const atOnce = 20;

const besideToxic = ({ cross_service: across, lateral_movement: lateral }: Chains['stats']): string | undefined =>
  across + lateral === 0 ? undefined : text.besideToxic(showCount(across), showCount(lateral));

function Figures(props: { readonly of: Chains['stats'] }): JSX.Element {
  return (
    <div class="grid grid-4">
      <Figure
        label={text.chains}
        value={showCount(props.of.chains)}
        note={`${text.highestChainRisk}: ${props.of.max_chain_risk}`}
      />
      <Figure label={text.dangerous} value={showCount(props.of.danger_chains)} />
      <Figure label={text.provenAtRuntime} value={showCount(props.of.runtime_proven_chains)} />
      <Figure label={text.toxic} value={showCount(props.of.toxic_combinations)} note={besideToxic(props.of)} />
    </div>
  );
}

function Pictures(props: { readonly of: Chains }): JSX.Element {
  const [shown, setShown] = createSignal(atOnce);
  const total = (): number => props.of.chains.length;
  return (
    <div class="stack">
      <For
        each={props.of.chains.slice(0, shown())}
        fallback={
          <Card>
            <Empty title={text.noChains}>{text.noChainsAbout}</Empty>
          </Card>
        }
      >
        {(chain) => <ChainPicture of={chain} />}
      </For>
      <Show when={total() > 0}>
        <p class="faint small" role="status">
          {text.chainsShown(Math.min(shown(), total()), total())}
          <Show when={props.of.stats.chains > total()}> {text.listCut(total(), props.of.stats.chains)}</Show>
        </p>
      </Show>
      <Show when={shown() < total()}>
        <div>
          <Button onClick={() => setShown((count) => count + atOnce)}>{text.showMore}</Button>
        </div>
      </Show>
    </div>
  );
}

const chainColumns: readonly TableColumn<Chain>[] = [
  { title: text.score, isNumber: true, sortBy: ({ score }) => score, cell: ({ score }) => String(score) },
  {
    title: text.chain,
    cell: (chain) => (
      <div class="stack tight">
        <Foreign text={chain.name} max={300} />
        <span class="small faint">
          <Foreign text={chain.hops.map(({ title }) => title).join(' → ')} max={400} />
        </span>
      </div>
    ),
  },
  { title: text.kind, sortBy: ({ kind }) => kind, cell: ({ kind }) => <Badge>{plain(kind)}</Badge> },
  { title: text.hops, isNumber: true, sortBy: ({ hops }) => hops.length, cell: ({ hops }) => String(hops.length) },
  {
    title: words.dangerous,
    sortBy: ({ danger }) => (danger ? 1 : 0),
    cell: ({ danger }) => (danger ? <Badge tone="danger">{text.danger}</Badge> : '–'),
  },
  { title: text.proof, sortBy: (chain) => chain.proven_hops, cell: (chain) => <Proof of={chain} /> },
];

const formats = Object.entries(ownText.formats) as readonly (readonly [keyof typeof ownText.formats, string])[];

function Saving(props: { readonly query: Scope }): JSX.Element {
  return (
    <p class="row wrap small">
      <span class="muted">{ownText.exportAs}</span>
      <For each={formats}>
        {([format, title]) => (
          <a href={linkTo('GET /api/v1/graph/attack-chains/export', { ...props.query, format })} download="">
            {title}
          </a>
        )}
      </For>
    </p>
  );
}

/** Where the list is shorter than the number above it, it says so. */
function Cut(props: { readonly of: Chains }): JSX.Element {
  return (
    <Show when={props.of.stats.chains > props.of.chains.length}>
      <p class="table-count faint small">{text.listCut(props.of.chains.length, props.of.stats.chains)}</p>
    </Show>
  );
}

export function Chains(): JSX.Element {
  const [search, setSearch] = useSearchParams();
  const applications = createApplications();
  const value = (name: string): string => (typeof search[name] === 'string' ? search[name] : '');
  const query = (): Scope => ({
    ...(value('application_id') === '' ? {} : { application_id: value('application_id') }),
    ...(value('internet_only') === 'true' ? { internet_only: true } : {}),
  });
  const chains = createQuery('GET /api/v1/graph/attack-chains', () => ({ query: query() }));
  const tab = (): TabName => tabs.find(([name]) => name === value('view'))?.[0] ?? 'picture';
  return (
    <>
      <PageHead title={text.chains} about={text.chainsAbout}>
        <Toggle
          label={text.internetOnly}
          isOn={value('internet_only') === 'true'}
          onChange={(isOn) => setSearch({ internet_only: isOn ? 'true' : '' })}
        />
      </PageHead>
      <div class="narrow-grid">
        <SelectField
          label={text.application}
          value={value('application_id')}
          options={applications.options(text.anyApplication)}
          onChange={(id) => setSearch({ application_id: id })}
        />
      </div>
      <Read of={chains}>{(data) => <Figures of={data().stats} />}</Read>
      <Saving query={query()} />
      <Tabs label={text.chains} tabs={tabs} chosen={tab()} onChoose={(view) => setSearch({ view })} />
      <Switch>
        <Match when={tab() === 'picture'}>
          <Show when={chains.data()}>{(data) => <Pictures of={data()} />}</Show>
        </Match>
        <Match when={tab() === 'table'}>
          <Card isFlush>
            <Table
              label={text.chains}
              columns={chainColumns}
              of={ofQuery(chains, (data) => data.chains)}
              keyOf={({ id }) => id}
              below={(chain) => (value('chain') === chain.id ? <ChainPicture of={chain} /> : null)}
              onOpen={({ id }) => setSearch({ chain: value('chain') === id ? '' : id })}
              chosen={value('chain')}
              empty={text.noChains}
              emptyAbout={text.noChainsAbout}
            />
            <Show when={chains.data()}>{(data) => <Cut of={data()} />}</Show>
          </Card>
        </Match>
        <Match when={tab() === 'fix'}>
          <FixFirst query={query()} />
        </Match>
        <Match when={tab() === 'rules'}>
          <WhatCounts />
        </Match>
        <Match when={tab() === 'topology'}>
          <Topology application={value('application_id')} />
        </Match>
        <Match when={tab() === 'history'}>
          <ChainHistory applications={applications} application={value('application_id')} />
        </Match>
      </Switch>
    </>
  );
}
