// Security events: what comes, as it comes, and what came before, under the same filters. An event opens beside the
// list; its address can be sent to a colleague.
import { useSearchParams } from '@solidjs/router';
import { createMemo, createSignal, Show, type JSX } from 'solid-js';
import type { Item } from '../../client/http.js';
import { showMoment, zoneName } from '../../client/moments.js';
import { createPagedList } from '../../client/pages.js';
import { createQuery } from '../../client/query.js';
import { mayAs } from '../../client/session.js';
import { Badge, Button, Card, Foreign, PageHead, type Tone } from '../../kit/basics.js';
import { FilterBar, useFilters } from '../../kit/filter-bar.js';
import { Table, type TableColumn } from '../../kit/table/table.js';
import { ofPages } from '../../kit/table/table-source.js';
import { visibleText } from '../../kit/visible-text.js';
import { EventDrawer } from './event-drawer.js';
import { Facets } from './facets.js';
import { createLive, type LiveState } from './live.js';
import { Sentence } from './sentence/sentence.js';
import { ShareLinks } from './share/share-links.js';
import { eventsText as text } from '../../texts/events.js';
import { verdictTone } from './verdict-tone.js';

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
];
/** Of the stream: a hundred seconds of two hundred events; older ones are read again from the control plane. */
const keptMax = 20_000;

const columns: readonly TableColumn<SecurityEvent>[] = [
  { title: text.time(zoneName), width: 'var(--col-time,17ch)', class: 'nums', cell: ({ at }) => showMoment(at, true) },
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
    width: '18ch',
    isMinor: true,
    cell: ({ client_ip }) => (
      <span class="mono" title={client_ip}>
        {client_ip}
      </span>
    ),
  },
  { title: text.rule, width: '10ch', class: 'nums', isMinor: true, cell: ({ rule_id }) => <>{rule_id ?? '–'}</> },
  { title: text.score, width: '9ch', isMinor: true, isNumber: true, cell: ({ inbound_score }) => <>{inbound_score}</> },
  {
    title: text.request,
    width: 'var(--col-request,26%)',
    isMinor: true,
    cell: ({ method, uri }) => (
      <span class="mono" title={visibleText(uri)}>
        <Foreign text={method} max={20} /> <Foreign text={uri} max={300} />
      </span>
    ),
  },
  { title: text.site, width: '14ch', isMinor: true, cell: ({ site }) => <Foreign text={site} max={40} /> },
];

const liveTones: Readonly<Record<LiveState, Tone>> = { connecting: 'neutral', live: 'good', reconnecting: 'warn' };

export function Events(): JSX.Element {
  const filters = useFilters(filterNames);
  const [search, setSearch] = useSearchParams();
  const [isPaused, setPaused] = createSignal(false);
  const list = createPagedList('GET /api/events', () => filters());
  const live = createLive({
    filters,
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
  const chosen = createMemo(() => (typeof search['event'] === 'string' ? search['event'] : null));
  const open = (event: SecurityEvent | null): void =>
    setSearch({ event: event === null ? '' : String(event.id), of: event?.request_id ?? '' });
  const isChosen = ({ id }: SecurityEvent): boolean => String(id) === chosen();
  const listed = createMemo(() => list.items().find(isChosen));
  // an address that was sent to a colleague may name an event that the list does not reach
  const linked = createQuery('GET /api/events', () => {
    const { of } = search;
    if (chosen() === null || typeof of !== 'string' || list.isLoading() || listed() !== undefined) return null;
    return { query: { request_id: of } };
  });
  const eventOf = (): SecurityEvent | null => listed() ?? linked.data()?.items.find(isChosen) ?? null;
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
      <FilterBar names={filterNames} placeholder={text.partUriOrRule} />
      <Facets events={list.items()} />
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
          height="max(24rem, calc(100vh - 23rem))"
          empty={text.noEvents}
          emptyAbout={text.nothingMatchedTheseFilters}
        />
      </Card>
      <EventDrawer event={eventOf()} onClose={() => open(null)} />
    </>
  );
}
