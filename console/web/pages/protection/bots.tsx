// Programs that call themselves crawlers, and whether they are; programs by how they shake hands over TLS; the lists of
// networks that say which crawler is real.
import { A } from '@solidjs/router';
import { Show, type JSX } from 'solid-js';
import type { Reply } from '../../client/http.js';
import { showBytes, showCount, showMoment, zoneName } from '../../client/moments.js';
import { createQuery } from '../../client/query.js';
import { mayAs } from '../../client/session.js';
import { Badge, Card, Foreign, Pairs, type Tone } from '../../kit/basics.js';
import { Read } from '../../kit/page-state.js';
import { Table, type TableColumn } from '../../kit/table/table.js';
import { ofRows } from '../../kit/table/table-source.js';
import { protectionText as words } from '../../texts/protection.js';
import { Verify } from './verify-crawler.js';

type BotState = Reply<'GET /api/bots'>;
type Crawler = BotState['crawlers'][number];
type Fingerprint = BotState['fingerprints'][number];
type CrawlerList = BotState['lists'][number];

/** A moment in short, whole to who points at it. */
function Seen(props: { readonly at: string | undefined }): JSX.Element {
  return <span title={showMoment(props.at)}>{showMoment(props.at, true)}</span>;
}

const crawlerColumns: readonly TableColumn<Crawler>[] = [
  { title: words.crawler, sortBy: (one) => one.crawler, cell: (one) => one.crawler },
  { title: words.kind, sortBy: (one) => one.kind, cell: (one) => one.kind },
  { title: words.requests, isNumber: true, sortBy: (one) => one.requests, cell: (one) => showCount(one.requests) },
  { title: words.verified, isNumber: true, sortBy: (one) => one.verified, cell: (one) => showCount(one.verified) },
  { title: words.impostors, isNumber: true, sortBy: (one) => one.impostor, cell: (one) => showCount(one.impostor) },
  { title: words.notKnown, isNumber: true, sortBy: (one) => one.unverified, cell: (one) => showCount(one.unverified) },
  {
    title: words.networksListed,
    isNumber: true,
    sortBy: (one) => one.ranges,
    cell: (one) => <span title={words.networksAbout}>{showCount(one.ranges)}</span>,
  },
  {
    title: words.lately,
    class: 'nums',
    sortBy: (one) => one.recent?.requests ?? 0,
    cell: ({ recent }) =>
      recent === null
        ? '–'
        : words.latelyOf(showCount(recent.requests), showCount(recent.blocked), showBytes(recent.bytes)),
  },
  {
    get title() {
      return words.lastSeenIn(zoneName());
    },
    class: 'nums',
    sortBy: (one) => one.recent?.last_at ?? '',
    cell: ({ recent }) => <Seen at={recent?.last_at} />,
  },
];

const fingerprintColumns: readonly TableColumn<Fingerprint>[] = [
  {
    title: words.ja4,
    class: 'mono nums',
    sortBy: (one) => one.ja4,
    cell: ({ ja3, ja4, listed }) => (
      <div class="stack tight">
        <A href={`/requests?ja4=${encodeURIComponent(ja4)}`}>{ja4}</A>
        <span class="small faint">{ja3}</span>
        <Show when={listed}>
          <span>
            <Badge tone="danger">{words.listed}</Badge>
          </span>
        </Show>
      </div>
    ),
  },
  { title: words.whatSaysItselfUser, cell: (one) => <Foreign text={one.user_agent} max={120} /> },
  {
    title: words.userAgents,
    isNumber: true,
    sortBy: (one) => one.user_agents,
    cell: (one) => <span title={words.userAgentsAbout}>{showCount(one.user_agents)}</span>,
  },
  { title: words.clients, isNumber: true, sortBy: (one) => one.clients, cell: (one) => showCount(one.clients) },
  { title: words.requests, isNumber: true, sortBy: (one) => one.requests, cell: (one) => showCount(one.requests) },
  { title: words.refusedOf, isNumber: true, sortBy: (one) => one.blocked, cell: (one) => showCount(one.blocked) },
  { title: words.answers, isNumber: true, sortBy: (one) => one.bytes, cell: (one) => showBytes(one.bytes) },
  {
    get title() {
      return words.lastSeenIn(zoneName());
    },
    class: 'nums',
    sortBy: (one) => one.last_at,
    cell: (one) => <Seen at={one.last_at} />,
  },
];

