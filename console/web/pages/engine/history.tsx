// Verdicts that were stored, the newest first, of one client or of one kind.
import { useSearchParams } from '@solidjs/router';
import { createEffect, createMemo, createSignal, on, type JSX } from 'solid-js';
import { showCount, showMoment } from '../../client/moments.js';
import { createPagedList } from '../../client/pages.js';
import { Badge, Button } from '../../kit/basics.js';
import { SelectField, TextField } from '../../kit/form.js';
import { ListCard } from '../../kit/table/list-card.js';
import type { TableColumn } from '../../kit/table/table.js';
import { engineText as text } from '../../texts/engine/engine.js';
import { layerLine, measureOf, rungIn, rungs, rungTones, whomOf, type Brief, type Rung } from './words.js';

const columns: readonly TableColumn<Brief>[] = [
  { title: text.when, class: 'nums', sortBy: ({ at }) => at, cell: ({ at }) => showMoment(at) },
  { title: text.verdict, cell: ({ verdict }) => <Badge tone={rungTones[verdict]}>{text.rungs[verdict]}</Badge> },
  { title: text.risk, isNumber: true, sortBy: ({ risk }) => risk, cell: ({ risk }) => risk },
  { title: text.client, class: 'mono', sortBy: ({ address }) => address, cell: (one) => whomOf(one) },
  { title: text.layerPoints, cell: ({ layers }) => layerLine(layers) },
  {
    title: text.signals,
    isNumber: true,
    sortBy: ({ signals }) => signals.length,
    cell: ({ signals }) => showCount(signals.length),
  },
  { title: text.rounds, isNumber: true, sortBy: ({ rounds }) => rounds, cell: ({ rounds }) => showCount(rounds) },
  { title: text.measure, cell: (one) => measureOf(one) },
  {
    title: text.marked,
    cell: ({ marked }) => (marked === null ? text.nothing : <Badge tone="info">{text.marks[marked]}</Badge>),
  },
];

function Filters(props: {
  readonly address: string;
  readonly rung: Rung | '';
  readonly onSet: (filters: { readonly address?: string; readonly rung?: string }) => void;
}): JSX.Element {
  const [typed, setTyped] = createSignal<string | null>(null);
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    props.onSet({ address: (typed() ?? props.address).trim() });
    setTyped(null);
  };
  return (
    <form class="narrow-grid" role="search" onSubmit={submit}>
      <SelectField
        label={text.rungFilter}
        value={props.rung}
        options={[['', text.everyRung], ...rungs.map((one) => [one, text.rungs[one]] as const)]}
        onChange={(rung) => props.onSet({ rung })}
      />
      <TextField label={text.address} help={text.addressHelp} value={typed() ?? props.address} onInput={setTyped} />
      <div class="row field-button">
        <Button type="submit" icon="search">
          {text.find}
        </Button>
      </div>
    </form>
  );
}

/** `generation` changes when a verdict was marked: the list is read again. */
export function History(props: {
  readonly generation: number;
  readonly chosen: string | null;
  readonly onOpen: (id: string) => void;
}): JSX.Element {
  const [search, setSearch] = useSearchParams();
  const address = (): string => (typeof search['address'] === 'string' ? search['address'] : '');
  const rung = (): Rung | '' => rungIn(search['rung']);
  const question = createMemo(() => {
    const [oneAddress, oneRung] = [address(), rung()];
    return {
      ...(oneAddress === '' ? {} : { address: oneAddress }),
      ...(oneRung === '' ? {} : { verdict: oneRung }),
    };
  });
  const list = createPagedList('GET /api/ai/history', question);
  createEffect(on(() => props.generation, list.reload, { defer: true }));
  const isNarrow = (): boolean => address() !== '' || rung() !== '';
  return (
    <>
      <p class="muted">{text.historyAbout}</p>
      <Filters address={address()} rung={rung()} onSet={setSearch} />
      <ListCard
        label={text.tabs.history}
        list={list}
        columns={columns}
        keyOf={({ id }) => String(id)}
        chosen={props.chosen}
        onOpen={({ id }) => props.onOpen(String(id))}
        empty={isNarrow() ? text.noneOfFilter : text.noVerdicts}
        emptyAbout={text.noVerdictsAbout}
      />
    </>
  );
}
