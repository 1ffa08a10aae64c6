// The first page: is everything protected, what is going on, what stands out. Each number opens the list it counts.
import { A, useNavigate, useSearchParams } from '@solidjs/router';
import { createMemo, createSignal, For, onCleanup, Show, type JSX } from 'solid-js';
import type { Reply } from '../../client/http.js';
import { showCount, showMoment } from '../../client/moments.js';
import { createQuery, type QueryState } from '../../client/query.js';
import { Card, Empty, Figure, Foreign, PageHead } from '../../kit/basics.js';
import { Read } from '../../kit/page-state.js';
import { Legend } from '../../kit/chart/line-chart.js';
import { SeriesChart, seriesLines } from '../../kit/chart/series-chart.js';
import { visibleText } from '../../kit/visible-text.js';
import { Detection } from './detection.js';
import { FirstSteps } from './first-steps.js';
import { Health } from './health.js';
import { isSummary } from '../events/event-text.js';
import { overviewText as words } from '../../texts/overview.js';

type Traffic = Reply<'GET /api/traffic'>;

const spans = { '1h': 1, '6h': 6, '24h': 24, '7d': 168, '30d': 720 } as const;
type Span = keyof typeof spans;
const spanNames: Readonly<Record<Span, string>> = {
  '1h': words.hour,
  '6h': words.n6Hours,
  '24h': words.day,
  '7d': words.week,
  '30d': words.n30Days,
};
const everyMs = 10_000;
const topShown = 8;
/** More than are shown: rules that only sum up what others found are left out, and match wherever those do. */
const topAsked = topShown + 6;
const isSpan = (text: unknown): text is Span => typeof text === 'string' && Object.hasOwn(spans, text);

/** The list of requests with a filter, over the window and the records that were counted. */
function requestsLink(
  { from, to, as_of: asOf }: Traffic,
  filter: Readonly<Record<string, string | number>> = {},
): string {
  const search = new URLSearchParams({ from, to, as_of: String(asOf) });
  for (const [name, value] of Object.entries(filter)) search.set(name, String(value));
  return `/requests?${search.toString()}`;
}

function TopList(props: {
  readonly title: string;
  readonly rows: readonly {
    readonly name: string;
    /** What a name of digits stands for. */
    readonly about?: string;
    readonly requests: number;
    readonly blocked?: number;
    readonly href: string;
  }[];
}): JSX.Element {
  const most = (): number => Math.max(1, ...props.rows.map(({ requests }) => requests));
  return (
    <Card title={props.title}>
      <div class="bars">
        <For each={props.rows} fallback={<span class="faint">{words.nothingThisWindow}</span>}>
          {(row) => (
            <A class="bar" href={row.href}>
              <progress max={most()} value={row.requests} aria-hidden="true" />
              <span class="truncate" title={visibleText(row.about ?? '')}>
                <span class="mono">
                  <Foreign text={row.name} max={80} />
                </span>
                <Show when={row.about}>
                  {(about) => (
                    <span class="faint">
                      {' '}
                      <Foreign text={about()} max={120} />
                    </span>
                  )}
                </Show>
              </span>
              <span class="nums">
                {showCount(row.requests)}
                <Show when={(row.blocked ?? 0) > 0}>
                  <span class="faint"> · {words.blockedOf(showCount(row.blocked ?? 0))}</span>
                </Show>
              </span>
            </A>
          )}
        </For>
      </div>
    </Card>
  );
}

type SiteFilter = { readonly site?: string };

/** Which site is shown; nothing to choose where there is one. */
function SiteSelect(props: {
  readonly of: QueryState<Reply<'GET /api/sites'>>;
  readonly chosen: string;
  readonly onChoose: (name: string) => void;
}): JSX.Element {
  const names = (): readonly string[] => {
    const all = props.of.data()?.items.map(({ name }) => name) ?? [];
    return props.chosen === '' || all.includes(props.chosen) ? all : [props.chosen, ...all];
  };
  return (
    <Show when={names().length > 1 || props.chosen !== ''}>
      <select
        class="select fit"
        aria-label={words.site}
        onChange={(event) => props.onChoose(event.currentTarget.value)}
      >
        <option value="">{words.allSites}</option>
        <For each={names()}>
          {(name) => (
            <option value={name} selected={name === props.chosen}>
              {name}
            </option>
          )}
        </For>
      </select>
    </Show>
  );
}

