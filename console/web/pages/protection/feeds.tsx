// Feeds of bad addresses: what is fetched, when, and what went wrong.
import { A } from '@solidjs/router';
import { type JSX } from 'solid-js';
import type { Reply } from '../../client/http.js';
import { showCount, showMoment } from '../../client/moments.js';
import { createQuery } from '../../client/query.js';
import { Badge, Card, Foreign, type Tone } from '../../kit/basics.js';
import { Table, type TableColumn } from '../../kit/table/table.js';
import { ofQuery } from '../../kit/table/table-source.js';
import { protectionText as text } from '../../texts/protection.js';

type Feed = Reply<'GET /api/threat-intel/feeds'>['feeds'][number];

const tones: Readonly<Record<string, Tone>> = { ok: 'good', failed: 'danger' };

const columns: readonly TableColumn<Feed>[] = [
  { title: text.name, cell: ({ name }) => name },
  { title: text.from, class: 'mono', cell: ({ host }) => <Foreign text={host} max={80} /> },
  { title: text.state, cell: ({ state }) => <Badge tone={tones[state] ?? 'neutral'}>{state}</Badge> },
  { title: text.networks, isNumber: true, cell: ({ entries }) => showCount(entries) },
  { title: text.fetched2, class: 'nums', cell: (feed) => showMoment(feed.succeeded_at) },
  { title: text.tried, class: 'nums', cell: (feed) => showMoment(feed.attempted_at) },
  { title: text.next, class: 'nums', cell: (feed) => showMoment(feed.next_at) },
  { title: text.wentWrong, cell: (feed) => <Foreign text={feed.last_error ?? '–'} max={300} /> },
];

export function Feeds(): JSX.Element {
  const feeds = createQuery('GET /api/threat-intel/feeds', () => ({}), { everyMs: 30_000 });
  return (
    <Card isFlush title={text.threatFeeds} actions={<A href="/admin/settings">{text.settings}</A>}>
      <Table
        label={text.threatFeeds}
        columns={columns}
        of={ofQuery(feeds, (data) => data.feeds)}
        keyOf={({ name }) => name}
        empty={text.noFeed}
        emptyAbout={text.noFeedAbout}
      />
    </Card>
  );
}
