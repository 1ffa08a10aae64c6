import { A, useNavigate } from '@solidjs/router';
import { Show, type JSX } from 'solid-js';
import type { Item } from '../../client/http.js';
import { showBytes, showMicroseconds, showMoment, zoneName } from '../../client/moments.js';
import { createPagedList } from '../../client/pages.js';
import { Badge, Button, Card, Empty, Foreign, Loading, Notice, PageHead } from '../../kit/basics.js';
import { FilterBar, useFilters } from '../../kit/filter-bar.js';
import { VirtualList, type ListColumn } from '../../kit/virtual-list.js';
import { toneOf } from './events.js';

type RequestRow = Item<'GET /api/requests'>;

const filterNames = ['q', 'verdict', 'rule_id', 'client_ip', 'site', 'method', 'status', 'request_id', 'from', 'to'];

const columns: readonly ListColumn<RequestRow>[] = [
  { title: `Time (${zoneName})`, width: '13ch', isNumber: true, cell: ({ at }) => showMoment(at, true) },
  { title: 'Verdict', width: '9ch', cell: ({ verdict }) => <Badge tone={toneOf(verdict)}>{verdict}</Badge> },
  { title: 'Status', width: '6ch', isNumber: true, cell: ({ status }) => <>{status}</> },
  { title: 'Client', width: 'minmax(11ch, 16ch)', cell: ({ client_ip }) => <span class="mono">{client_ip}</span> },
  {
    title: 'Request',
    width: 'minmax(18ch, 1fr)',
    cell: ({ method, uri }) => (
      <span class="mono">
        <Foreign text={method} max={20} /> <Foreign text={uri} max={300} />
      </span>
    ),
  },
  { title: 'Site', width: 'minmax(8ch, 14ch)', cell: ({ site }) => <Foreign text={site} max={40} /> },
  { title: 'Answer', width: '8ch', isNumber: true, cell: ({ response_bytes }) => showBytes(response_bytes) },
  { title: 'Took', width: '8ch', isNumber: true, cell: ({ latency_us }) => showMicroseconds(latency_us) },
];

/** The request log, newest first. A request that rules saw opens as its security event. */
export function Requests(): JSX.Element {
  const filters = useFilters(filterNames);
  const navigate = useNavigate();
  const list = createPagedList('GET /api/requests', () => filters());
  return (
    <>
      <PageHead
        title="Requests"
        about={
          <>
            Every request that is kept, newest first. How long they stay is set under{' '}
            <A href="/admin/settings/retention">Settings</A>.
          </>
        }
      >
        <Button onClick={list.reload} isBusy={list.isLoading()}>
          Refresh
        </Button>
      </PageHead>
      <FilterBar names={filterNames} placeholder="Part of the URI, or status:404, client_ip:…, site:…" />
      <Show when={list.problem()}>{(problem) => <Notice tone="danger">{problem().message}</Notice>}</Show>
      <Card isFlush>
        <Show
          when={list.items().length > 0}
          fallback={
            <Show when={!list.isLoading()} fallback={<Loading />}>
              <Empty title="No requests">Nothing matched these filters.</Empty>
            </Show>
          }
        >
          <VirtualList
            label="Requests"
            items={list.items()}
            columns={columns}
            keyOf={({ id }) => String(id)}
            chosen={null}
            onChoose={({ request_id }) => navigate(`/soc?request_id=${encodeURIComponent(request_id)}`)}
            onEnd={list.readMore}
            height="max(24rem, calc(100vh - 17rem))"
          />
        </Show>
      </Card>
      <p class="faint small" role="status">
        {list.items().length} shown{list.hasMore() ? '; more are read as you scroll' : ', all there are'}
      </p>
    </>
  );
}
