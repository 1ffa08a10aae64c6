// Notices of the vulnerability manager: channels, routes to them, and the deliveries.
import { useSearchParams } from '@solidjs/router';
import { Match, Show, Switch, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { call, type Item } from '../../client/http.js';
import { showMoment } from '../../client/moments.js';
import { createPagedList } from '../../client/pages.js';
import { createVmAccess } from '../../client/vm-access.js';
import { Badge, Button, Foreign, PageHead, Tabs } from '../../kit/basics.js';
import { tellProblem } from '../../kit/overlays.js';
import { ListCard } from '../../kit/table/list-card.js';
import type { TableColumn } from '../../kit/table/table.js';
import { notificationsText as text } from '../../texts/resources/notifications.js';
import { Channels } from './channels.js';
import { NoticeRoutes } from './routes.js';
import { Webhooks } from './webhooks.js';

type Delivery = Item<'GET /api/v1/notifications/deliveries'>;
const tones = { queued: 'neutral', sent: 'good', failed: 'danger' } as const;

function Deliveries(props: { readonly mayEdit: boolean }): JSX.Element {
  const list = createPagedList('GET /api/v1/notifications/deliveries', () => ({}));
  const action = createAction();
  const again = async (id: string): Promise<void> => {
    const isDone = await action.run(() =>
      call('POST /api/v1/notifications/deliveries/{id}/redeliver', { params: { id } }),
    );
    if (!isDone) tellProblem(action.problem());
    list.reload();
  };
  const columns: readonly TableColumn<Delivery>[] = [
    { title: text.when, cell: ({ created_at: at }) => showMoment(at) },
    {
      title: text.what,
      cell: ({ type, title }) => <Foreign text={title === null ? type : `${type}: ${title}`} max={160} />,
    },
    { title: text.attempts, class: 'nums', cell: ({ attempts }) => String(attempts) },
    { title: text.state, cell: ({ state }) => <Badge tone={tones[state]}>{text.deliveryStates[state]}</Badge> },
    {
      title: text.lastError,
      cell: (row) => (
        <span class="row wrap">
          <Foreign text={row.last_error ?? '–'} max={200} />
          <Show when={props.mayEdit && row.state === 'failed'}>
            <Button isSmall onClick={() => void again(row.id)}>
              {text.again}
            </Button>
          </Show>
        </span>
      ),
    },
  ];
  return (
    <ListCard
      label={text.view.deliveries}
      list={list}
      columns={columns}
      keyOf={({ id }) => id}
      empty={text.noDeliveries}
    />
  );
}

const tabs = [
  ['channels', text.view.channels],
  ['routes', text.view.routes],
  ['deliveries', text.view.deliveries],
  ['webhooks', text.view.webhooks],
] as const;

export function Notifications(): JSX.Element {
  const [search, setSearch] = useSearchParams();
  const access = createVmAccess();
  const mayEdit = (): boolean => access.may('manage_notifications');
  const tab = () => tabs.find(([name]) => name === search['view'])?.[0] ?? 'channels';
  return (
    <>
      <PageHead title={text.title} about={text.about} />
      <Tabs label={text.views} tabs={tabs} chosen={tab()} onChoose={(view) => setSearch({ view })} />
      <Switch>
        <Match when={tab() === 'channels'}>
          <Channels mayEdit={mayEdit()} />
        </Match>
        <Match when={tab() === 'routes'}>
          <NoticeRoutes mayEdit={mayEdit()} />
        </Match>
        <Match when={tab() === 'deliveries'}>
          <Deliveries mayEdit={mayEdit()} />
        </Match>
        <Match when={tab() === 'webhooks'}>
          <Webhooks mayEdit={access.may('manage_webhooks')} />
        </Match>
      </Switch>
    </>
  );
}
