import { A } from '@solidjs/router';
import { For, Show, type JSX } from 'solid-js';
import { Badge, Foreign, type Tone } from '../../kit/basics.js';
import { highlight, matchedData, partsOfMatch, severityName, type RuleMessage } from './event-text.js';
import { eventsText as words } from '../../texts/events.js';

const toneOf = (severity: string): Tone => {
  const rank = Number(severity);
  if (severity === '') return 'neutral';
  return rank <= 2 ? 'danger' : rank <= 4 ? 'warn' : 'neutral';
};

/** One rule that matched: what it looks for, in which variable, on which bytes. */
export function RuleFinding(props: { readonly message: RuleMessage; readonly isLinked: boolean }): JSX.Element {
  const parts = (): ReturnType<typeof partsOfMatch> => partsOfMatch(props.message.match);
  const hit = (): string | null => matchedData(props.message.data);
  return (
    <article class="card">
      <header>
        <div>
          <div class="row wrap">
            <Show when={props.isLinked} fallback={<span class="mono">{props.message.rule_id}</span>}>
              <A class="mono" href={`/soc?rule_id=${props.message.rule_id}`}>
                {props.message.rule_id}
              </A>
            </Show>
            <Show when={props.message.severity !== ''}>
              <Badge tone={toneOf(props.message.severity)}>{severityName(props.message.severity)}</Badge>
            </Show>
          </div>
          <div>
            <Foreign text={props.message.message} />
          </div>
        </div>
      </header>
      <div class="body stack tight">
        <Show
          when={parts()}
          fallback={
            <div class="code" tabindex="0" role="group" aria-label={words.matchedValue}>
              <Foreign text={props.message.match} />
            </div>
          }
        >
          {(found) => (
            <>
              <div class="small muted">
                <code>
                  <Foreign text={found().variable} />
                </code>
                {words.byOf()}
                <code>@{found().operator}</code>
              </div>
              <div class="code" tabindex="0" role="group" aria-label={words.matchedValue}>
                <For each={highlight(found().value, hit())}>
                  {(stretch) => (
                    <Show when={stretch.isHit} fallback={<Foreign text={stretch.text} />}>
                      <mark>
                        <Foreign text={stretch.text} />
                      </mark>
                    </Show>
                  )}
                </For>
              </div>
            </>
          )}
        </Show>
        <div class="row wrap small faint">
          <span class="mono">
            {props.message.file}:{props.message.line}
          </span>
          <For each={props.message.tags.filter((tag) => /^(attack|paranoia-level)/.test(tag))}>
            {(tag) => <Badge>{tag}</Badge>}
          </For>
        </div>
      </div>
    </article>
  );
}
