import { A } from '@solidjs/router';
import { createSignal, For, Show, type JSX } from 'solid-js';
import { call, Refused, type Item } from '../../client/http.js';
import { showMoment } from '../../client/moments.js';
import { createPagedList } from '../../client/pages.js';
import { mayAs } from '../../client/session.js';
import { Badge, Button, Card, Empty, Foreign, Loading, Notice } from '../../kit/basics.js';
import { Switch } from '../../kit/form.js';
import { tell, tellProblem } from '../../kit/overlays.js';

type Ban = Item<'GET /api/bans'>;

function BanTable(props: { readonly bans: readonly Ban[]; readonly onLift: (ban: Ban) => void }): JSX.Element {
  return (
    <div class="table-scroll">
      <table class="table">
        <thead>
          <tr>
            <th>Client</th>
            <th>State</th>
            <th>Why</th>
            <th class="num">Offence</th>
            <th>Since</th>
            <th>Ends</th>
            <th>
              <span class="visually-hidden">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          <For each={props.bans}>
            {(ban) => (
              <tr>
                <td class="mono">{ban.network}</td>
                <td>
                  <Badge tone={ban.state === 'active' ? 'danger' : 'neutral'}>{ban.state}</Badge>
                </td>
                <td>
                  <Foreign text={ban.reason} max={160} />{' '}
                  <A class="small" href={`/soc?request_id=${ban.request_id}`}>
                    its request
                  </A>
                </td>
                <td class="num">{ban.offence}</td>
                <td class="nums">{showMoment(ban.banned_at)}</td>
                <td class="nums">{showMoment(ban.lifted_at ?? ban.expires_at)}</td>
                <td>
                  <Show when={ban.state === 'active' && mayAs('operator')}>
                    <Button isSmall onClick={() => props.onLift(ban)}>
                      Unban
                    </Button>
                  </Show>
                </td>
              </tr>
            )}
          </For>
        </tbody>
      </table>
    </div>
  );
}

/** Clients that were banned because limits refused them again and again. */
export function Bans(): JSX.Element {
  const [isAll, setAll] = createSignal(false);
  const list = createPagedList('GET /api/bans', () => ({ state: isAll() ? ('all' as const) : ('active' as const) }));
  const lift = async ({ network }: Ban): Promise<void> => {
    try {
      await call('DELETE /api/bans', { query: { network } });
      tell(`${network} is let in again on all nodes.`);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      tellProblem(error);
    }
    list.reload();
  };
  return (
    <Card
      isFlush
      title="Automatic bans"
      actions={<Switch label="With those that ended" isOn={isAll()} onChange={setAll} />}
    >
      <Show when={list.problem()}>{(problem) => <Notice tone="danger">{problem().message}</Notice>}</Show>
      <Show
        when={list.items().length > 0}
        fallback={
          <Show when={!list.isLoading()} fallback={<Loading />}>
            <Empty title="Nobody is banned" />
          </Show>
        }
      >
        <BanTable bans={list.items()} onLift={(ban) => void lift(ban)} />
      </Show>
    </Card>
  );
}
