// What was said to be no secret, and taking it back.
import { type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { call, type Item } from '../../client/http.js';
import { showMoment } from '../../client/moments.js';
import { createPagedList } from '../../client/pages.js';
import { Button, Foreign } from '../../kit/basics.js';
import { tell } from '../../kit/overlays.js';
import { ListCard } from '../../kit/table/list-card.js';
import type { TableColumn } from '../../kit/table/table.js';
import { allowedText as text } from '../../texts/vm/records/deduplications.js';

type Entry = Item<'GET /api/v1/secrets/allowlist'>;

const columns: readonly TableColumn<Entry>[] = [
  { title: text.kind, cell: ({ kind }) => kind },
  { title: text.value, class: 'mono', cell: ({ value }) => <Foreign text={value} max={120} /> },
  { title: text.application, cell: ({ application_id: id }) => id ?? text.every },
  { title: text.reason, cell: ({ reason }) => <Foreign text={reason} max={200} /> },
  { title: text.until, cell: ({ expires_at: at }) => showMoment(at) },
];

export function AllowedSecrets(props: { readonly mayEdit: boolean }): JSX.Element {
  const list = createPagedList('GET /api/v1/secrets/allowlist', () => ({}));
  const action = createAction();
  const remove = async (id: string): Promise<void> => {
    if (!(await action.run(() => call('DELETE /api/v1/secrets/allowlist/{id}', { params: { id } })))) {
      tell(action.problem() ?? '', true);
      return;
    }
    tell(text.removed);
    list.reload();
  };
  const withRemoval = (): readonly TableColumn<Entry>[] => [
    ...columns,
    {
      title: text.remove,
      cell: ({ id }) => (
        <Button isSmall aria-label={text.removeOne(id)} isBusy={action.isBusy()} onClick={() => void remove(id)}>
          {text.remove}
        </Button>
      ),
    },
  ];
  return (
    <ListCard
      title={text.title}
      label={text.title}
      list={list}
      columns={props.mayEdit ? withRemoval() : columns}
      keyOf={({ id }) => id}
      empty={text.none}
    />
  );
}
