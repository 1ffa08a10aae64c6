import { For, Show, type JSX } from 'solid-js';
import type { Reply } from '../../client/http.js';
import { showCount } from '../../client/moments.js';
import { createQuery } from '../../client/query.js';
import { Badge, Card, Empty, Foreign, Notice, type Tone } from '../../kit/basics.js';
import { Read } from '../../kit/page-state.js';
import { Table, type TableColumn } from '../../kit/table/table.js';
import { ofRows } from '../../kit/table/table-source.js';
import { protectionText as text } from '../../texts/protection.js';

type NodeLimits = Reply<'GET /api/rate-limits'>['nodes'][number];

const toneOf = (outcome: string): Tone =>
  outcome === 'enforced' ? 'danger' : outcome === 'recorded' ? 'warn' : 'neutral';

function ZoneTable(props: { readonly node: NodeLimits }): JSX.Element {
  const columns: readonly TableColumn<NodeLimits['zones'][number]>[] = [
    { title: text.limit, class: 'mono', cell: (zone) => <Foreign text={zone.zone} max={80} /> },
    { title: text.site, cell: (zone) => <Foreign text={zone.site} max={60} /> },
    {
      title: text.outcome,
      cell: (zone) => <Badge tone={toneOf(zone.outcome)}>{zone.outcome.replaceAll('_', ' ')}</Badge>,
    },
    { title: text.requests, isNumber: true, sortBy: (zone) => zone.count, cell: (zone) => showCount(zone.count) },
  ];
  return (
    <Table
      label={text.limits(props.node.node)}
      columns={columns}
      of={ofRows(() => props.node.zones)}
      keyOf={(zone) => `${zone.zone} ${zone.site} ${zone.outcome}`}
      empty={text.nothingWasCountedYet}
    />
  );
}

function HeavyClients(props: { readonly node: NodeLimits }): JSX.Element {
  return (
    <Show when={props.node.heavy.length > 0}>
      <div class="body stack tight">
        <h3>{text.limitedMost}</h3>
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
            <Notice tone="info">{text.rateLimitsAreOff}</Notice>
          </Show>
          <For each={data().nodes}>
            {(node) => (
              <Card
                isFlush
                title={<span class="mono">{node.node}</span>}
                actions={
                  <span class="small faint nums">
                    {text.ofRememberedGaveWayOf(
                      showCount(node.keys),
                      showCount(node.keys_max),
                      showCount(node.evicted),
                    )}
                  </span>
                }
              >
                <Show when={node.answers} fallback={<Empty title={text.thisNodeDoesNot} />}>
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
