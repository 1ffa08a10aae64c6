// Feeds of addresses to block: what is fetched, when, and what went wrong; and the managed feed of the vendor.
import { A } from '@solidjs/router';
import { createSignal, Show, type JSX } from 'solid-js';
import { call, Refused, type Reply } from '../../client/http.js';
import { showCount, showMoment } from '../../client/moments.js';
import { createQuery } from '../../client/query.js';
import { mayAs } from '../../client/session.js';
import { Badge, Button, Card, Foreign, Notice, PageHead, Pairs, type Tone } from '../../kit/basics.js';
import { tell, tellProblem } from '../../kit/overlays.js';
import { Read } from '../../kit/page-state.js';
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

function Feeds(): JSX.Element {
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
    <Card isFlush title={text.lists} actions={<A href="/admin/settings/feeds">{text.settings}</A>}>
      <Table
        label={text.lists}
        columns={columns}
        of={ofQuery(feeds, (data) => data.feeds)}
        keyOf={({ name }) => name}
        empty={text.noFeed}
        emptyAbout={text.noFeedAbout}
      />
    </Card>
  );
}

function ManagedFeed(): JSX.Element {
  const feed = createQuery('GET /api/managed-feed', () => ({}), { everyMs: 30_000 });
  const [isBusy, setBusy] = createSignal(false);
  const refresh = async (): Promise<void> => {
    setBusy(true);
    try {
      await call('POST /api/managed-feed/refresh');
      tell(text.fetched);
      await feed.reload();
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      tellProblem(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Card
      title={text.managedFeed}
      actions={
        <Show when={mayAs('admin')}>
          <A href="/admin/settings/feeds#mrf_enabled">{text.settings}</A>
          <Button isBusy={isBusy()} disabled={feed.data()?.enabled !== true} onClick={() => void refresh()}>
            {text.fetchNow}
          </Button>
        </Show>
      }
    >
      <Read of={feed}>
        {(data) => (
          <div class="stack tight">
            <div class="row">
              <Badge tone={data().enabled ? 'good' : 'neutral'}>{data().enabled ? 'on' : 'off'}</Badge>
              <span class="muted">{data().url === '' ? text.baselineComesProgram : data().url}</span>
            </div>
            <Show when={data().last_error}>{(problem) => <Notice tone="warn">{problem()}</Notice>}</Show>
            <Show when={data().copy}>
              {(copy) => (
                <Pairs
                  of={[
                    [text.name, copy().name],
                    [text.version, String(copy().version)],
                    [text.fetched2, showMoment(copy().fetched_at)],
                    [text.networks, showCount(copy().networks)],
                    [text.signed, copy().signed ? 'yes' : 'no'],
                  ]}
                />
              )}
            </Show>
          </div>
        )}
      </Read>
    </Card>
  );
}

export function FeedsPage(): JSX.Element {
  return (
    <>
      <PageHead
        title={text.threatFeeds}
        about={
          <>
            {text.threatFeedsAbout} <A href="/protection/addresses">{text.theirClients}</A>
          </>
        }
      />
      <Feeds />
      <ManagedFeed />
    </>
  );
}
