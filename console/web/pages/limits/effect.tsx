// What a limit that is being written would have limited in the last hour, and how complete the record of it is.
import { createEffect, createSignal, Match, on, onCleanup, Show, Switch, type JSX } from 'solid-js';
import type { Reply } from '../../client/http.js';
import { showCount, showMoment } from '../../client/moments.js';
import { createQuery } from '../../client/query.js';
import { limitsText as text } from '../../texts/setup/limits.js';
import { effectBody, type LimitForm } from './limit-values.js';

type Effects = Reply<'GET /api/rate-limits/effect'>;

const typingMs = 350;
const everyMs = 15_000;

export function Completeness(props: { readonly of: Effects }): JSX.Element {
  return (
    <span class="small faint">
      <Show when={props.of.is_cut}>{text.cut(showCount(props.of.records), showMoment(props.of.from, true))} </Show>
      {props.of.left_out > 0 ? text.sampled(showCount(props.of.left_out)) : props.of.is_cut ? '' : text.complete}
    </span>
  );
}

function saysOf({ limits }: Effects): string {
  const { matched, limited, clients } = limits[0] ?? {};
  if (matched == null || matched === 0) return text.effectEmpty;
  return limited == null || limited === 0
    ? text.effectNone(showCount(matched))
    : text.effect(showCount(limited), showCount(matched), showCount(clients ?? 0));
}

export function EffectOf(props: { readonly form: LimitForm }): JSX.Element {
  const body = () => effectBody(props.form);
  const [asked, setAsked] = createSignal(body());
  createEffect(
    on(
      () => JSON.stringify(body()),
      () => {
        const timer = setTimeout(() => setAsked(body()), typingMs);
        onCleanup(() => clearTimeout(timer));
      },
    ),
  );
  const effect = createQuery(
    'POST /api/rate-limits/effect',
    () => {
      const wanted = asked();
      return wanted === null ? null : { body: wanted };
    },
    { everyMs },
  );
  return (
    <div class="notice" role="status">
      <Switch fallback={<span class="muted">{text.effectReading}</span>}>
        <Match when={props.form.kind === 'zone' && props.form.countedBy === 'header'}>
          <span class="muted">{text.notCountableAbout}</span>
        </Match>
        <Match when={asked() === null}>
          <span class="muted">{text.effectWaits}</span>
        </Match>
        <Match when={effect.problem()}>{(problem) => <span>{problem().message}</span>}</Match>
        <Match when={effect.isAnswered() ? effect.data() : undefined}>
          {(data) => (
            <>
              <strong>{saysOf(data())}</strong>
              <Completeness of={data()} />
            </>
          )}
        </Match>
      </Switch>
    </div>
  );
}
