// One endpoint: why its template is like this (with the way back), what its risk is made of, what was seen of it.
import { For, Show, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { call } from '../../client/http.js';
import { showCount, showMicroseconds, showMoment } from '../../client/moments.js';
import { mayAs } from '../../client/session.js';
import { Badge, Button, Foreign, Notice, Pairs } from '../../kit/basics.js';
import { Overlay, tell } from '../../kit/overlays.js';
import { apisText as text } from '../../texts/apis/inventory.js';
import type { Endpoint } from './inventory.js';

type Segment = Endpoint['segments'][number];
type Evidence = NonNullable<Segment['evidence']>;

const counts = (of: Readonly<Record<string, unknown>>): string =>
  Object.entries(of)
    .map(([name, count]) => text.counted(typeof count === 'number' ? showCount(count) : JSON.stringify(count), name))
    .join(', ') || text.none;

function Merged(props: {
  readonly site: string;
  readonly name: string;
  readonly of: Evidence;
  readonly onChanged: () => void;
}): JSX.Element {
  const action = createAction();
  const split = async (apart: boolean): Promise<void> => {
    const body = { site: props.site, place: props.of.place, apart };
    if (!(await action.run(() => call('POST /api/inventory/split', { body })))) return;
    tell(apart ? text.splitDone : text.mergeDone);
    props.onChanged();
  };
  return (
    <li class="stack tight">
      <strong>
        <Foreign
          text={text.evidence(props.name, showCount(props.of.distinct), props.of.is_more ? text.orMore : '')}
          max={300}
        />
      </strong>
      <Foreign text={props.of.reason} max={500} />
      <span class="row wrap">
        <For each={Object.entries(props.of.kinds)}>
          {([kind, count]) => <Badge>{text.counted(showCount(Number(count)), kind)}</Badge>}
        </For>
      </span>
      <Show when={mayAs('operator')}>
        <div class="row wrap">
          <Button isSmall isBusy={action.isBusy()} onClick={() => void split(true)}>
            {text.split}
          </Button>
          <Button isSmall look="plain" isBusy={action.isBusy()} onClick={() => void split(false)}>
            {text.merge}
          </Button>
        </div>
      </Show>
      <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
    </li>
  );
}

function Template(props: { readonly of: Endpoint; readonly onChanged: () => void }): JSX.Element {
  const merged = (): readonly (readonly [string, Evidence])[] =>
    props.of.segments.flatMap(({ text: name, evidence }) => (evidence === null ? [] : [[name, evidence] as const]));
  return (
    <section class="stack tight">
      <h3>{text.whyParameter}</h3>
      <ul class="stack plain-list">
        <For each={merged()} fallback={<li class="muted">{text.noParameter}</li>}>
          {([name, evidence]) => <Merged site={props.of.site} name={name} of={evidence} onChanged={props.onChanged} />}
        </For>
      </ul>
    </section>
  );
}

function Risk(props: { readonly of: Endpoint['risk'] }): JSX.Element {
  return (
    <section class="stack tight">
      <h3>{text.whyRisk}</h3>
      <ul class="stack tight plain-list">
        <For each={props.of.parts}>
          {({ factor, points, why }) => (
            <li class="stack tight">
              <span>{text.factor(factor, points)}</span>
              <span class="small muted">
                <Foreign text={why} max={300} />
              </span>
            </li>
          )}
        </For>
      </ul>
    </section>
  );
}

function Facts(props: { readonly of: Endpoint }): JSX.Element {
  const shown = (words: string, max = 1000): JSX.Element => <Foreign text={words} max={max} />;
  const credentials = (): string =>
    Object.entries(props.of.credentials)
      .map(([kind, { ok, denied }]) => text.counted(kind, `(${showCount(ok)} / ${showCount(denied)})`))
      .join(', ') || text.none;
  return (
    <Pairs
      of={[
        [text.site, shown(props.of.site)],
        [text.access, props.of.access],
        [text.auth, text.auths[props.of.auth]],
        [text.credentials, shown(credentials())],
        [text.classification, props.of.classification],
        [text.categories, shown(props.of.categories.join(', ') || text.none)],
        [text.regulations, shown(props.of.regulations.join(', ') || text.none)],
        [text.hits, showCount(props.of.hits)],
        [text.answers, shown(counts(props.of.statuses))],
        [text.requestTypes, shown(counts(props.of.request_types))],
        [text.responseTypes, shown(counts(props.of.response_types))],
        [text.parameters, shown(Object.keys(props.of.parameters).join(', ') || text.none)],
        [text.seenBy, shown(counts(props.of.sources))],
        [
          text.latency,
          text.latencyOf(showMicroseconds(props.of.latency_us.mean), showMicroseconds(props.of.latency_us.max)),
        ],
        [text.firstSeen, showMoment(props.of.first_seen)],
        [text.lastSeen, showMoment(props.of.last_seen)],
      ]}
    />
  );
}

export function EndpointDrawer(props: {
  /** null: closed. */
  readonly of: Endpoint | null;
  readonly onClose: () => void;
  readonly onChanged: () => void;
}): JSX.Element {
  return (
    <Overlay isOpen={props.of !== null} look="drawer" title={text.endpoint} onClose={props.onClose}>
      <Show when={props.of}>
        {(one) => (
          <>
            <h3 class="mono">
              <Foreign text={`${one().method} ${one().template}`} max={400} />
            </h3>
            <Facts of={one()} />
            <Template of={one()} onChanged={props.onChanged} />
            <Risk of={one().risk} />
          </>
        )}
      </Show>
    </Overlay>
  );
}
