// Every question to the model with what was sent, for those who manage the assistant.
import { createEffect, on, Show, type JSX } from 'solid-js';
import type { Item } from '../../client/http.js';
import { showCount, showMoment } from '../../client/moments.js';
import { createPagedList } from '../../client/pages.js';
import { Badge, Foreign, ForeignLines, Pairs } from '../../kit/basics.js';
import { Overlay } from '../../kit/overlays.js';
import { createChosen, ListCard } from '../../kit/table/list-card.js';
import type { TableColumn } from '../../kit/table/table.js';
import { assistantText as text } from '../../texts/vm/models/assistant.js';

type Call = Item<'GET /api/v1/assistant/calls'>;
const textMax = 60_000;

const Outcome = (props: { readonly of: Call['ok'] }): JSX.Element => (
  <Badge tone={props.of === true ? 'good' : props.of === false ? 'warn' : 'neutral'}>
    {props.of === true ? text.answered : props.of === false ? text.failed : text.asking}
  </Badge>
);

const columns: readonly TableColumn<Call>[] = [
  { title: text.when, class: 'nums', cell: ({ created_at: at }) => showMoment(at) },
  { title: text.by, cell: ({ asked_by: who }) => <Foreign text={who} max={80} /> },
  { title: text.what, class: 'mono', cell: ({ about }) => about },
  { title: text.model, cell: ({ model }) => <Foreign text={model || '–'} max={60} /> },
  { title: text.outcome, cell: ({ ok }) => <Outcome of={ok} /> },
];

/** Read anew when `round` changes. */
export function Calls(props: { readonly round: number }): JSX.Element {
  const list = createPagedList('GET /api/v1/assistant/calls', () => ({}));
  createEffect(on(() => props.round, list.reload, { defer: true }));
  const [chosen, choose] = createChosen('question');
  const opened = (): Call | undefined => list.items().find(({ id }) => id === chosen());
  return (
    <>
      <ListCard
        title={text.calls}
        label={text.calls}
        list={list}
        columns={columns}
        keyOf={({ id }) => id}
        onOpen={({ id }) => choose(id)}
        chosen={chosen()}
        empty={text.noCalls}
        emptyAbout={text.noCallsAbout}
      />
      <Overlay isOpen={opened() !== undefined} look="drawer" title={text.call} onClose={() => choose(null)}>
        <Show when={opened()}>
          {(one) => (
            <Pairs
              of={[
                [text.when, showMoment(one().created_at)],
                [text.by, <Foreign text={one().asked_by} max={200} />],
                [text.redaction, text.redactions[one().redaction]],
                [text.outcome, <Outcome of={one().ok} />],
                [text.reason, <Foreign text={one().reason || '–'} max={500} />],
                [text.took, one().took_ms === null ? '–' : text.milliseconds(showCount(one().took_ms ?? 0))],
                [text.sent, <ForeignLines text={one().sent} max={textMax} />],
                [text.came, <ForeignLines text={one().answered || '–'} max={textMax} />],
              ]}
            />
          )}
        </Show>
      </Overlay>
    </>
  );
}
