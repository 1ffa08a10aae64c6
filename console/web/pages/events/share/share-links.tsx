// All links to events, newest first: who made them, how often they were opened, and a button that ends each.
import { createSignal, Show, type JSX } from 'solid-js';
import { createAction } from '../../../client/action.js';
import { call, type Item } from '../../../client/http.js';
import { showMoment } from '../../../client/moments.js';
import { createPagedList } from '../../../client/pages.js';
import { Badge, Button, Foreign, Notice } from '../../../kit/basics.js';
import { Overlay, tell } from '../../../kit/overlays.js';
import { Table, type TableColumn } from '../../../kit/table/table.js';
import { ofPages } from '../../../kit/table/table-source.js';
import { shareText as text } from '../../../texts/events/share.js';

type Share = Item<'GET /api/event-shares'>;

function stateOf({ revoked_at, expires_at }: Share): 'works' | 'revoked' | 'expired' {
  if (revoked_at !== null) return 'revoked';
  return Date.parse(expires_at) <= Date.now() ? 'expired' : 'works';
}

const columns = (revoke: (share: Share) => void): readonly TableColumn<Share>[] => [
  { title: text.event, cell: ({ title }) => <Foreign text={title} max={160} /> },
  { title: text.createdBy, cell: ({ created_by }) => <Foreign text={created_by} max={60} />, isMinor: true },
  { title: text.expires, class: 'nums', cell: ({ expires_at }) => showMoment(expires_at) },
  { title: text.opened, isNumber: true, cell: ({ opened }) => <>{opened}</> },
  {
    title: text.state,
    cell: (share) => (
      <Show when={stateOf(share) === 'works'} fallback={<Badge>{text.states[stateOf(share)]}</Badge>}>
        <Button isSmall onClick={() => revoke(share)} aria-label={text.revokeLink(share.title)}>
          {text.revoke}
        </Button>
      </Show>
    ),
  },
];

export function ShareLinks(): JSX.Element {
  const [isOpen, setOpen] = createSignal(false);
  const list = createPagedList('GET /api/event-shares', () => (isOpen() ? {} : null));
  const action = createAction();
  const revoke = async ({ id }: Share): Promise<void> => {
    if (!(await action.run(() => call('DELETE /api/event-shares/{id}', { params: { id } })))) return;
    tell(text.revoked);
    list.reload();
  };
  return (
    <>
      <Button icon="chain" onClick={() => setOpen(true)}>
        {text.links}
      </Button>
      <Overlay look="drawer" isOpen={isOpen()} title={text.links} onClose={() => setOpen(false)}>
        <div class="stack">
          <p class="muted">{text.linksAbout}</p>
          <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
          <Table
            label={text.links}
            columns={columns((share) => void revoke(share))}
            of={ofPages(list)}
            keyOf={({ id }) => id}
            empty={text.noLinks}
          />
        </div>
      </Overlay>
    </>
  );
}