const listTones: Readonly<Record<string, Tone>> = { ok: 'good', waiting: 'neutral', failed: 'warn' };
const listColumns: readonly TableColumn<CrawlerList>[] = [
  { title: words.crawler, sortBy: (one) => one.crawler, cell: (one) => one.crawler },
  { title: words.from, class: 'mono', cell: (one) => one.host },
  { title: words.state, cell: ({ state }) => <Badge tone={listTones[state] ?? 'neutral'}>{state}</Badge> },
  { title: words.networks, isNumber: true, sortBy: (one) => one.networks, cell: (one) => showCount(one.networks) },
  { title: words.fetched2, class: 'nums', cell: (one) => showMoment(one.succeeded_at) },
  { title: words.next, class: 'nums', cell: (one) => showMoment(one.next_at) },
  { title: words.wentWrong, cell: (one) => <Foreign text={one.last_error ?? '–'} max={160} /> },
];

function Crawlers(props: { readonly of: BotState }): JSX.Element {
  const seen = (): readonly Crawler[] =>
    props.of.crawlers.filter(({ requests }) => requests > 0).toSorted((left, right) => right.requests - left.requests);
  const unseen = (): number => props.of.crawlers.length - seen().length;
  return (
    <Card
      isFlush
      title={words.crawlers}
      actions={
        <Show when={seen().length > 0 && unseen() > 0}>
          <span class="small faint">{words.notSeen(showCount(unseen()))}</span>
        </Show>
      }
    >
      <Table
        label={words.crawlers}
        columns={crawlerColumns}
        of={ofRows(seen)}
        keyOf={(one) => one.crawler}
        empty={words.noCrawlerCameSince}
        emptyAbout={words.noCrawlerAbout}
      />
    </Card>
  );
}

function Settings(props: { readonly of: BotState }): JSX.Element {
  return (
    <Card
      title={words.botSettings}
      actions={
        <A class="mono small" href="/admin/settings/bots#bot_action">
          {words.botActionOf(props.of.action)}
        </A>
      }
    >
      <Pairs
        of={[
          [words.botPoints, words.pointsOf(props.of.score_threshold)],
          [words.verifiedPass, props.of.allow_verified ? words.letPass : words.treatedAsOthers],
          [words.dnsProof, props.of.verify_rdns ? words.yes : words.no],
        ]}
      />
    </Card>
  );
}

/** Read again every ten seconds. */
export function Bots(): JSX.Element {
  const bots = createQuery('GET /api/bots', () => ({}), { everyMs: 10_000 });
  return (
    <>
      <Read of={bots}>
        {(data) => (
          <>
            <Settings of={data()} />
            <Crawlers of={data()} />
            <Card
              isFlush
              title={words.tlsClients}
              actions={
                <span class="small faint">
                  {words.tlsClientsAbout(
                    showCount(data().recent_requests_max),
                    showCount(Math.round(data().recent_seconds / 60)),
                  )}
                </span>
              }
            >
              <Table
                label={words.tlsClients}
                columns={fingerprintColumns}
                of={ofRows(() => data().fingerprints)}
                keyOf={({ ja3, ja4 }) => `${ja3} ${ja4}`}
                empty={words.noTls}
                emptyAbout={words.noTlsAbout}
              />
            </Card>
            <Show when={data().lists.length > 0}>
              <Card isFlush title={words.crawlerLists}>
                <Table
                  label={words.crawlerLists}
                  columns={listColumns}
                  of={ofRows(() => data().lists)}
                  keyOf={({ crawler, host }) => `${crawler} ${host}`}
                  empty=""
                />
              </Card>
            </Show>
          </>
        )}
      </Read>
      <Show when={mayAs('operator')}>
        <Verify />
      </Show>
    </>
  );
}
