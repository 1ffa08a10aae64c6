// What a request meets before the rules see it: the order, what each limit counts, attack mode, which crawlers came.
import { A, useSearchParams } from '@solidjs/router';
import { For, Match, Show, Switch, type JSX } from 'solid-js';
import { showCount } from '../../client/moments.js';
import { createQuery } from '../../client/query.js';
import { Badge, Card, Empty, PageHead, Tabs } from '../../kit/basics.js';
import { Read } from '../../kit/page-state.js';
import { groupOf } from '../settings/groups.js';
import { AttackModeTab } from './attack-mode.js';
import { Bots } from './bots.js';
import { RateLimits } from './rate-limits.js';
import { protectionText as text } from '../../texts/protection.js';

type TabName = 'pipeline' | 'limits' | 'attack' | 'bots';

const tabs: readonly (readonly [TabName, string])[] = [
  ['pipeline', text.order],
  ['limits', text.limits2],
  ['attack', text.attackMode],
  ['bots', text.bots],
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
  const pipeline = createQuery('GET /api/pipeline', () => ({}), { everyMs: 10_000 });
  return (
    <Read of={pipeline}>
      {(data) => (
        <Card title={text.whatEveryRequestMeets} actions={<span class="small faint">{text.countedSince}</span>}>
          <ol class="steps">
            <For each={data().stages} fallback={<Empty title={text.noStageTold} />}>
              {(stage) => (
                <li>
                  <div class="stack tight">
                    <div class="row wrap">
                      <strong>{stage.name}</strong>
                      <Badge>{stage.kind}</Badge>
                      <Badge tone="info">{stage.applies_to === 'all' ? text.allSites : text.protectedSites}</Badge>
                      <For each={stage.decisions}>
                        {(one) => (
                          <Badge tone={one.outcome === 'enforced' ? 'danger' : 'warn'}>
                            {text.decidedTimes(one.decision, one.outcome, showCount(one.count))}
                          </Badge>
                        )}
                      </For>
                    </div>
                    <p class="muted sentence">{stage.description}</p>
                    <Show when={stage.refuses}>
                      <span class="small faint">{text.refusesWithOf(stage.refuses)}</span>
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
  const [search, setSearch] = useSearchParams();
  const tab = (): TabName => tabs.find(([name]) => name === search['view'])?.[0] ?? 'pipeline';
  return (
    <>
      <PageHead
        title={text.limitsBots}
        about={
          <>
            {text.betweenConnectionRulesRates}
            <A href="/admin/settings/rates">{text.settings}</A>.
          </>
        }
      />
      <Tabs label={text.limitsBots} tabs={tabs} chosen={tab()} onChoose={(view) => setSearch({ view })} />
      <Switch>
        <Match when={tab() === 'pipeline'}>
          <Pipeline />
        </Match>
        <Match when={tab() === 'limits'}>
          <RateLimits />
        </Match>
        <Match when={tab() === 'attack'}>
          <AttackModeTab />
        </Match>
        <Match when={tab() === 'bots'}>
          <Bots />
        </Match>
      </Switch>
    </>
  );
}
