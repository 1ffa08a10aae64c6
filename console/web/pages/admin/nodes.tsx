import { createSignal, onCleanup, Show, type JSX } from 'solid-js';
import type { Item } from '../../client/http.js';
import { showAge, showBytes, showCount, showMoment } from '../../client/moments.js';
import { createQuery } from '../../client/query.js';
import { Badge, Card, Figure, PageHead, type Tone } from '../../kit/basics.js';
import { Read } from '../../kit/page-state.js';
import { Table, type TableColumn } from '../../kit/table.js';
import { ofQuery } from '../../kit/table-source.js';

const everyMs = 5000;
const toneOf = (state: string): Tone => (state === 'active' ? 'good' : state === 'behind' ? 'warn' : 'danger');

function NodeTable(props: { readonly now: number }): JSX.Element {
  const nodes = createQuery('GET /api/nodes', () => ({}), { everyMs });
  const columns: readonly TableColumn<Item<'GET /api/nodes'>>[] = [
    { title: 'Node', class: 'mono', sortBy: (node) => node.url, cell: (node) => node.url },
    {
      title: 'State',
      cell: (node) => (
        <>
          <Badge tone={toneOf(node.state)}>{node.state}</Badge> <span class="small">{node.detail}</span>
        </>
      ),
    },
    { title: 'Workers', isNumber: true, sortBy: (node) => node.workers, cell: (node) => node.workers },
    { title: 'Version', isNumber: true, sortBy: (node) => node.version, cell: (node) => node.version ?? '–' },
    { title: 'Generation', isNumber: true, sortBy: (node) => node.generation, cell: (node) => node.generation ?? '–' },
    {
      title: 'Rule set',
      class: 'mono',
      cell: (node) => <span title={node.ruleset}>{node.ruleset.slice(0, 12)}</span>,
    },
    {
      title: 'Seen',
      class: 'nums',
      sortBy: (node) => node.last_seen_at,
      cell: (node) => showAge(node.last_seen_at, props.now),
    },
  ];
  return (
    <Card title="Data-plane nodes" isFlush>
      <Table
        label="Data-plane nodes"
        columns={columns}
        of={ofQuery(nodes, ({ items }) => items)}
        keyOf={({ url }) => url}
        empty="No node is known"
      />
    </Card>
  );
}

function JobTable(props: { readonly now: number }): JSX.Element {
  const jobs = createQuery('GET /api/jobs', () => ({}), { everyMs });
  const columns: readonly TableColumn<Item<'GET /api/jobs'>>[] = [
    { title: 'Job', class: 'mono', sortBy: (job) => job.name, cell: (job) => job.name },
    { title: 'Runs', isNumber: true, sortBy: (job) => job.runs, cell: (job) => showCount(job.runs) },
    { title: 'Failures', isNumber: true, sortBy: (job) => job.failures, cell: (job) => showCount(job.failures) },
    {
      title: 'Last',
      class: 'nums',
      sortBy: (job) => job.last_ended_at,
      cell: (job) => showAge(job.last_ended_at, props.now),
    },
    {
      title: 'What came of it',
      cell: (job) => (
        <Show when={job.last_error} fallback={job.last_result}>
          <Badge tone="danger">{job.last_error}</Badge>
        </Show>
      ),
    },
  ];
  return (
    <Card title="Background work" isFlush>
      <Table
        label="Background work"
        columns={columns}
        of={ofQuery(jobs, ({ items }) => items)}
        keyOf={({ name }) => name}
        empty="No work is known"
      />
    </Card>
  );
}

export function Nodes(): JSX.Element {
  const stats = createQuery('GET /api/policy/stats', () => ({}), { everyMs: 10_000 });
  const [now, setNow] = createSignal(Date.now());
  const timer = setInterval(() => setNow(Date.now()), 1000);
  onCleanup(() => clearInterval(timer));
  return (
    <>
      <PageHead title="Nodes" about="What protects, what it serves, and what works in the background." />
      <NodeTable now={now()} />
      <Read of={stats}>
        {(data) => (
          <div class="grid-4">
            <Figure
              label="Requests stored"
              value={showCount(data().requests_stored)}
              note={`for ${data().retention_requests_days} days`}
              href="/requests"
            />
            <Figure label="Security events stored" value={showCount(data().events_stored)} href="/soc" />
            <Figure
              label="Database"
              value={showBytes(data().database_bytes)}
              note={`oldest request ${showMoment(data().oldest_request_at)}`}
            />
            <Figure
              label="Records lost"
              value={showCount(data().records_dropped_by_nodes + data().records_refused)}
              note={`${showCount(data().records_sampled_out)} sampled out`}
            />
          </div>
        )}
      </Read>
      <JobTable now={now()} />
    </>
  );
}
