// One request that proves something, by its id: what it was, what became of it, and the way to all that is known of it.
import { A } from '@solidjs/router';
import { Show, type JSX } from 'solid-js';
import type { Item } from '../../client/http.js';
import { showMoment } from '../../client/moments.js';
import { createQuery } from '../../client/query.js';
import { evidenceText as text } from '../../texts/engine/evidence.js';
import { Badge, Foreign, Pairs, type Tone } from '../basics.js';
import { Read } from '../page-state.js';

type Logged = Item<'GET /api/requests'>;

const tones: Readonly<Record<string, Tone>> = { block: 'danger', flag: 'warn', refused: 'danger', pass: 'good' };

/** The event where rules or gates saw it, else its line of the log. */
function Opener(props: { readonly id: string }): JSX.Element {
  const events = createQuery('GET /api/events', () => ({ query: { request_id: props.id, limit: 1 } }));
  return (
    <Show
      when={events.data()?.items[0]}
      fallback={<A href={`/requests?request_id=${encodeURIComponent(props.id)}`}>{text.openRequest}</A>}
    >
      {(event) => <A href={`/soc?event=${event().id}&of=${encodeURIComponent(props.id)}`}>{text.openEvent}</A>}
    </Show>
  );
}

function Facts(props: { readonly of: Logged }): JSX.Element {
  return (
    <>
      <div class="mono evidence-line">
        <Foreign text={`${props.of.method} ${props.of.uri}`} max={300} />
      </div>
      <Pairs
        of={[
          [text.when, showMoment(props.of.at)],
          [text.client, <A href={`/requests?client_ip=${props.of.client_ip}`}>{props.of.client_ip}</A>],
          [text.site, <Foreign text={props.of.site} max={80} />],
          [
            text.answer,
            <span class="row wrap">
              {String(props.of.status)} <Badge tone={tones[props.of.verdict] ?? 'neutral'}>{props.of.verdict}</Badge>
            </span>,
          ],
        ]}
      />
    </>
  );
}

export function RequestCard(props: {
  readonly id: string;
  readonly title?: string;
  readonly note?: JSX.Element;
}): JSX.Element {
  const found = createQuery('GET /api/requests', () => ({ query: { request_id: props.id, limit: 1 } }));
  return (
    <section class="evidence boxed">
      <Show when={props.title}>{(title) => <h4>{title()}</h4>}</Show>
      <Show when={props.note}>{(note) => <p class="small muted">{note()}</p>}</Show>
      <Read of={found} what={text.reading}>
        {(data) => (
          <Show when={data().items[0]} fallback={<p class="muted">{text.notKept}</p>}>
            {(one) => <Facts of={one()} />}
          </Show>
        )}
      </Read>
      <div class="row wrap between small">
        <code class="truncate">
          <Foreign text={props.id} max={80} />
        </code>
        <Opener id={props.id} />
      </div>
    </section>
  );
}
