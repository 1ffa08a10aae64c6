import { createSignal, onCleanup, Show, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { call, type Item } from '../../client/http.js';
import { showAge, showBytes, showCount, showMoment } from '../../client/moments.js';
import { createQuery } from '../../client/query.js';
import { mayAs } from '../../client/session.js';
import { Badge, Button, Card, Figure, Notice, PageHead, type Tone } from '../../kit/basics.js';
import { tell } from '../../kit/overlays.js';
import { Read } from '../../kit/page-state.js';
import { Table, type TableColumn } from '../../kit/table/table.js';
import { ofQuery } from '../../kit/table/table-source.js';
import { ClockNotice } from './clock-notice.js';
import { adminText as text } from '../../texts/admin.js';
import { fleetText } from '../../texts/resources/fleet.js';
import { EnrolledNodes } from './enrolled.js';
import { LastRollout } from './rollout.js';

const everyMs = 5000;
const toneOf = (state: string): Tone => (state === 'active' ? 'good' : state === 'behind' ? 'warn' : 'danger');

function Drain(props: { readonly node: Item<'GET /api/nodes'>; readonly onDone: () => void }): JSX.Element {
  const action = createAction();
  const drain = async (): Promise<void> => {
    const { url, draining } = props.node;
    const body = { url, drain: !draining };
    if (!(await action.run(() => call('POST /api/nodes/drain', { body })))) return;
    tell(draining ? fleetText.putBack(url) : fleetText.drained(url));
    props.onDone();
  };
  return (
    <>
      <Button isSmall isBusy={action.isBusy()} onClick={() => void drain()}>
        {props.node.draining ? fleetText.undrain : fleetText.drain}
      </Button>
      <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
    </>
  );
}

function State(props: { readonly node: Item<'GET /api/nodes'> }): JSX.Element {
  return (
    <>
      <Badge tone={toneOf(props.node.state)}>{props.node.state}</Badge>{' '}
      <Show when={props.node.draining}>
        <Badge tone="warn">{fleetText.draining}</Badge>
      </Show>{' '}
      <span class="small">{props.node.detail}</span>
    </>
  );
}

function NodeTable(props: { readonly now: number }): JSX.Element {
  const nodes = createQuery('GET /api/nodes', () => ({}), { everyMs });
  const columns: readonly TableColumn<Item<'GET /api/nodes'>>[] = [
    { title: text.node, class: 'mono', sortBy: (node) => node.url, cell: (node) => node.url },
    {
      title: text.state,
      cell: (node) => <State node={node} />,
    },
    { title: text.workers, isNumber: true, sortBy: (node) => node.workers, cell: (node) => node.workers },
    { title: text.version, isNumber: true, sortBy: (node) => node.version, cell: (node) => node.version ?? '–' },
    {
      title: text.generation,
      isNumber: true,
      sortBy: (node) => node.generation,
      cell: (node) => node.generation ?? '–',
    },
    {
      title: text.ruleSet,
      class: 'mono',
      cell: (node) => <span title={node.ruleset}>{node.ruleset.slice(0, 12)}</span>,
    },
    { title: fleetText.release, class: 'mono', sortBy: (node) => node.release, cell: (node) => node.release ?? '–' },
    {
      title: fleetText.load,
      isNumber: true,
      sortBy: (node) => node.load,
      cell: (node) => (
        <span title={fleetText.loadAbout(showCount(node.requests_per_minute ?? 0))}>
          {node.load === null ? '–' : `${Math.round(node.load * 100)} %`}
        </span>
      ),
    },
    {
      title: text.seen,
      class: 'nums',
      sortBy: (node) => node.last_seen_at,
      cell: (node) => showAge(node.last_seen_at, props.now),
    },
    {
      title: fleetText.actions,
      isTitleHidden: true,
      cell: (node) => (
        <Show when={mayAs('operator') && node.state !== 'unreachable'}>
          <Drain node={node} onDone={() => void nodes.reload()} />
        </Show>
      ),
    },
  ];
  return (
    <Card title={text.dataPlaneNodes} isFlush>
      <Table
        label={text.dataPlaneNodes}
        columns={columns}
        of={ofQuery(nodes, ({ items }) => items)}
        keyOf={({ url }) => url}
        empty={text.noNodeKnown}
      />
    </Card>
  );
}

function JobTable(props: { readonly now: number }): JSX.Element {
  const jobs = createQuery('GET /api/jobs', () => ({}), { everyMs });
  const columns: readonly TableColumn<Item<'GET /api/jobs'>>[] = [
    { title: text.job, class: 'mono nums', sortBy: (job) => job.name, cell: (job) => job.name },
    { title: text.runs, isNumber: true, sortBy: (job) => job.runs, cell: (job) => showCount(job.runs) },
    { title: text.failures, isNumber: true, sortBy: (job) => job.failures, cell: (job) => showCount(job.failures) },
    {
      title: text.last,
      class: 'nums',
      sortBy: (job) => job.last_ended_at,
      cell: (job) => showAge(job.last_ended_at, props.now),
    },
    {
      title: text.whatCame,
      cell: (job) => (
        <>
          <Show when={job.is_hanging}>
            <Badge tone="danger">{text.hangsSince(showAge(job.running_since, props.now))}</Badge>{' '}
          </Show>
          <Show when={job.last_error} fallback={job.last_result}>
            <Badge tone="danger">{job.last_error}</Badge>
          </Show>
        </>
      ),
    },
  ];
  return (
    <Card title={text.backgroundWork} isFlush>
      <Table
        label={text.backgroundWork}
        columns={columns}
        of={ofQuery(jobs, ({ items }) => items)}
        keyOf={({ name }) => name}
        empty={text.noWorkKnown}
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
      <PageHead title={text.nodes} about={text.whatProtectsWhatServes} />
      <ClockNotice />
      <LastRollout />
      <NodeTable now={now()} />
      <EnrolledNodes />
      <Read of={stats}>
        {(data) => (
          <div class="grid-4">
            <Figure
              label={text.requestsStored}
              value={showCount(data().requests_stored)}
              note={text.forDays(data().retention_requests_days)}
              href="/requests"
            />
            <Figure label={text.securityEventsStored} value={showCount(data().events_stored)} href="/soc" />
            <Figure
              label={text.database}
              value={showBytes(data().database_bytes)}
              note={text.oldestRequest(showMoment(data().oldest_request_at))}
            />
            <Figure
              label={text.recordsLost}
              value={showCount(data().records_dropped_by_nodes + data().records_refused)}
              note={text.sampledOut(showCount(data().records_sampled_out))}
            />
          </div>
        )}
      </Read>
      <JobTable now={now()} />
    </>
  );
}
