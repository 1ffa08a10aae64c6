// The gates that an organisation writes: for which applications, what they ask, and whether they stop or warn.
import { Show, type JSX } from 'solid-js';
import { call, type Item } from '../../client/http.js';
import { createPagedList } from '../../client/pages.js';
import { Badge, Button, Foreign } from '../../kit/basics.js';
import { createEditedRows, EditedRowDialogs } from '../../kit/table/edited-rows.js';
import { ListCard } from '../../kit/table/list-card.js';
import type { TableColumn } from '../../kit/table/table.js';
import { gatesText as text } from '../../texts/vm/gates.js';
import { sentenceOf } from '../governance/predicate.js';
import { GateForm } from './gate-form.js';

export type Gate = Item<'GET /api/v1/gate/definitions'>;
export type Condition = NonNullable<Gate['conditions']>[number];

const saidOf = ({ name, metric, predicate, op = 'lte', threshold = 0 }: Condition): string =>
  text.saysCondition(
    name ?? (metric === undefined ? sentenceOf(predicate) : metric.replaceAll('_', ' ')),
    text.operators[op],
    threshold,
  );

const columnsOf = (
  mayManage: () => boolean,
  onEdit: (gate: Gate) => void,
  onDelete: (gate: Gate) => void,
): readonly TableColumn<Gate>[] => [
  { title: text.position, isNumber: true, cell: ({ position }) => String(position ?? '–') },
  { title: text.name, cell: ({ name }) => <Foreign text={name} max={120} /> },
  {
    title: text.holdsFor,
    cell: ({ selector }) => <Foreign text={selector === null ? text.everyOne : sentenceOf(selector)} max={300} />,
  },
  {
    title: text.asks,
    cell: ({ conditions }) => <Foreign text={(conditions ?? []).map(saidOf).join('; ')} max={400} />,
  },
  {
    title: text.mode,
    cell: ({ mode }) => (
      <Badge tone={mode === 'warn' ? 'warn' : 'danger'}>{mode === 'warn' ? text.warnOnly : text.enforce}</Badge>
    ),
  },
  {
    title: text.isOn,
    cell: ({ enabled }) => (
      <Badge tone={enabled === false ? 'neutral' : 'good'}>{enabled === false ? text.off : text.on}</Badge>
    ),
  },
  {
    title: text.actions,
    isTitleHidden: true,
    cell: (gate) => (
      <Show when={mayManage()}>
        <div class="row">
          <Button isSmall onClick={() => onEdit(gate)}>
            {text.edit}
          </Button>
          <Button isSmall onClick={() => onDelete(gate)}>
            {text.delete}
          </Button>
        </div>
      </Show>
    ),
  },
];

export function Definitions(props: { readonly mayManage: boolean }): JSX.Element {
  const list = createPagedList('GET /api/v1/gate/definitions', () => ({ sort: 'position' as const }));
  const rows = createEditedRows<Gate>();
  return (
    <>
      <ListCard
        label={text.definitions}
        title={text.definitions}
        actions={
          <Show when={props.mayManage}>
            <Button isSmall look="primary" icon="plus" onClick={() => rows.edit('new')}>
              {text.newGate}
            </Button>
          </Show>
        }
        list={list}
        columns={columnsOf(() => props.mayManage, rows.edit, rows.askToDelete)}
        keyOf={({ id }) => id}
        empty={text.noGates}
        emptyAbout={text.noGatesAbout}
      />
      <EditedRowDialogs
        of={rows}
        text={text}
        newTitle={text.newGate}
        form={(of, onSaved) => <GateForm of={of} onSaved={onSaved} />}
        deleteTitle={text.deleteGate}
        deleteAbout={text.deleteGateAbout}
        remove={({ id }) => call('DELETE /api/v1/gate/definitions/{id}', { params: { id } })}
        onChanged={() => list.reload()}
      />
    </>
  );
}
