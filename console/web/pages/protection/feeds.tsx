// Feeds of bad addresses: what is fetched, when, and what went wrong.
import { A } from '@solidjs/router';
import { createSignal, Show, type JSX } from 'solid-js';
import { call, Refused, type Reply } from '../../client/http.js';
import { showCount, showMoment } from '../../client/moments.js';
import { createQuery } from '../../client/query.js';
import { mayAs } from '../../client/session.js';
import { Badge, Button, Card, Foreign, type Tone } from '../../kit/basics.js';
import { tell, tellProblem } from '../../kit/overlays.js';
import { Table, type TableColumn } from '../../kit/table/table.js';
import { ofQuery } from '../../kit/table/table-source.js';
import { protectionText as text } from '../../texts/protection.js';

type Feed = Reply<'GET /api/threat-intel/feeds'>['feeds'][number];

const tones: Readonly<Record<string, Tone>> = { ok: 'good', failed: 'danger' };

const columnsOf = (
  isBusy: (name: string) => boolean,
  fetchNow: (name: string) => Promise<void>,
): readonly TableColumn<Feed>[] => [
  { title: text.name, cell: ({ name }) => name },
  { title: text.from, class: 'mono', cell: ({ host }) => <Foreign text={host} max={80} /> },
  { title: text.state, cell: ({ state }) => <Badge tone={tones[state] ?? 'neutral'}>{state}</Badge> },
  { title: text.networks, isNumber: true, cell: ({ entries }) => showCount(entries) },
  { title: text.fetched2, class: 'nums', cell: (feed) => showMoment(feed.succeeded_at) },
  { title: text.tried, class: 'nums', cell: (feed) => showMoment(feed.attempted_at) },
  { title: text.next, class: 'nums', cell: (feed) => showMoment(feed.next_at) },
  { title: text.wentWrong, cell: (feed) => <Foreign text={feed.last_error ?? '–'} max={300} /> },
  {
    title: text.actions,
    isTitleHidden: true,
    cell: ({ name }) => (
      <Show when={mayAs('operator')}>
        <Button isSmall isBusy={isBusy(name)} onClick={() => void fetchNow(name)}>
          {text.fetchNow}
        </Button>
      </Show>
    ),
  },
];

export function Feeds(): JSX.Element {
  const feeds = createQuery('GET /api/threat-intel/feeds', () => ({}), { everyMs: 30_000 });
  const [busy, setBusy] = createSignal('');
  const fetchNow = async (name: string): Promise<void> => {
    setBusy(name);
    try {
      const { feeds: now } = await call('POST /api/threat-intel/feeds/{name}/fetch', { params: { name } });
      const failure = now.find((one) => one.name === name)?.last_error ?? null;
      if (failure === null) tell(text.fetched);
      else tellProblem(new Error(text.feedFailed));
      await feeds.reload();
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      tellProblem(error);
    } finally {
      setBusy('');
    }
  };
  const columns = columnsOf((name) => busy() === name, fetchNow);
  return (
    <Card isFlush title={text.threatFeeds} actions={<A href="/admin/settings/feeds">{text.settings}</A>}>
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
