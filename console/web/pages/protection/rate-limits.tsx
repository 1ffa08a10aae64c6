// The limits as they are set, in the order in which they are asked, and what each node made of them.
import { A } from '@solidjs/router';
import { For, Show, type JSX } from 'solid-js';
import type { Reply } from '../../client/http.js';
import { showCount } from '../../client/moments.js';
import { createQuery } from '../../client/query.js';
import { Badge, Card, Empty, Foreign, Notice, type Tone } from '../../kit/basics.js';
import { Read } from '../../kit/page-state.js';
import { Table, type TableColumn } from '../../kit/table/table.js';
import { ofRows } from '../../kit/table/table-source.js';
import { protectionText as text } from '../../texts/protection.js';

type RateLimit = Reply<'GET /api/rate-limits'>['limits'][number];
type NodeLimits = Reply<'GET /api/rate-limits'>['nodes'][number];
type Sharing = NonNullable<NodeLimits['sharing']>;

const toneOf = (outcome: string): Tone =>
  outcome === 'enforced' ? 'danger' : outcome === 'recorded' ? 'warn' : 'neutral';

/** The setting that holds limits of that kind. */
const settingOf = { default: 'rl_events', zone: 'rl_zones', endpoint: 'endpoint_limits' } as const;

/** Who is counted, in words. */
const keyOf = (key: string): string =>
  key === 'ip' ? text.byClient : key === 'global' ? text.byEverybody : text.byHeader(key.replace(/^header:/, ''));

const limitColumns: readonly TableColumn<RateLimit>[] = [
  {
    title: text.limit,
    class: 'mono',
    cell: ({ name, kind }) => (
      <A href={`/admin/settings/rates#${settingOf[kind]}`}>
        <Foreign text={name} max={80} />
      </A>
    ),
  },
  { title: text.kind, cell: ({ kind }) => text.limitKinds[kind] },
  {
    title: text.appliesTo,
    class: 'mono',
    cell: ({ method, match_path: path, kind }) => (
      <Foreign
        text={`${method ?? ''} ${path ?? text.everyPath}${kind === 'zone' && path !== null ? '…' : ''}`.trim()}
      />
    ),
  },
  { title: text.counted, cell: ({ key }) => <Foreign text={keyOf(key)} max={80} /> },
  { title: text.letThrough, class: 'nums', cell: (one) => text.letThroughOf(showCount(one.events), one.window) },
  {
    title: text.does,
    cell: ({ dry_run: isDry, headers }) => (
      <span class="row wrap">
        <Badge tone={isDry ? 'warn' : 'danger'}>{isDry ? text.dryRun : text.refuses429}</Badge>
        <Show when={headers}>
          <Badge>{text.tellsWhatIsLeft}</Badge>
        </Show>
      </span>
    ),
  },
];

const sharingTones: Readonly<Record<Sharing['state'], Tone>> = {
  off: 'neutral',
  'no-store': 'warn',
  degraded: 'warn',
  shared: 'good',
};

type Store = NonNullable<Sharing['store']>;

/** How the store is connected, and why it does not answer. */
function storeWords({ mode, tls, trouble }: Store): string {
  const how = `${text.storeModes[mode]}${tls ? text.storeTls : ''}`;
  return `, ${how}${trouble === null ? '' : `: ${text.storeTroubles[trouble]}`}`;
}

/** Whether a node counts for itself or with the others. One of an earlier release does not say. */
function SharingBadge(props: { readonly of: NodeLimits['sharing'] }): JSX.Element {
  return (
    <Show when={props.of} fallback={<Badge>{text.sharingUntold}</Badge>}>
      {(sharing) => (
        <Badge tone={sharingTones[sharing().state]}>
          {text.sharing[sharing().state]}
          {sharing().nodes > 1 ? text.ofNodes(sharing().nodes) : ''}
          <Show when={sharing().store}>{(store) => storeWords(store())}</Show>
        </Badge>
      )}
    </Show>
  );
}

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
            <Notice tone="info" title={text.rateLimitsAreOff}>
              <A href="/admin/settings/rates#rl_enabled">{text.switchOn}</A>
            </Notice>
          </Show>
          <Card
            isFlush
            title={text.limits2}
            actions={<span class="small faint">{data().distributed ? text.overAllNodes : text.eachNodeAlone}</span>}
          >
            <Table
              label={text.limits2}
              columns={limitColumns}
              of={ofRows(() => data().limits)}
              keyOf={({ kind, name }) => `${kind} ${name}`}
              empty={text.noLimits}
            />
          </Card>
          <For each={data().nodes}>
            {(node) => (
              <Card
                isFlush
                title={<span class="mono">{node.node}</span>}
                actions={
                  <>
                    <SharingBadge of={node.sharing} />
                    <span class="small faint nums">
                      {text.ofRememberedGaveWayOf(
                        showCount(node.keys),
                        showCount(node.keys_max),
                        showCount(node.evicted),
                      )}
                    </span>
                  </>
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
