// Security events: what comes, as it comes, and what came before, under the same filters. An event opens beside the
// list; its address can be sent to a colleague.
import { useSearchParams } from '@solidjs/router';
import { createEffect, createMemo, createSignal, onCleanup, Show, type Accessor, type JSX } from 'solid-js';
import type { Item } from '../../client/http.js';
import { showMoment, zoneName } from '../../client/moments.js';
import { createPagedList, type PagedList } from '../../client/pages.js';
import { createQuery } from '../../client/query.js';
import { mayAs } from '../../client/session.js';
import { Badge, Button, Card, Foreign, Notice, PageHead, type Tone } from '../../kit/basics.js';
import { FilterBar, useFilters, type Filters } from '../../kit/filter-bar.js';
import { Table, type TableColumn } from '../../kit/table/table.js';
import { ofPages } from '../../kit/table/table-source.js';
import { visibleText } from '../../kit/visible-text.js';
import { EventDrawer } from './event-drawer.js';
import { isSummary, type EventDetails, type RuleMessage } from './event-text.js';
import { ExcludeDialog } from './exclude-dialog.js';
import { Facets } from './facets.js';
import { createLive, type LiveState } from './live.js';
import { Sentence } from './sentence/sentence.js';
import { ShareLinks } from './share/share-links.js';
import { eventsText as text } from '../../texts/events.js';
import { workbenchText as workbench } from '../../texts/events/workbench.js';
import { verdictTone } from './verdict-tone.js';
import { Histogram } from './workbench/histogram.js';
import { doByKey } from './workbench/keys.js';
import { TimePicker } from './workbench/time-picker.js';
import { rangeOf } from './workbench/time-range.js';

export type SecurityEvent = Item<'GET /api/events'>;

const filterNames = [
  'q',
  'verdict',
  'rule_id',
  'client_ip',
  'site',
  'method',
  'status',
  'request_id',
  'ja3',
  'ja4',
  'from',
  'to',
  'range',
  'category',
  'path',
  'country',
  'asn',
];
/** Of the stream: a hundred seconds of two hundred events; older ones are read again from the control plane. */
const keptMax = 20_000;

const columns: readonly TableColumn<SecurityEvent>[] = [
  {
    get title() {
      return text.time(zoneName());
    },
    width: 'var(--col-time,17ch)',
    class: 'nums',
    cell: ({ at }) => showMoment(at, true),
  },
  {
    title: text.verdict,
    width: 'var(--col-verdict,12ch)',
    cell: ({ verdict }) => <Badge tone={verdictTone(verdict)}>{verdict}</Badge>,
  },
  {
    title: text.what,
    cell: ({ summary }) => (
      <span class="truncate" title={visibleText(summary.text)}>
        <Sentence of={summary} isShort />
      </span>
    ),
  },
  {
    title: text.client,
    width: '16ch',
    isMinor: true,
    cell: ({ client_ip }) => (
      <span class="mono" title={client_ip}>
        {client_ip}
      </span>
    ),
  },
  { title: text.score, width: '9ch', isMinor: true, isNumber: true, cell: ({ inbound_score }) => <>{inbound_score}</> },
  {
    title: text.request,
    width: 'var(--col-request,22%)',
    isMinor: true,
    cell: ({ method, uri }) => (
      <span class="mono" title={visibleText(uri)}>
        <Foreign text={method} max={20} /> <Foreign text={uri} max={300} />
      </span>
    ),
  },
  { title: text.site, width: '12ch', isMinor: true, cell: ({ site }) => <Foreign text={site} max={40} /> },
];

const liveTones: Readonly<Record<LiveState, Tone>> = { connecting: 'neutral', live: 'good', reconnecting: 'warn' };

/** Filters that facets do not know: they look for single requests, whenever those were. */
const uncounted = ['q', 'request_id', 'ja3', 'ja4'];
const isCountedBy = (filters: Filters): boolean => !uncounted.some((name) => filters[name] !== undefined);

/** What the list and the counts are asked: filters with the range as moments. */
function createQuestion(filters: Accessor<Filters>) {
  const [nowMs, setNow] = createSignal(Date.now());
  const rest = createMemo(() => {
    const { range, from, to, ...others } = filters();
    return { others, given: { ...(range ? { range } : {}), ...(from ? { from } : {}), ...(to ? { to } : {}) } };
  });
  // new events come by the stream: the list begins where it began, however often the counts are asked for
  const isOpen = (): boolean => !isCountedBy(filters()) && Object.keys(rest().given).length === 0;
  const list = createMemo(() => ({ ...rest().others, ...(isOpen() ? {} : rangeOf(rest().given, Date.now())) }));
  const counts = createMemo(() => ({ ...rest().others, ...rangeOf(rest().given, nowMs()) }));
  return { list, counts, refresh: () => setNow(Date.now()) };
}

/** Histogram and facets of what is listed, asked for again every so often while the page is seen and not paused. */
function createCounts(filters: Accessor<Filters>, isPaused: Accessor<boolean>) {
  const [everySeconds, setEvery] = createSignal(30);
  const question = createQuestion(filters);
  const isCounted = (): boolean => isCountedBy(filters());
  const stats = createQuery('GET /api/events/stats', () => (isCounted() ? { query: question.counts() } : null), {
    isMoving: true,
  });
  createEffect(() => {
    const seconds = everySeconds();
    if (seconds === 0) return;
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible' && !isPaused()) question.refresh();
    }, seconds * 1000);
    onCleanup(() => clearInterval(timer));
  });
  return { question, stats, isCounted, everySeconds, setEvery };
}

