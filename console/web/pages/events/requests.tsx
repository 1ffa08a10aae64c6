import { A, useNavigate } from '@solidjs/router';
import { type JSX } from 'solid-js';
import type { Item } from '../../client/http.js';
import { showBytes, showMicroseconds, showMoment, zoneName } from '../../client/moments.js';
import { createPagedList } from '../../client/pages.js';
import { Badge, Button, Card, Foreign, PageHead } from '../../kit/basics.js';
import { FilterBar, useFilters } from '../../kit/filter-bar.js';
import { Table, type TableColumn } from '../../kit/table.js';
import { ofPages } from '../../kit/table-source.js';
import { toneOf } from './events.js';

type RequestRow = Item<'GET /api/requests'>;

const filterNames = ['q', 'verdict', 'rule_id', 'client_ip', 'site', 'method', 'status', 'request_id', 'from', 'to'];

const columns: readonly TableColumn<RequestRow>[] = [
  { title: `Time (${zoneName})`, width: '17ch', class: 'nums', cell: ({ at }) => showMoment(at, true) },
  { title: 'Verdict', width: '12ch', cell: ({ verdict }) => <Badge tone={toneOf(verdict)}>{verdict}</Badge> },
  { title: 'Status', width: '9ch', isNumber: true, cell: ({ status }) => <>{status}</> },
  { title: 'Client', width: '20ch', cell: ({ client_ip }) => <span class="mono">{client_ip}</span> },
  {
    title: 'Request',
    cell: ({ method, uri }) => (
      <span class="mono">
        <Foreign text={method} max={20} /> <Foreign text={uri} max={300} />
      </span>
    ),
  },
  { title: 'Site', width: '18ch', cell: ({ site }) => <Foreign text={site} max={40} /> },
  { title: 'Answer', width: '12ch', isNumber: true, cell: ({ response_bytes }) => showBytes(response_bytes) },
  { title: 'Took', width: '12ch', isNumber: true, cell: ({ latency_us }) => showMicroseconds(latency_us) },
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
      <Card isFlush>
        <Table
          label="Requests"
          isDense
          columns={columns}
          of={ofPages(list)}
          keyOf={({ id }) => String(id)}
          onOpen={({ request_id }) => navigate(`/soc?request_id=${encodeURIComponent(request_id)}`)}
          height="max(24rem, calc(100vh - 17rem))"
          empty="No requests"
          emptyAbout="Nothing matched these filters."
        />
      </Card>
      <p class="faint small" role="status">
        {list.items().length} shown{list.hasMore() ? '; more are read as you scroll' : ', all there are'}
      </p>
    </>
  );
}
