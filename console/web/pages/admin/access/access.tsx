// Who may log in, and what each may do: people, roles of one's own, and what every role may.
import { useSearchParams } from '@solidjs/router';
import { Match, Show, Switch, type JSX } from 'solid-js';
import { createQuery } from '../../../client/query.js';
import { showMoment } from '../../../client/moments.js';
import { mayAs } from '../../../client/session.js';
import { Notice, PageHead, Tabs } from '../../../kit/basics.js';
import { adminText as words } from '../../../texts/admin.js';
import { rolesText as text } from '../../../texts/resources/roles.js';
import { Users } from '../users.js';
import { People } from './people.js';
import { Rights } from './rights-tables.js';
import { Roles } from './roles.js';

type TabName = 'people' | 'roles' | 'rights';
const tabs: readonly (readonly [TabName, string])[] = [
  ['people', text.people],
  ['roles', text.own],
  ['rights', text.rights],
];

/** New passwords are compared with less while the breach service does not answer. */
function BreachServiceAway(): JSX.Element {
  const ready = createQuery('GET /api/ready');
  const away = () => {
    const state = ready.data()?.breached_passwords;
    return state?.status === 'away' ? state : null;
  };
  return (
    <Show when={away()}>
      {(state) => <Notice tone="warn">{words.breachServiceAway(showMoment(state().at))}</Notice>}
    </Show>
  );
}

export function Access(): JSX.Element {
  const [search, setSearch] = useSearchParams();
  const tab = (): TabName => tabs.find(([name]) => name === search['view'])?.[0] ?? 'people';
  return (
    <>
      <PageHead title={words.users} about={words.usersAbout} />
      <BreachServiceAway />
      <Tabs label={text.views} tabs={tabs} chosen={tab()} onChoose={(view) => setSearch({ view, q: '' })} />
      <Switch>
        <Match when={tab() === 'people'}>
          <Show when={mayAs('admin')} fallback={<People />}>
            <Users />
          </Show>
        </Match>
        <Match when={tab() === 'roles'}>
          <Roles />
        </Match>
        <Match when={tab() === 'rights'}>
          <Rights />
        </Match>
      </Switch>
    </>
  );
}
