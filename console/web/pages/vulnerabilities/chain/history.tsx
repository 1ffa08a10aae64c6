// Which chains are new, which are gone, and since when the others stand.
import { A, useSearchParams } from '@solidjs/router';
import type { JSX } from 'solid-js';
import type { Item, Query } from '../../../client/http.js';
import { showMoment } from '../../../client/moments.js';
import { createPagedList } from '../../../client/pages.js';
import { Badge, Foreign } from '../../../kit/basics.js';
import { SelectField } from '../../../kit/form.js';
import { ListCard } from '../../../kit/table/list-card.js';
import type { TableColumn } from '../../../kit/table/table.js';
import { chainsText as words } from '../../../texts/vm/chains.js';
import { vulnText as text } from '../../../texts/vm/vulnerabilities.js';
import { chainAt, plain, type Applications } from '../words.js';

type Seen = Item<'GET /api/v1/graph/history'>;
type State = Seen['state'];

const states: readonly (readonly [State | '', string])[] = [
  ['', words.every],
  ['standing', words.standing],
  ['gone', words.gone],
];

const columnsOf = (applications: Applications): readonly TableColumn<Seen>[] => [
  { title: words.since, class: 'nums', cell: ({ since }) => showMoment(since) },
  {
    title: words.state,
    cell: ({ state }) => <Badge tone={state === 'gone' ? 'good' : 'neutral'}>{words[state]}</Badge>,
  },
  { title: text.score, isNumber: true, cell: ({ score }) => String(score) },
  {
    title: text.chain,
    class: 'reasons',
    cell: ({ chain_id: id, name }) => (
      <A href={chainAt(id)}>
        <Foreign text={name} max={300} />
      </A>
    ),
  },
  { title: text.kind, cell: ({ kind }) => <Badge>{plain(kind)}</Badge> },
  { title: words.dangerous, cell: ({ danger }) => (danger ? <Badge tone="danger">{text.danger}</Badge> : '–') },
  { title: text.application, cell: ({ application_id: id }) => <Foreign text={applications.nameOf(id)} max={80} /> },
  { title: words.goneAt, class: 'nums', cell: ({ gone_at: at }) => showMoment(at) },
];

export function ChainHistory(props: {
  readonly applications: Applications;
  /** Only chains that start there; empty: everywhere. */
  readonly application: string;
}): JSX.Element {
  const [search, setSearch] = useSearchParams();
  const state = (): State | '' => states.find(([name]) => name === search['state'])?.[0] ?? '';
  const question = (): Omit<Query<'GET /api/v1/graph/history'>, 'cursor' | 'limit'> => ({
    ...(props.application === '' ? {} : { application_id: props.application }),
    ...(state() === '' ? {} : { state: state() as State }),
  });
  const list = createPagedList('GET /api/v1/graph/history', question);
  return (
    <>
      <p class="muted">{words.historyAbout}</p>
      <div class="narrow-grid">
        <SelectField
          label={words.state}
          value={state()}
          options={states}
          onChange={(chosen) => setSearch({ state: chosen })}
        />
      </div>
      <ListCard
        label={words.history}
        columns={columnsOf(props.applications)}
        list={list}
        keyOf={(one) => `${one.chain_id} ${one.since} ${one.hop_vuln_ids.join('>')}`}
        empty={words.noHistory}
        emptyAbout={words.noHistoryAbout}
      />
    </>
  );
}
