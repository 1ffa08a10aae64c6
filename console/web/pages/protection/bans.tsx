// Clients that were banned because limits refused them again and again, with the numbers and the bans that led there.
import { A } from '@solidjs/router';
import { createSignal, For, Show, type JSX } from 'solid-js';
import { call, Refused, type Item } from '../../client/http.js';
import { showMoment } from '../../client/moments.js';
import { createPagedList } from '../../client/pages.js';
import { mayAs } from '../../client/session.js';
import { Badge, Button, Card, Foreign } from '../../kit/basics.js';
import { Switch } from '../../kit/form.js';
import { tell, tellProblem } from '../../kit/overlays.js';
import { Table, type TableColumn, type TableSource } from '../../kit/table/table.js';
import { ofPages } from '../../kit/table/table-source.js';
import { visibleText } from '../../kit/visible-text.js';
import { protectionText as text } from '../../texts/protection.js';

type Ban = Item<'GET /api/bans'>;

/** What led to it: the limit with its numbers, the request that crossed the line, the bans that made it longer. */
function Why(props: { readonly of: Ban }): JSX.Element {
  return (
    <div class="stack tight">
      <span class="row wrap" title={visibleText(props.of.reason)}>
        <span>
          <Foreign
            text={text.limitedWithin(props.of.threshold, props.of.window_seconds, props.of.zone, props.of.node)}
            max={200}
          />
        </span>
        <A href={`/soc?request_id=${props.of.request_id}`}>{text.itsRequest}</A>
      </span>
      <Show when={props.of.earlier.length > 0}>
        <details class="small">
          <summary>{text.bansBefore(props.of.earlier.length)}</summary>
          <ul class="plain-list">
            <For each={props.of.earlier}>
              {(one) => (
                <li class="row wrap nums">
                  <span>{text.fromUntil(showMoment(one.banned_at), showMoment(one.expires_at))}</span>
                  <A href={`/soc?request_id=${one.request_id}`}>{text.itsRequest}</A>
                </li>
              )}
            </For>
          </ul>
        </details>
      </Show>
    </div>
  );
}

function BanTable(props: { readonly of: TableSource<Ban>; readonly onLift: (ban: Ban) => void }): JSX.Element {
  const columns: readonly TableColumn<Ban>[] = [
    {
      title: text.client,
      sortBy: (ban) => ban.network,
      cell: (ban) => (
        <span class="row wrap">
          <A class="mono" href={`/soc?client_ip=${encodeURIComponent(ban.network.split('/')[0] ?? '')}`}>
            {ban.network}
          </A>
          <Show when={ban.scope === 'prefix'}>
            <Badge>{text.wholeNetwork}</Badge>
          </Show>
        </span>
      ),
    },
    {
      title: text.state,
      cell: (ban) => <Badge tone={ban.state === 'active' ? 'danger' : 'neutral'}>{ban.state}</Badge>,
    },
    { title: text.why, cell: (ban) => <Why of={ban} /> },
    { title: text.offence, isNumber: true, sortBy: (ban) => ban.offence, cell: (ban) => ban.offence },
    { title: text.since, class: 'nums', sortBy: (ban) => ban.banned_at, cell: (ban) => showMoment(ban.banned_at) },
    {
      title: text.ends,
      class: 'nums',
      sortBy: (ban) => ban.lifted_at ?? ban.expires_at,
      cell: (ban) => (
        <>
          {showMoment(ban.lifted_at ?? ban.expires_at)}
          <Show when={ban.lifted_by}>
            {(who) => (
              <div class="small faint">
                <Foreign text={text.liftedBy(who())} max={80} />
              </div>
            )}
          </Show>
        </>
      ),
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
