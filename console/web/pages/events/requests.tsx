import { A, useNavigate } from '@solidjs/router';
import { type JSX } from 'solid-js';
import type { Item } from '../../client/http.js';
import { showBytes, showMicroseconds, showMoment, zoneName } from '../../client/moments.js';
import { createPagedList } from '../../client/pages.js';
import { Badge, Button, Card, Foreign, PageHead } from '../../kit/basics.js';
import { FilterBar, useFilters } from '../../kit/filter-bar.js';
import { Table, type TableColumn } from '../../kit/table/table.js';
import { ofPages } from '../../kit/table/table-source.js';
import { visibleText } from '../../kit/visible-text.js';
import { verdictTone } from './verdict-tone.js';
import { eventsText as text } from '../../texts/events.js';

type RequestRow = Item<'GET /api/requests'>;

const filterNames = 'q verdict rule_id client_ip site method status request_id ja3 ja4 path from to as_of'.split(' ');

const columns: readonly TableColumn<RequestRow>[] = [
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
  { title: text.status, width: '9ch', isMinor: true, isNumber: true, cell: ({ status }) => <>{status}</> },
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
  {
    title: text.request,
    cell: ({ method, uri }) => (
      <span class="mono" title={visibleText(uri)}>
        <Foreign text={method} max={20} /> <Foreign text={uri} max={300} />
      </span>
    ),
  },
  { title: text.site, width: '14ch', isMinor: true, cell: ({ site }) => <Foreign text={site} max={40} /> },
  {
    title: text.answer,
    width: '11ch',
    isMinor: true,
    isNumber: true,
    cell: ({ response_bytes }) => showBytes(response_bytes),
  },
  {
    title: text.took,
    width: '11ch',
    isMinor: true,
    isNumber: true,
    cell: ({ latency_us }) => showMicroseconds(latency_us),
  },
];

/** The request log, newest first. A request that rules saw opens as its security event. */
export function Requests(): JSX.Element {
  const filters = useFilters(filterNames);
  const navigate = useNavigate();
  const list = createPagedList('GET /api/requests', () => filters());
  return (
    <>
      <PageHead
        title={text.requests}
        about={
          <>
            {text.everyRequestKeptNewest} <A href="/admin/settings/retention">{text.settings}</A>.
          </>
        }
      >
        <Button onClick={list.reload} isBusy={list.isLoading()}>
          {text.refresh}
        </Button>
      </PageHead>
      <FilterBar names={filterNames} placeholder={text.partUriOrStatus} />
      <Card isFlush>
        <Table
          label={text.requests}
          isDense
          columns={columns}
          of={ofPages(list)}
          keyOf={({ id }) => String(id)}
          onOpen={({ request_id }) => navigate(`/soc?request_id=${encodeURIComponent(request_id)}`)}
          empty={text.noRequests}
          emptyAbout={text.nothingMatchedTheseFilters2}
        />
      </Card>
    </>
  );
}