/** What stands above the list. */
function Above(props: {
  readonly counts: ReturnType<typeof createCounts>;
  readonly filters: Filters;
  readonly onRefresh: () => void;
}): JSX.Element {
  const [, setSearch] = useSearchParams();
  const { stats, isCounted, everySeconds, setEvery, question } = props.counts;
  return (
    <>
      <Show when={isCounted()}>
        <TimePicker
          filters={props.filters}
          everySeconds={everySeconds()}
          onEvery={setEvery}
          onRefresh={() => {
            question.refresh();
            props.onRefresh();
          }}
          isBusy={stats.isLoading()}
        />
      </Show>
      <FilterBar names={filterNames} placeholder={text.partUriOrRule} />
      <Show when={isCounted() && stats.problem()}>{(found) => <Notice tone="warn">{found().message}</Notice>}</Show>
      <Show when={isCounted() && stats.data()}>
        {(counted) => (
          <>
            <Histogram of={counted()} onPick={(from, to) => setSearch({ from, to, range: '' })} />
            <Facets of={counted()} filters={props.filters} />
          </>
        )}
      </Show>
      <p class="small faint">{mayAs('operator') ? workbench.keys : workbench.keysForViewers}</p>
    </>
  );
}

/** The rules that may be excluded because of the event. */
const excludable = (event: SecurityEvent): readonly RuleMessage[] =>
  (((event.details ?? {}) as EventDetails).messages ?? []).filter((one) => !isSummary(one));

/** The event whose row has the focus. */
function eventOfRow(target: EventTarget | null, items: readonly SecurityEvent[]): SecurityEvent | undefined {
  const row = target instanceof Element ? target.closest('[aria-rowindex]') : null;
  return row === null ? undefined : items[Number(row.getAttribute('aria-rowindex')) - 2];
}

/** The event that the address names: of the list, or asked for where the list does not reach it. */
function createChosen(list: PagedList<SecurityEvent>) {
  const [search, setSearch] = useSearchParams();
  const chosen = createMemo(() => (typeof search['event'] === 'string' ? search['event'] : null));
  const isChosen = ({ id }: SecurityEvent): boolean => String(id) === chosen();
  const listed = createMemo(() => list.items().find(isChosen));
  // an address that was sent to a colleague may name an event that the list does not reach
  const linked = createQuery('GET /api/events', () => {
    const { of } = search;
    if (chosen() === null || typeof of !== 'string' || list.isLoading() || listed() !== undefined) return null;
    return { query: { request_id: of } };
  });
  return {
    chosen,
    event: (): SecurityEvent | null => listed() ?? linked.data()?.items.find(isChosen) ?? null,
    open: (event: SecurityEvent | null): void =>
      setSearch({ event: event === null ? '' : String(event.id), of: event?.request_id ?? '' }),
  };
}

export function Events(): JSX.Element {
  const filters = useFilters(filterNames);
  const [isPaused, setPaused] = createSignal(false);
  const [excluding, setExcluding] = createSignal<SecurityEvent | null>(null);
  const counts = createCounts(filters, isPaused);
  const { question } = counts;
  const list = createPagedList('GET /api/events', question.list);
  const live = createLive({
    filters: question.list as Accessor<Filters>,
    isPaused,
    onGap: list.reload,
    onEvents: (events) => {
      // the first page may have what the stream brings as well
      const newest = list.items()[0]?.id ?? 0;
      list.prepend(
        events.filter(({ id }) => id > newest),
        keptMax,
      );
    },
  });
  const { chosen, event: eventOf, open } = createChosen(list);
  const onKey = (event: KeyboardEvent): void => {
    const found = eventOfRow(event.target, list.items());
    if (found === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    if (doByKey(event.key, found, setExcluding)) event.preventDefault();
  };
  return (
    <>
      <PageHead title={text.securityEvents} about={text.requestsRulesOrGates}>
        <Badge tone={liveTones[live.state()]}>{text.liveStates[live.state()]}</Badge>
        <Button icon={isPaused() ? 'play' : 'pause'} aria-pressed={isPaused()} onClick={() => setPaused(!isPaused())}>
          {isPaused() ? text.resume(live.waiting() > 0 ? text.new(live.waiting()) : '') : text.pause}
        </Button>
        <Show when={mayAs('operator')}>
          <ShareLinks />
        </Show>
      </PageHead>
      <Above counts={counts} filters={filters()} onRefresh={list.reload} />
      <div onKeyDown={onKey}>
        <Card isFlush>
          <Table
            label={text.securityEvents}
            isDense
            isLive
            columns={columns}
            of={ofPages(list)}
            keyOf={({ id }) => String(id)}
            chosen={chosen()}
            onOpen={open}
            empty={text.noEvents}
            emptyAbout={text.nothingMatchedTheseFilters}
          />
        </Card>
      </div>
      <Show when={excluding()}>
        {(event) => <ExcludeDialog event={event()} messages={excludable(event())} onClose={() => setExcluding(null)} />}
      </Show>
      <EventDrawer event={eventOf()} onClose={() => open(null)} />
    </>
  );
}
