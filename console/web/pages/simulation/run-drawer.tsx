// One wave: how far it is while it runs, with what events say so far, and its report once it has ended.
import { createEffect, createMemo, createSignal, For, Match, on, Show, Switch, untrack, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { call, type Item } from '../../client/http.js';
import { showCount, showMoment } from '../../client/moments.js';
import { createQuery } from '../../client/query.js';
import { mayAs } from '../../client/session.js';
import { Badge, Button, Foreign, Notice, Pairs } from '../../kit/basics.js';
import { Overlay, tell } from '../../kit/overlays.js';
import { Read } from '../../kit/page-state.js';
import { simulationText as text } from '../../texts/engine/simulation.js';
import { RuleLinks } from './attacks.js';
import { ReportView, rungName } from './report.js';
import { isClientOf, statusTones, type Run } from './words.js';

const everyMs = 1000;
const eventsMax = 500;

/** Rules of the events so far, the most frequent first. */
function rulesOf(events: readonly Item<'GET /api/events'>[]): readonly number[] {
  const counts = new Map<number, number>();
  for (const { rule_id: id } of events) if (id !== null) counts.set(id, (counts.get(id) ?? 0) + 1);
  return [...counts].toSorted((left, right) => right[1] - left[1]).map(([id]) => id);
}

function SoFar(props: { readonly of: Run }): JSX.Element {
  const query = () => ({ query: { from: props.of.started_at, limit: eventsMax } });
  const events = createQuery('GET /api/events', query, { everyMs: 2 * everyMs, isMoving: true });
  const soc = createQuery('GET /api/ai/soc', () => ({}), { everyMs: 2 * everyMs });
  const mine = createMemo(() =>
    (events.data()?.items ?? []).filter(({ client_ip: address }) => isClientOf(address, props.of.clients)),
  );
  const stopped = (): number => mine().filter(({ verdict }) => verdict === 'block').length;
  const verdicts = createMemo(() =>
    (soc.data()?.top ?? []).filter(({ address }) => isClientOf(address, props.of.clients)),
  );
  return (
    <section class="stack tight">
      <h3>{text.soFar}</h3>
      <p class="small muted">{text.soFarAbout}</p>
      <Show when={mine().length > 0} fallback={<p class="muted">{text.soFarNone}</p>}>
        <Pairs
          of={[
            [text.stopped, showCount(stopped())],
            [text.rules, <RuleLinks ids={rulesOf(mine())} />],
          ]}
        />
      </Show>
      <Show when={verdicts().length > 0}>
        <Pairs
          of={[
            [
              text.soFarVerdicts,
              <span class="row wrap">
                <For each={verdicts().slice(0, 10)}>
                  {({ address, verdict, risk }) => <Badge>{`${address} ${rungName(verdict)} ${risk}`}</Badge>}
                </For>
              </span>,
            ],
          ]}
        />
      </Show>
    </section>
  );
}

function Running(props: { readonly of: Run }): JSX.Element {
  const action = createAction();
  const stop = async (): Promise<void> => {
    const params = { id: props.of.id };
    if (await action.run(() => call('DELETE /api/ai/simulate/{id}', { params }))) tell(text.stopAsked);
  };
  const isSending = (): boolean => props.of.sent < props.of.requests;
  return (
    <div class="stack">
      <div class="stack tight" role="status">
        <div class="row wrap between">
          <span class="row">
            <span class="spinner" aria-hidden="true" />
            {isSending() ? text.sending(showCount(props.of.sent), showCount(props.of.requests)) : text.waiting}
          </span>
          <Show when={mayAs('operator')}>
            <Button isBusy={action.isBusy()} onClick={() => void stop()}>
              {text.stop}
            </Button>
          </Show>
        </div>
        <meter
          class="points"
          min={0}
          max={Math.max(1, props.of.requests)}
          value={props.of.sent}
          aria-label={text.sent}
        />
      </div>
      <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      <SoFar of={props.of} />
    </div>
  );
}

function Facts(props: { readonly of: Run }): JSX.Element {
  const took = (): string => {
    const { started_at: from, ended_at: to } = props.of;
    return to === null ? text.none : text.tookSeconds(((Date.parse(to) - Date.parse(from)) / 1000).toFixed(1));
  };
  return (
    <Pairs
      of={[
        [text.started, showMoment(props.of.started_at)],
        [text.startedBy, <Foreign text={props.of.started_by} max={120} />],
        [text.took, took()],
        [text.clients, <code>{props.of.clients}</code>],
        [text.bound, text.boundOf(showCount(props.of.requests), showCount(props.of.seconds), showCount(props.of.rate))],
      ]}
    />
  );
}

function Opened(props: { readonly of: Run; readonly onAgain: (run: Run) => void }): JSX.Element {
  return (
    <>
      <div class="row wrap between">
        <div class="row wrap">
          <Badge tone={statusTones[props.of.status]}>{text.statuses[props.of.status]}</Badge>
          <strong>
            <Foreign text={text.runOf(text.waves[props.of.type], props.of.site)} max={200} />
          </strong>
          <Show when={props.of.self_test}>
            <Badge>{text.selfTest}</Badge>
          </Show>
        </div>
        <Show when={mayAs('operator') && props.of.status !== 'running'}>
          <Button icon="play" onClick={() => props.onAgain(props.of)}>
            {text.again}
          </Button>
        </Show>
      </div>
      <Switch>
        <Match when={props.of.status === 'running'}>
          <Running of={props.of} />
        </Match>
        <Match when={props.of.report}>{(report) => <ReportView of={report()} />}</Match>
        <Match when={props.of.report === null}>
          <Notice tone="danger" title={text.noReport}>
            <Foreign text={props.of.error} max={600} />
          </Notice>
        </Match>
      </Switch>
      <Facts of={props.of} />
    </>
  );
}

/** Read again every second while it runs. `onEnded`: it has come to its end meanwhile. */
function ById(props: {
  readonly id: string;
  readonly onEnded: () => void;
  readonly onAgain: (run: Run) => void;
}): JSX.Element {
  const [isOver, setOver] = createSignal(false);
  const run = createQuery(
    'GET /api/ai/simulate/{id}',
    () => {
      const params = { id: props.id };
      return untrack(isOver) ? null : { params };
    },
    { everyMs },
  );
  createEffect(() => setOver(run.data() !== undefined && run.data()?.status !== 'running'));
  const status = createMemo(() => run.data()?.status);
  createEffect(
    on(status, (now, before) => {
      if (before === 'running' && now !== before) props.onEnded();
    }),
  );
  return (
    <Read of={run} what={text.stopReading}>
      {(data) => <Opened of={data()} onAgain={props.onAgain} />}
    </Read>
  );
}

export function RunDrawer(props: {
  /** null: closed. */
  readonly id: string | null;
  readonly onClose: () => void;
  readonly onEnded: () => void;
  readonly onAgain: (run: Run) => void;
}): JSX.Element {
  return (
    <Overlay isOpen={props.id !== null} look="drawer" title={text.run} onClose={props.onClose}>
      <Show when={props.id} keyed>
        {(id) => <ById id={id} onEnded={props.onEnded} onAgain={props.onAgain} />}
      </Show>
    </Overlay>
  );
}
