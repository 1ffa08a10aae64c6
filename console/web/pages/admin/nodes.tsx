import { createSignal, For, onCleanup, Show, type JSX } from 'solid-js';
import { showAge, showBytes, showCount, showMoment } from '../../client/moments.js';
import { createQuery } from '../../client/query.js';
import { Badge, Card, Empty, Figure, PageHead, type Tone } from '../../kit/basics.js';
import { Read } from '../../kit/page-state.js';

const everyMs = 5000;
const toneOf = (state: string): Tone => (state === 'active' ? 'good' : state === 'behind' ? 'warn' : 'danger');

function NodeTable(props: { readonly now: number }): JSX.Element {
  const nodes = createQuery('GET /api/nodes', () => ({}), { everyMs });
  return (
    <Card title="Data-plane nodes" isFlush>
      <Read of={nodes}>
        {(data) => (
          <div class="table-scroll">
            <table class="table">
              <thead>
                <tr>
                  <th>Node</th>
                  <th>State</th>
                  <th class="num">Workers</th>
                  <th class="num">Version</th>
                  <th class="num">Generation</th>
                  <th>Rule set</th>
                  <th>Seen</th>
                </tr>
              </thead>
              <tbody>
                <For
                  each={data().items}
                  fallback={
                    <tr>
                      <td colspan="7">
                        <Empty title="No node is known" />
                      </td>
                    </tr>
                  }
                >
                  {(node) => (
                    <tr>
                      <td class="mono">{node.url}</td>
                      <td>
                        <Badge tone={toneOf(node.state)}>{node.state}</Badge> <span class="small">{node.detail}</span>
                      </td>
                      <td class="num">{node.workers}</td>
                      <td class="num">{node.version ?? '–'}</td>
                      <td class="num">{node.generation ?? '–'}</td>
                      <td class="mono" title={node.ruleset}>
                        {node.ruleset.slice(0, 12)}
                      </td>
                      <td class="nums">{showAge(node.last_seen_at, props.now)}</td>
                    </tr>
                  )}
                </For>
              </tbody>
            </table>
          </div>
        )}
      </Read>
    </Card>
  );
}

function JobTable(props: { readonly now: number }): JSX.Element {
  const jobs = createQuery('GET /api/jobs', () => ({}), { everyMs });
  return (
    <Card title="Background work" isFlush>
      <Read of={jobs}>
        {(data) => (
          <div class="table-scroll">
            <table class="table">
              <thead>
                <tr>
                  <th>Job</th>
                  <th class="num">Runs</th>
                  <th class="num">Failures</th>
                  <th>Last</th>
                  <th>What came of it</th>
                </tr>
              </thead>
              <tbody>
                <For each={data().items}>
                  {(job) => (
                    <tr>
                      <td class="mono">{job.name}</td>
                      <td class="num">{showCount(job.runs)}</td>
                      <td class="num">{showCount(job.failures)}</td>
                      <td class="nums">{showAge(job.last_ended_at, props.now)}</td>
                      <td>
                        <Show when={job.last_error} fallback={job.last_result}>
                          <Badge tone="danger">{job.last_error}</Badge>
                        </Show>
                      </td>
                    </tr>
                  )}
                </For>
              </tbody>
            </table>
          </div>
        )}
      </Read>
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
