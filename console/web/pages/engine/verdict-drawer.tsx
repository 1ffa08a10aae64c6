// One verdict in full: where it stands on the ladder, why, the requests behind it, and what can be done about it. It is
// named by its id, or by its client, whose newest one it is then.
import { A } from '@solidjs/router';
import { For, Show, type JSX } from 'solid-js';
import { showCount, showMoment } from '../../client/moments.js';
import { createQuery } from '../../client/query.js';
import { mayAs } from '../../client/session.js';
import { Badge, Foreign, Notice, Pairs } from '../../kit/basics.js';
import { RequestCard } from '../../kit/evidence/request-card.js';
import { Overlay } from '../../kit/overlays.js';
import { Read } from '../../kit/page-state.js';
import { engineText } from '../../texts/engine/engine.js';
import { verdictText as text } from '../../texts/engine/verdict.js';
import { ladderOf, RiskScale } from './risk-scale.js';
import { Marks, Replay } from './verdict-marks.js';
import { VerdictWhy } from './verdict-why.js';
import { Lift } from './lift.js';
import { measureOf, nameOfKey, rungs, rungTones, whomOf, type Verdict } from './words.js';

const samplesShown = 4;

/** How far it is to the verdicts above and below. */
function distance({ distance: { up, down }, verdict }: Verdict): string {
  const at = rungs.indexOf(verdict);
  const [higher, lower] = [rungs[at - 1], rungs[at + 1]];
  const above = up === null || higher === undefined ? text.highest : text.up(up, engineText.rungs[higher]);
  const below = down === null || lower === undefined ? text.lowest : text.down(down, engineText.rungs[lower]);
  return `${above} ${below}`;
}

function measure(of: Verdict): string {
  if (of.action === 'monitor') return text.monitorOnly;
  const said = measureOf(of);
  if (of.enforced_until === null) return said;
  if (!of.in_force && Date.parse(of.enforced_until) > Date.now()) return text.measureLifted(said);
  return text.measureUntil(said, showMoment(of.enforced_until));
}

const listIn = (vector: Verdict['vector'], name: string): readonly string[] => {
  const value = vector[name];
  return Array.isArray(value) ? value.map(String) : [];
};

function Facts(props: { readonly of: Verdict }): JSX.Element {
  const seenAt = (): string => props.of.subject.networks[0] ?? props.of.address;
  const client = (): string => encodeURIComponent(seenAt().split('/')[0] ?? '');
  const missing = (): readonly string[] => listIn(props.of.vector, 'missing');
  return (
    <Pairs
      of={[
        [
          text.client,
          <span class="row wrap">
            <code>{whomOf(props.of)}</code>
            <A href={`/requests?client_ip=${client()}`}>{text.itsRequests}</A>
            <A href={`/engine?view=history&address=${encodeURIComponent(props.of.address)}`}>{text.allOfClient}</A>
          </span>,
        ],
        ...(props.of.subject.kind === 'client'
          ? []
          : [
              [
                text.addresses,
                text.addressesOf(props.of.subject.addresses, props.of.subject.networks.join(', ')),
              ] as const,
            ]),
        [text.seen, text.seenOf(showMoment(props.of.at), showMoment(props.of.last_at), showCount(props.of.rounds))],
        [text.sites, <Foreign text={listIn(props.of.vector, 'sites').join(', ')} max={300} />],
        [
          text.requests,
          text.requestsOf(
            showCount(Number(props.of.vector['requests'])),
            showCount(Number(props.of.vector['window_seconds'])),
          ),
        ],
        [
          text.collateral,
          <>
            {text.collateralOf(showCount(props.of.collateral.sessions), showCount(props.of.collateral.user_agents))}
            <Show when={props.of.collateral.note !== ''}>
              {'; '}
              <Foreign text={props.of.collateral.note} max={300} />
            </Show>
          </>,
        ],
        [text.measure, measure(props.of)],
        [text.madeBy, text.madeByOf(props.of.version, props.of.threshold)],
        ...(missing().length === 0 ? [] : [[text.missing, missing().join(', ')] as const]),
      ]}
    />
  );
}

