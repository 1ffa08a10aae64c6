// What a request meets before the rules see it: the order, what each limit counts, who is banned, which crawlers came.
import { A } from '@solidjs/router';
import { createSignal, For, Match, Show, Switch, type JSX } from 'solid-js';
import { createQuery } from '../../client/query.js';
import { Badge, Card, Empty, PageHead, Tabs } from '../../kit/basics.js';
import { Read } from '../../kit/page-state.js';
import { groupOf } from '../settings/groups.js';
import { Bans } from './bans.js';
import { Bots } from './bots.js';
import { RateLimits } from './rate-limits.js';

type TabName = 'pipeline' | 'limits' | 'bans' | 'bots';

const tabs: readonly (readonly [TabName, string])[] = [
  ['pipeline', 'Order'],
  ['limits', 'Limits'],
  ['bans', 'Bans'],
  ['bots', 'Bots'],
];

/** A setting's place in the form. */
function SettingLink(props: { readonly name: string }): JSX.Element {
  const group = (): string => groupOf(props.name)?.key ?? 'other';
  return (
    <A class="mono small" href={`/admin/settings/${group()}#${props.name}`}>
      {props.name}
    </A>
  );
}

function Pipeline(): JSX.Element {
  const pipeline = createQuery('GET /api/pipeline');
  return (
    <Read of={pipeline}>
      {(data) => (
        <Card title="What every request meets, in this order">
          <ol class="steps">
            <For each={data().stages} fallback={<Empty title="No stage is told" />}>
              {(stage) => (
                <li>
                  <div class="stack tight">
                    <div class="row wrap">
                      <strong>{stage.name}</strong>
                      <Badge>{stage.kind}</Badge>
                      <Badge tone="info">{stage.applies_to === 'all' ? 'all sites' : 'protected sites'}</Badge>
                    </div>
                    <span class="muted">{stage.description}</span>
                    <Show when={stage.refuses}>
                      <span class="small faint">Refuses with {stage.refuses}</span>
                    </Show>
                    <div class="row wrap">
                      <For each={stage.settings}>{(name) => <SettingLink name={name} />}</For>
                    </div>
                  </div>
                </li>
              )}
            </For>
          </ol>
        </Card>
      )}
    </Read>
  );
}

export function Gates(): JSX.Element {
  const [tab, setTab] = createSignal<TabName>('pipeline');
  return (
    <>
      <PageHead
        title="Limits and bots"
        about={
          <>
            Between the connection and the rules: rates, floods, bans, site authentication, challenges, bots. They are
            set under <A href="/admin/settings/rates">Settings</A>.
          </>
        }
      />
      <Tabs label="Limits and bots" tabs={tabs} chosen={tab()} onChoose={setTab} />
      <Switch>
        <Match when={tab() === 'pipeline'}>
          <Pipeline />
        </Match>
        <Match when={tab() === 'limits'}>
          <RateLimits />
        </Match>
        <Match when={tab() === 'bans'}>
          <Bans />
        </Match>
        <Match when={tab() === 'bots'}>
          <Bots />
        </Match>
      </Switch>
    </>
  );
}
