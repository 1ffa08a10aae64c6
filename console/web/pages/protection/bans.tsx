import { A } from '@solidjs/router';
import { createSignal, Show, type JSX } from 'solid-js';
import { call, Refused, type Item } from '../../client/http.js';
import { showMoment } from '../../client/moments.js';
import { createPagedList } from '../../client/pages.js';
import { mayAs } from '../../client/session.js';
import { Badge, Button, Card, Foreign } from '../../kit/basics.js';
import { Switch } from '../../kit/form.js';
import { tell, tellProblem } from '../../kit/overlays.js';
import { Table, type TableColumn, type TableSource } from '../../kit/table/table.js';
import { ofPages } from '../../kit/table/table-source.js';
import { protectionText as text } from '../../texts/protection.js';

type Ban = Item<'GET /api/bans'>;

function BanTable(props: { readonly of: TableSource<Ban>; readonly onLift: (ban: Ban) => void }): JSX.Element {
  const columns: readonly TableColumn<Ban>[] = [
    { title: text.client, class: 'mono', sortBy: (ban) => ban.network, cell: (ban) => ban.network },
    {
      title: text.state,
      cell: (ban) => <Badge tone={ban.state === 'active' ? 'danger' : 'neutral'}>{ban.state}</Badge>,
    },
    {
      title: text.why,
      cell: (ban) => (
        <>
          <Foreign text={ban.reason} max={160} />{' '}
          <A class="small" href={`/soc?request_id=${ban.request_id}`}>
            {text.itsRequest}
          </A>
        </>
      ),
    },
    { title: text.offence, isNumber: true, sortBy: (ban) => ban.offence, cell: (ban) => ban.offence },
    { title: text.since, class: 'nums', sortBy: (ban) => ban.banned_at, cell: (ban) => showMoment(ban.banned_at) },
    {
      title: text.ends,
      class: 'nums',
      sortBy: (ban) => ban.lifted_at,
      cell: (ban) => showMoment(ban.lifted_at ?? ban.expires_at),
    },
    {
      title: text.actions,
      isTitleHidden: true,
      cell: (ban) => (
        <Show when={ban.state === 'active' && mayAs('operator')}>
          <Button isSmall onClick={() => props.onLift(ban)}>
            {text.unban}
          </Button>
        </Show>
      ),
    },
  ];
  return (
    <Table
      label={text.automaticBans}
      columns={columns}
      of={props.of}
      keyOf={(ban) => `${ban.network} ${ban.banned_at}`}
      empty={text.nobodyBanned}
      emptyAbout={text.nobodyBannedAbout}
    />
  );
}

/** Clients that were banned because limits refused them again and again. */
export function Bans(): JSX.Element {
  const [isAll, setAll] = createSignal(false);
  const list = createPagedList('GET /api/bans', () => ({ state: isAll() ? ('all' as const) : ('active' as const) }));
  const lift = async ({ network }: Ban): Promise<void> => {
    try {
      await call('DELETE /api/bans', { query: { network } });
      tell(text.letAgainOnAll(network));
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      tellProblem(error);
    }
    list.reload();
  };
  return (
    <Card
      isFlush
      title={text.automaticBans}
      actions={<Switch label={text.thoseEnded} isOn={isAll()} onChange={setAll} />}
    >
      <BanTable of={ofPages(list)} onLift={(ban) => void lift(ban)} />
    </Card>
  );
}
