// The sentence of an event, as the control plane makes it, with what matched marked. What the client wrote goes through
// Foreign: it can be read, and does nothing.
import { createMemo, For, Show, type JSX } from 'solid-js';
import type { Item } from '../../../client/http.js';
import { Badge, Foreign, type Tone } from '../../../kit/basics.js';
import { shareText as words } from '../../../texts/events/share.js';
import { cutAtHits } from './stretches.js';

export type Summary = Item<'GET /api/events'>['summary'];

const tones: Readonly<Record<Summary['severity'], Tone>> = {
  critical: 'danger',
  high: 'danger',
  medium: 'warn',
  low: 'neutral',
  info: 'neutral',
};

export function SummaryBadges(props: { readonly of: Summary }): JSX.Element {
  return (
    <>
      <Badge tone={tones[props.of.severity]}>{props.of.severity}</Badge>
      <Badge>{props.of.category_name}</Badge>
    </>
  );
}

/** `isShort`: for one line of a list, where `text` of the summary is its title. */
export function Sentence(props: { readonly of: Summary; readonly isShort?: boolean }): JSX.Element {
  const max = (): number => (props.isShort === true ? 90 : 400);
  const stretches = createMemo(() => cutAtHits(props.of.value ?? '', props.of.hits));
  return (
    <span class="sentence">
      <Foreign text={props.of.what} max={max()} />
      <Show when={props.of.place}>
        {(place) => (
          <span class="muted">
            {` ${words.in} `}
            {place()}
            <Show when={props.of.name}>
              {(name) => (
                <>
                  {' '}
                  <code>
                    <Foreign text={name()} max={max()} />
                  </code>
                </>
              )}
            </Show>
          </span>
        )}
      </Show>
      <Show when={props.of.value !== null}>
        <span class="muted">: </span>
        <code>
          <For each={stretches()}>
            {({ text, isHit }) => (
              <Show when={isHit} fallback={<Foreign text={text} max={max()} />}>
                <mark>
                  <Foreign text={text} max={max()} />
                </mark>
              </Show>
            )}
          </For>
        </code>
      </Show>
    </span>
  );
}