function Samples(props: { readonly ids: readonly string[] }): JSX.Element {
  return (
    <section class="stack tight">
      <h3>{text.samples}</h3>
      <Show when={props.ids.length > 0} fallback={<p class="muted">{text.noSamples}</p>}>
        <p class="muted">{text.samplesAbout}</p>
        <div class="grid-pair">
          <For each={props.ids.slice(0, samplesShown)}>
            {(id, index) => <RequestCard id={id} title={text.requestTitle(index() + 1)} />}
          </For>
        </div>
      </Show>
    </section>
  );
}

function Vector(props: { readonly of: Verdict['vector'] }): JSX.Element {
  const said = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
  return (
    <details class="fold">
      <summary>{text.vector}</summary>
      <Pairs
        of={Object.entries(props.of).map(
          ([name, value]) => [name, <code>{<Foreign text={said(value)} max={600} />}</code>] as const,
        )}
      />
    </details>
  );
}

function Opened(props: { readonly of: Verdict; readonly onMarked: () => void }): JSX.Element {
  return (
    <>
      <div class="row wrap between">
        <div class="row wrap">
          <Badge tone={rungTones[props.of.verdict]}>{engineText.rungs[props.of.verdict]}</Badge>
          <strong>{text.riskOf(props.of.risk)}</strong>
          <span class="muted">{text.sure(props.of.confidence)}</span>
          <Show when={props.of.marked}>
            {(mark) => <Badge tone="info">{text.markedBy(engineText.marks[mark()], props.of.marked_by ?? '')}</Badge>}
          </Show>
        </div>
        <Show when={mayAs('operator')}>
          <Lift of={props.of} onLifted={props.onMarked} />
          <Marks of={props.of} onMarked={props.onMarked} />
        </Show>
      </div>
      <div class="stack tight">
        <RiskScale risk={props.of.risk} ladder={ladderOf(props.of.threshold)} />
        <p class="muted">{distance(props.of)}</p>
      </div>
      <Facts of={props.of} />
      <VerdictWhy of={props.of} />
      <Samples ids={listIn(props.of.vector, 'samples')} />
      <Replay id={props.of.id} />
      <Vector of={props.of.vector} />
    </>
  );
}

function ById(props: { readonly id: string; readonly onMarked: () => void }): JSX.Element {
  const verdict = createQuery('GET /api/ai/verdicts/{id}', () => ({ params: { id: props.id } }));
  const marked = (): void => {
    void verdict.reload();
    props.onMarked();
  };
  return (
    <Read of={verdict} what={text.reading}>
      {(data) => <Opened of={data()} onMarked={marked} />}
    </Read>
  );
}

function Newest(props: { readonly address: string; readonly onMarked: () => void }): JSX.Element {
  const list = createQuery('GET /api/ai/history', () => ({ query: { address: props.address, limit: 1 } }));
  return (
    <Read of={list} what={text.reading}>
      {(data) => (
        <Show
          when={data().items[0]?.id}
          keyed
          fallback={
            <Notice tone="neutral" title={text.noneStored}>
              {text.noneStoredAbout}
            </Notice>
          }
        >
          {(id) => <ById id={String(id)} onMarked={props.onMarked} />}
        </Show>
      )}
    </Read>
  );
}

export function VerdictDrawer(props: {
  /** null: closed, unless a client is named. */
  readonly id: string | null;
  readonly client: string | null;
  readonly onClose: () => void;
  readonly onMarked: () => void;
}): JSX.Element {
  const title = (): string => (props.client === null ? text.verdict : text.verdictOf(nameOfKey(props.client)));
  return (
    <Overlay
      look="drawer"
      isOpen={props.id !== null || props.client !== null}
      title={props.id === null ? title() : text.verdict}
      onClose={props.onClose}
    >
      <Show
        when={props.id}
        keyed
        fallback={
          <Show when={props.client} keyed>
            {(address) => <Newest address={address} onMarked={props.onMarked} />}
          </Show>
        }
      >
        {(id) => <ById id={id} onMarked={props.onMarked} />}
      </Show>
    </Overlay>
  );
}
