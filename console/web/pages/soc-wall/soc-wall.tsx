// A screen for the wall: rates, what is attacked and by whom, whether attack mode is on. It only ever holds the last
// answers, so that it runs for weeks; and it never shows an old answer as if it were new.
import { createEffect, createMemo, createSignal, For, onCleanup, Show, type Accessor, type JSX } from 'solid-js';
import type { Reply } from '../../client/http.js';
import { showCount, showMoment } from '../../client/moments.js';
import { createQuery, type QueryState } from '../../client/query.js';
import { Button, Foreign, Notice, PageHead } from '../../kit/basics.js';
import { wallText as text } from '../../texts/events/soc-wall.js';
import { Sentence } from '../events/sentence/sentence.js';
import { allBars } from '../events/workbench/time-range.js';
import './soc-wall.css';

type Stats = Reply<'GET /api/events/stats'>;
type Counted = Stats['facets']['category'];

const minuteMs = 60_000;
const everyMs = 10_000;
/** Of what is called now; rates are those of the last minutes, so that one second does not make a wall blink. */
const [nowMinutes, rateMinutes] = [15, 5];
const latestShown = 7;
const topShown = 6;
/** Answers that failed to come so often make what is shown old. */
const staleMs = 3 * everyMs;

/** `2026-11-28T12:00:10.000Z` of so many minutes ago; the same for all questions of one round. */
const ago = (nowMs: number, minutes: number): string => new Date(nowMs - minutes * minuteMs).toISOString();

function Tile(props: { readonly title: string; readonly children: JSX.Element }): JSX.Element {
  return (
    <section class="tile">
      <h2>{props.title}</h2>
      {props.children}
    </section>
  );
}

function Large(props: { readonly value: string; readonly note: string; readonly isBad?: boolean }): JSX.Element {
  return (
    <>
      <div class="large" classList={{ bad: props.isBad === true }}>
        {props.value}
      </div>
      <div class="muted">{props.note}</div>
    </>
  );
}

function Tops(props: { readonly title: string; readonly of: Counted | undefined }): JSX.Element {
  return (
    <Tile title={props.title}>
      <Show when={props.of} fallback={<span class="muted">–</span>}>
        {(counted) => (
          <ol>
            <For each={counted().values.slice(0, topShown)} fallback={<li class="muted">{text.none}</li>}>
              {({ value, name, n }) => (
                <li>
                  <span class="truncate">
                    <Foreign text={name ?? value} max={40} />
                  </span>
                  <strong class="nums">{showCount(n)}</strong>
                </li>
              )}
            </For>
          </ol>
        )}
      </Show>
    </Tile>
  );
}

/** The last hour as bars; the numbers of it stand beside it. */
function Bars(props: { readonly of: Stats }): JSX.Element {
  const bars = createMemo(() => allBars(props.of.from, props.of.to, props.of.step_seconds, props.of.histogram));
  const most = createMemo(() => Math.max(1, ...bars().map(({ n }) => n)));
  return (
    <svg
      viewBox={`0 0 ${bars().length} 100`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`${text.lastHour}: ${showCount(props.of.total)}`}
    >
      <For each={bars()}>
        {(bar, index) => (
          <>
            <rect
              class="bar-all"
              x={index() + 0.1}
              width="0.8"
              y={100 - (100 * bar.n) / most()}
              height={(100 * bar.n) / most()}
            />
            <rect
              class="bar-blocked"
              x={index() + 0.1}
              width="0.8"
              y={100 - (100 * bar.blocked) / most()}
              height={(100 * bar.blocked) / most()}
            />
          </>
        )}
      </For>
    </svg>
  );
}

/** Moments: of the round of questions, and of the clock that is shown. */
function createClocks() {
  const [roundMs, setRound] = createSignal(Date.now());
  const [clockMs, setClock] = createSignal(Date.now());
  const timers = [
    setInterval(() => setRound(Date.now()), everyMs),
    setInterval(() => setClock(Date.now()), 1000),
  ] as const;
  onCleanup(() => timers.forEach(clearInterval));
  return { roundMs, clockMs };
}

function createReadings(roundMs: () => number) {
  const isMoving = { isMoving: true };
  const now = createQuery('GET /api/events/stats', () => ({ query: { from: ago(roundMs(), nowMinutes) } }), isMoving);
  const hour = createQuery('GET /api/events/stats', () => ({ query: { from: ago(roundMs(), 60) } }), isMoving);
  const rates = createQuery('GET /api/traffic', () => ({ query: { from: ago(roundMs(), rateMinutes) } }), isMoving);
  const latest = createQuery('GET /api/events', () => ({ query: { limit: latestShown } }), { everyMs });
  const mode = createQuery('GET /api/attack-mode', () => ({}), { everyMs });
  const health = createQuery('GET /api/health', () => ({}), { everyMs });
  return { now, hour, rates, latest, mode, health };
}

type Readings = ReturnType<typeof createReadings>;

