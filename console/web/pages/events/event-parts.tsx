// The parts of an event that its own drawer and the page of a share link show alike: what rules saw, and the request.
import { createMemo, For, Show, type JSX } from 'solid-js';
import { Foreign } from '../../kit/basics.js';
import { eventsText as words } from '../../texts/events.js';
import type { EventDetails, RuleMessage } from './event-text.js';
import { RuleFinding } from './rule-finding.js';
import { orderRules } from './sentence/rule-order.js';

/** Rules that say most come first; what says little is folded below. */
export function RulesPart(props: {
  readonly messages: readonly RuleMessage[];
  /** Numbers of rules lead to their events. */
  readonly isLinked?: boolean;
}): JSX.Element {
  const ordered = createMemo(() => orderRules(props.messages));
  const finding = (message: RuleMessage): JSX.Element => (
    <RuleFinding message={message} isLinked={props.isLinked === true} />
  );
  return (
    <section class="stack tight">
      <h3>{words.whatRulesSaw}</h3>
      <For each={ordered().significant} fallback={<span class="faint">{words.noRuleHasLeft}</span>}>
        {finding}
      </For>
      <Show when={ordered().minor.length > 0}>
        <details>
          <summary class="summary">{words.minorRules(ordered().minor.length)}</summary>
          <div class="stack tight">
            <For each={ordered().minor}>{finding}</For>
          </div>
        </details>
      </Show>
    </section>
  );
}

export function RequestPart(props: {
  readonly event: { readonly method: string; readonly uri: string };
  readonly details: EventDetails;
}): JSX.Element {
  const details = (): EventDetails => props.details;
  return (
    <section class="stack tight">
      <h3>{words.request}</h3>
      <div class="code">
        <Foreign text={`${props.event.method} ${props.event.uri} ${details().protocol ?? ''}`} />
        <For each={details().headers ?? []}>
          {([name, value]) => (
            <div>
              <span class="faint">
                <Foreign text={name} />:
              </span>{' '}
              <Show when={value} fallback={<span class="faint">{words.notKept}</span>}>
                {(kept) => <Foreign text={kept()} />}
              </Show>
            </div>
          )}
        </For>
      </div>
      <Show when={details().truncated === true}>
        <span class="small faint">{words.somethingWasTooLong}</span>
      </Show>
    </section>
  );
}
