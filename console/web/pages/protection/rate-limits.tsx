import { For, Show, type JSX } from 'solid-js';
import type { Reply } from '../../client/http.js';
import { showCount } from '../../client/moments.js';
import { createQuery } from '../../client/query.js';
import { Badge, Card, Empty, Foreign, Notice, type Tone } from '../../kit/basics.js';
import { Read } from '../../kit/page-state.js';

type NodeLimits = Reply<'GET /api/rate-limits'>['nodes'][number];

const toneOf = (outcome: string): Tone =>
  outcome === 'limited' ? 'danger' : outcome.startsWith('would') ? 'warn' : 'neutral';

function ZoneTable(props: { readonly node: NodeLimits }): JSX.Element {
  return (
    <div class="table-scroll">
      <table class="table">
        <thead>
          <tr>
            <th>Limit</th>
            <th>Site</th>
            <th>Outcome</th>
            <th class="num">Requests</th>
          </tr>
        </thead>
        <tbody>
          <For
            each={props.node.zones}
            fallback={
              <tr>
                <td colspan="4">
                  <Empty title="Nothing was counted yet" />
                </td>
              </tr>
            }
          >
            {(zone) => (
              <tr>
                <td class="mono">
                  <Foreign text={zone.zone} max={80} />
                </td>
                <td>
                  <Foreign text={zone.site} max={60} />
                </td>
                <td>
                  <Badge tone={toneOf(zone.outcome)}>{zone.outcome.replaceAll('_', ' ')}</Badge>
                </td>
                <td class="num">{showCount(zone.count)}</td>
              </tr>
            )}
          </For>
        </tbody>
      </table>
    </div>
  );
}

function HeavyClients(props: { readonly node: NodeLimits }): JSX.Element {
  return (
    <Show when={props.node.heavy.length > 0}>
      <div class="body stack tight">
        <h3>Limited most</h3>
        <For each={props.node.heavy}>
          {(one) => (
            <div class="row between">
              <span class="mono">
                <Foreign text={one.network} /> <span class="faint">{one.zone}</span>
              </span>
              <span class="nums">{showCount(one.limited)}</span>
            </div>
          )}
        </For>
      </div>
    </Show>
  );
}

/** What each limit counted on each node, and the clients that met it most. */
export function RateLimits(): JSX.Element {
  const limits = createQuery('GET /api/rate-limits', () => ({}), { everyMs: 3000 });
  return (
    <Read of={limits}>
      {(data) => (
        <>
          <Show when={!data().enabled}>
            <Notice tone="info">Rate limits are off (rl_enabled).</Notice>
          </Show>
          <For each={data().nodes}>
            {(node) => (
              <Card
                isFlush
                title={<span class="mono">{node.node}</span>}
                actions={
                  <span class="small faint nums">
                    {showCount(node.keys)} of {showCount(node.keys_max)} remembered; {showCount(node.evicted)} gave way
                  </span>
                }
              >
                <Show when={node.answers} fallback={<Empty title="This node does not answer" />}>
                  <ZoneTable node={node} />
                  <HeavyClients node={node} />
                </Show>
              </Card>
            )}
          </For>
        </>
      )}
    </Read>
  );
}
