// The path of a request before the rules see it: its stages in their order, and what each has decided.
import { A, Navigate, useSearchParams } from '@solidjs/router';
import { For, Show, type JSX } from 'solid-js';
import { showCount } from '../../client/moments.js';
import { createQuery } from '../../client/query.js';
import { Badge, Card, Empty, PageHead } from '../../kit/basics.js';
import { Read } from '../../kit/page-state.js';
import { groupOf } from '../settings/groups.js';
import { protectionText as text } from '../../texts/protection.js';

/** Views that this page had have become pages; links to them go on working. */
const moved: Readonly<Record<string, string>> = {
  limits: '/protection/limits?view=nodes',
  attack: '/protection/attack-mode',
  bots: '/protection/bots',
};

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
  const [search] = useSearchParams();
  const elsewhere = (): string | undefined => moved[String(search['view'] ?? '')];
  return (
    <Show
      when={elsewhere()}
      fallback={
        <>
          <PageHead
            title={text.requestPath}
            about={
              <>
                {text.betweenConnectionRulesRates}
                <A href="/admin/settings/rates">{text.settings}</A>.
              </>
            }
          />
          <Pipeline />
        </>
      }
    >
      {(href) => <Navigate href={href()} />}
    </Show>
  );
}
