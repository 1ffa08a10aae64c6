// What a rule would have met among the requests that were recorded, counted while it is written.
import { createEffect, createSignal, For, on, onCleanup, Show, type JSX } from 'solid-js';
import { A } from '@solidjs/router';
import { call, Refused, type Reply } from '../../client/http.js';
import { showCount, showMoment } from '../../client/moments.js';
import { Card, Foreign } from '../../kit/basics.js';
import { conditionsText as text } from '../../texts/rules/conditions.js';
import { bodyOf, type CustomRule } from './rule.js';

type Matches = Reply<'POST /api/rules/matches'>;

/** After the check, which a person waits for first. */
const countAfterMs = 1200;

function Example(props: { readonly one: Matches['examples'][number] }): JSX.Element {
  return (
    <li class="row wrap small">
      <span class="faint">{showMoment(props.one.at)}</span>
      <code class="mono">
        {props.one.method} <Foreign text={props.one.uri} max={120} />
      </code>
      <span class="faint">
        <Foreign text={props.one.variable} />
      </span>
      <A href={`/requests?request_id=${encodeURIComponent(props.one.request_id)}`}>{text.open}</A>
    </li>
  );
}

export function RecordedMatches(props: { readonly rule: CustomRule; readonly isReady: boolean }): JSX.Element {
  const [found, setFound] = createSignal<Matches | null>(null);
  const [isCounting, setCounting] = createSignal(false);
  let timer: ReturnType<typeof setTimeout> | undefined;
  let asked = 0;
  const count = async (): Promise<void> => {
    const mine = ++asked;
    setCounting(true);
    try {
      const reply = await call('POST /api/rules/matches', { body: { rule: bodyOf(props.rule) } as never });
      if (mine === asked) setFound(reply);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      if (mine === asked) setFound(null);
    } finally {
      if (mine === asked) setCounting(false);
    }
  };
  createEffect(
    on([() => props.rule, () => props.isReady], ([, isReady]) => {
      clearTimeout(timer);
      if (isReady) timer = setTimeout(() => void count(), countAfterMs);
      else setFound(null);
    }),
  );
  onCleanup(() => clearTimeout(timer));
  return (
    <Card title={text.recorded}>
      <div class="stack tight" aria-live="polite">
        <Show when={found()} fallback={<p class="muted">{isCounting() ? text.counting : text.notCounted}</p>}>
          {(reply) => (
            <>
              <p>
                {reply().since === null
                  ? text.noneRecorded
                  : text.recordedAbout(
                      showCount(reply().matched),
                      showCount(reply().looked_at),
                      showMoment(reply().since ?? ''),
                    )}
              </p>
              <Show when={reply().looked_at < reply().recorded}>
                <p class="small muted">{text.partly(showCount(reply().looked_at), showCount(reply().recorded))}</p>
              </Show>
              <Show when={reply().not_looked_at.masked + reply().not_looked_at.body > 0}>
                <p class="small muted">
                  {text.notLookedAt(showCount(reply().not_looked_at.masked), showCount(reply().not_looked_at.body))}
                </p>
              </Show>
              <ul class="plain-list stack tight">
                <For each={reply().examples}>{(one) => <Example one={one} />}</For>
              </ul>
            </>
          )}
        </Show>
      </div>
    </Card>
  );
}