function Numbers(props: { readonly traffic: Traffic; readonly site: SiteFilter }): JSX.Element {
  const share = (): string =>
    props.traffic.requests === 0 ? '0' : ((100 * props.traffic.blocked) / props.traffic.requests).toFixed(1);
  const perMinute = (): string => {
    const minutes = (Date.parse(props.traffic.to) - Date.parse(props.traffic.from)) / 60_000;
    const rate = props.traffic.requests / minutes;
    if (rate >= 10) return showCount(Math.round(rate));
    return rate > 0 && rate < 0.1 ? '< 0.1' : rate.toFixed(1);
  };
  return (
    <div class="grid-4">
      <Figure
        label={words.requests}
        value={showCount(props.traffic.requests)}
        note={words.minute(perMinute())}
        href={requestsLink(props.traffic, props.site)}
      />
      <Figure
        label={words.blocked}
        value={showCount(props.traffic.blocked)}
        note={words.all(share())}
        href={requestsLink(props.traffic, { ...props.site, verdict: 'block' })}
      />
      <Figure
        label={words.flagged}
        value={showCount(props.traffic.flagged)}
        note={words.seenByRulesWhere}
        href={requestsLink(props.traffic, { ...props.site, verdict: 'flag' })}
      />
    </div>
  );
}

function Tops(props: { readonly traffic: Traffic; readonly site: SiteFilter }): JSX.Element {
  const link = (filter: Readonly<Record<string, string | number>>): string =>
    requestsLink(props.traffic, { ...props.site, ...filter });
  return (
    <div class="grid-2">
      <TopList
        title={words.rules}
        rows={props.traffic.rules
          .filter((one) => !isSummary(one))
          .slice(0, topShown)
          .map((one) => ({
            name: String(one.rule_id),
            about: one.name,
            requests: one.requests,
            href: link({ rule_id: one.rule_id }),
          }))}
      />
      <TopList
        title={words.clients}
        rows={props.traffic.clients.slice(0, topShown).map((one) => ({
          ...one,
          name: one.client_ip,
          href: link({ client_ip: one.client_ip }),
        }))}
      />
      <TopList
        title={words.paths}
        rows={props.traffic.paths
          .slice(0, topShown)
          .map((one) => ({ ...one, name: one.path, href: link({ path: one.path }) }))}
      />
      <TopList
        title={words.sites}
        rows={props.traffic.sites
          .slice(0, topShown)
          .map((one) => ({ ...one, name: one.site, href: link({ site: one.site }) }))}
      />
    </div>
  );
}

function Spans(props: { readonly chosen: Span; readonly onChoose: (span: Span) => void }): JSX.Element {
  return (
    <For each={Object.keys(spans) as Span[]}>
      {(name) => (
        <button
          type="button"
          class="button small"
          classList={{ primary: props.chosen === name }}
          aria-pressed={props.chosen === name}
          onClick={() => props.onChoose(name)}
        >
          {spanNames[name]}
        </button>
      )}
    </For>
  );
}

export function Overview(): JSX.Element {
  const navigate = useNavigate();
  const [search, setSearch] = useSearchParams();
  const [now, setNow] = createSignal(Date.now());
  const timer = setInterval(() => setNow(Date.now()), everyMs);
  onCleanup(() => clearInterval(timer));
  const span = createMemo<Span>(() => (isSpan(search['span']) ? search['span'] : '24h'));
  const site = (): string => (typeof search['site'] === 'string' ? search['site'] : '');
  const siteFilter = (): { readonly site?: string } => (site() === '' ? {} : { site: site() });
  const traffic = createQuery(
    'GET /api/traffic',
    () => {
      const to = new Date(now() + 1000);
      const from = new Date(to.getTime() - spans[span()] * 3_600_000);
      return { query: { from: from.toISOString(), to: to.toISOString(), top: topAsked, ...siteFilter() } };
    },
    { isMoving: true },
  );
  // asked once for all parts, and after the figures: those who look every day look at these
  const isAnswered = createMemo(() => traffic.data() !== undefined || traffic.problem() !== null);
  const settings = createQuery('GET /api/settings', () => (isAnswered() ? {} : null));
  const sites = createQuery('GET /api/sites', () => (isAnswered() ? {} : null));
  const pick = (from: number, to: number): void => {
    const iso = (seconds: number): string => new Date(Math.round(seconds) * 1000).toISOString();
    const address = new URLSearchParams({ from: iso(from), to: iso(to), ...siteFilter() });
    navigate(`/requests?${address.toString()}`);
  };
  return (
    <>
      <PageHead title={words.overview}>
        <SiteSelect of={sites} chosen={site()} onChoose={(name) => setSearch({ site: name })} />
        <Spans chosen={span()} onChoose={(name) => setSearch({ span: name })} />
      </PageHead>
      <FirstSteps settings={settings} sites={sites} />
      <Health settings={settings} />
      <Read of={traffic}>
        {(data) => (
          <>
            <Numbers traffic={data()} site={siteFilter()} />
            <Card
              title={words.traffic}
              actions={
                <>
                  <Legend of={seriesLines} />
                  <span class="faint small">{words.untilNowDragToOf(showMoment(data().from))}</span>
                </>
              }
            >
              <Show
                when={data().requests > 0}
                fallback={<Empty title={words.noRequestsThisWindow}>{words.pointClientAtProtected}</Empty>}
              >
                <SeriesChart points={data().series} onPick={pick} />
              </Show>
            </Card>
            <Detection />
            <Tops traffic={data()} site={siteFilter()} />
          </>
        )}
      </Read>
    </>
  );
}