function Numbers(props: { readonly of: Readings }): JSX.Element {
  const perMinute = (n: number | undefined): string => (n === undefined ? '–' : showCount(Math.round(n / rateMinutes)));
  const traffic = () => props.of.rates.data();
  const share = (): string => {
    const { requests = 0, blocked = 0 } = traffic() ?? {};
    return requests === 0 ? '0' : ((100 * blocked) / requests).toFixed(1);
  };
  const events = () => props.of.now.data();
  const blocked = (): number => events()?.histogram.reduce((sum, bar) => sum + bar.blocked, 0) ?? 0;
  const mode = () => props.of.mode.data();
  const answering = (): number => mode()?.nodes.filter(({ answers }) => answers).length ?? 0;
  const modeName = (): string => {
    const known = mode();
    if (known === undefined) return '–';
    return known.active ? text.isActive : known.mode === 'off' ? text.isOff : text.isCalm;
  };
  const total = (): string => {
    const known = events();
    return known === undefined ? '–' : `${known.is_estimate ? '≈ ' : ''}${showCount(known.total)}`;
  };
  return (
    <div class="numbers">
      <Tile title={text.requests}>
        <Large value={perMinute(traffic()?.requests)} note={text.mean(rateMinutes)} />
      </Tile>
      <Tile title={text.blocked}>
        <Large value={perMinute(traffic()?.blocked)} note={text.ofRequests(share())} />
      </Tile>
      <Tile title={text.events}>
        <Large value={total()} note={text.eventsBlocked(showCount(blocked()))} />
      </Tile>
      <Tile title={text.attackMode}>
        <Large
          value={modeName()}
          note={answering() === 0 ? text.noNode : text.onNodes(answering())}
          isBad={mode()?.active === true}
        />
      </Tile>
    </div>
  );
}

function Latest(props: { readonly of: Readings }): JSX.Element {
  return (
    <Tile title={text.latest}>
      <Show when={props.of.latest.data()} fallback={<span class="muted">–</span>}>
        {(latest) => (
          <ol>
            <For each={latest().items} fallback={<li class="muted">{text.noneStored}</li>}>
              {({ at, summary }) => (
                <li>
                  <span class="truncate">
                    <Sentence of={summary} isShort />
                  </span>
                  <span class="nums muted">{showMoment(at, true).slice(-8)}</span>
                </li>
              )}
            </For>
          </ol>
        )}
      </Show>
    </Tile>
  );
}

/** When a question was answered last; null: never. */
function answeredAt(query: QueryState<unknown>): Accessor<number | null> {
  const [at, setAt] = createSignal<number | null>(null);
  createEffect(() => {
    if (query.data() !== undefined && query.problem() === null) setAt(Date.now());
  });
  return at;
}

/** Says since when nothing is answered any more, and what is wrong with what answers. */
function State(props: { readonly of: Readings; readonly clockMs: number }): JSX.Element {
  // old answers stay shown below, and must not look like new ones: the oldest of all that is shown counts
  const { now, hour, rates, latest, mode } = props.of;
  const answered = [now, hour, rates, latest, mode].map(answeredAt);
  const refused = (): boolean => [now, hour, rates, latest, mode].some((query) => query.problem() !== null);
  const answeredMs = (): number | null =>
    answered.reduce<number | null>((oldest, at) => {
      const ms = at();
      return oldest === null || ms === null ? null : Math.min(oldest, ms);
    }, Infinity);
  const isStale = (): boolean => props.clockMs - (answeredMs() ?? 0) > staleMs;
  return (
    <>
      <Show when={answeredMs() === null && refused()}>
        <Notice tone="danger">{text.never}</Notice>
      </Show>
      <Show when={answeredMs() !== null && isStale()}>
        <Notice tone="danger">{text.stale(showMoment(new Date(answeredMs() ?? 0).toISOString()))}</Notice>
      </Show>
      <Show when={props.of.health.data()?.status === 'degraded'}>
        <Notice tone="warn">{text.degraded}</Notice>
      </Show>
    </>
  );
}

export function SocWall(): JSX.Element {
  let wall: HTMLDivElement | undefined;
  const { roundMs, clockMs } = createClocks();
  const readings = createReadings(roundMs);
  const facets = () => readings.now.data()?.facets;
  return (
    <>
      <PageHead title={text.title} about={text.about}>
        <Button onClick={() => void wall?.requestFullscreen()}>{text.fullScreen}</Button>
      </PageHead>
      <div class="wall" ref={wall}>
        <div class="clock">{showMoment(new Date(clockMs()).toISOString())}</div>
        <div>
          <State of={readings} clockMs={clockMs()} />
          <Numbers of={readings} />
        </div>
        <Tile title={text.lastHour}>
          <Show when={readings.hour.data()}>{(stats) => <Bars of={stats()} />}</Show>
        </Tile>
        <div class="lists">
          <Tops title={text.clients} of={facets()?.client_ip} />
          <Tops title={text.categories} of={facets()?.category} />
          <Show when={(facets()?.country.values.length ?? 0) > 0}>
            <Tops title={text.countries} of={facets()?.country} />
          </Show>
          <Latest of={readings} />
        </div>
      </div>
    </>
  );
}
