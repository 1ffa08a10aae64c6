// Who may log in, and what each may do: people, roles of one's own, and what every role may.
import { useSearchParams } from '@solidjs/router';
import { Match, Show, Switch, type JSX } from 'solid-js';
import { mayAs } from '../../../client/session.js';
import { PageHead, Tabs } from '../../../kit/basics.js';
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

export function Access(): JSX.Element {
  const [search, setSearch] = useSearchParams();
  const tab = (): TabName => tabs.find(([name]) => name === search['view'])?.[0] ?? 'people';
  return (
    <>
      <PageHead title={words.users} about={words.usersAbout} />
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
