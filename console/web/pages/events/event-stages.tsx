// The road of one request: each stage with what it decided, and how long the inspection took.
import { A } from '@solidjs/router';
import { createMemo, For, Show, type JSX } from 'solid-js';
import { showMicroseconds } from '../../client/moments.js';
import { createQuery } from '../../client/query.js';
import { Badge, Foreign, type Tone } from '../../kit/basics.js';
import { Read } from '../../kit/page-state.js';
import { eventsText as text } from '../../texts/events.js';
import { messageOfRule, type EventDetails } from './event-text.js';
import { onceEach, outcomesOf, type StageOutcome, type StageState } from './stages.js';

const tones: Readonly<Record<StageState, Tone>> = {
  passed: 'good',
  decided: 'danger',
  noticed: 'warn',
  unreached: 'neutral',
  unknown: 'neutral',
};

/** Stages that let it pass without a word stand together; what said something stands alone. */
function grouped(all: readonly StageOutcome[]): readonly (readonly StageOutcome[])[] {
  const groups: StageOutcome[][] = [];
  for (const one of all) {
    const last = groups.at(-1);
    const isPlain = one.rules.length === 0 && one.state !== 'decided';
    if (last !== undefined && isPlain && last[0]?.state === one.state && last[0].rules.length === 0) last.push(one);
    else groups.push([one]);
  }
  return groups;
}

export function EventStages(props: { readonly details: EventDetails }): JSX.Element {
  const pipeline = createQuery('GET /api/pipeline');
  const groups = createMemo(() => grouped(onceEach(outcomesOf(pipeline.data()?.stages ?? [], props.details))));
  return (
    <section class="stack tight">
      <h3>{text.road}</h3>
      <Read of={pipeline}>
        {() => (
          <ol class="road">
            <For each={groups()}>
              {(group) => (
                <li class={`is-${group[0]?.state ?? 'unknown'}`}>
                  <Badge tone={tones[group[0]?.state ?? 'unknown']}>{text.stages[group[0]?.state ?? 'unknown']}</Badge>
                  <span>{group.map(({ name }) => name).join(', ')}</span>
                  <For each={group[0]?.rules ?? []}>
                    {(id) => (
                      <span class="small rule-link">
                        <A class="mono" href={`/soc?rule_id=${id}`}>
                          {id}
                        </A>{' '}
                        <span class="faint">
                          <Foreign text={messageOfRule(id, props.details)} max={120} />
                        </span>
                      </span>
                    )}
                  </For>
                </li>
              )}
            </For>
          </ol>
        )}
      </Read>
      <p class="small faint">
        <Show when={(props.details.inspection_us ?? 0) > 0}>
          {text.inspectionOfAll(showMicroseconds(props.details.inspection_us ?? 0))}{' '}
        </Show>
        {text.noTimes}
      </p>
    </section>
  );
}
