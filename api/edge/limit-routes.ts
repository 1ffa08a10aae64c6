// Rate limits, as people see them: which there are, what each counted on every node, and who met them most.
import { Type, type Static } from '@sinclair/typebox';
import { troubles } from '#proxy/redis';
import type { Settings } from '#settings';
import { Nullable, OneOf, refusals, type App } from '../http-kit/index.js';
import { GateFigures } from './node-gates.js';
import type { EdgeParts } from './routes.js';

const LimitView = Type.Object({
  name: Type.String({ description: 'as `zones` and `heavy` of the nodes call it' }),
  kind: OneOf(['default', 'zone', 'endpoint'], 'rl_events and rl_window, rl_zones, or endpoint_limits'),
  match_path: Nullable(Type.String({ description: 'of a zone a prefix, of an endpoint a template; null: every path' })),
  method: Nullable(Type.String({ description: 'of an endpoint; null: every one' })),
  key: Type.String({ description: 'who is counted: ip, global or header:<Name>' }),
  events: Type.Integer({ description: 'requests that are let through in a window' }),
  window: Type.String({ description: 'such as 30s, 1m, 2h or 1d' }),
  dry_run: Type.Boolean({ description: 'counted and recorded, no request is refused' }),
  headers: Type.Boolean({ description: 'answers tell what is left, and not those of 429 alone' }),
});

const Store = Type.Object({
  mode: OneOf(['single', 'sentinel', 'cluster'], 'one server, the primary that sentinels name, or a cluster'),
  tls: Type.Boolean({ description: 'the connection is encrypted' }),
  trouble: Nullable(OneOf([...troubles], 'why it does not answer; the log of the node says what to do. null: it does')),
});

const Sharing = Type.Object({
  state: OneOf(
    ['off', 'no-store', 'degraded', 'shared'],
    'degraded: the store does not answer, and each node gives away its share of a limit; no-store: no REDIS_URL',
  ),
  nodes: Type.Integer({ description: 'that share the limits, as far as this one knows' }),
  /** null: none is used, or the node does not say. */
  store: Nullable(Store),
});

const schema = {
  tags: ['edge'],
  summary: 'Rate limits: which there are, what each counted since the nodes began, and the clients limited most',
  response: {
    200: Type.Object({
      enabled: Type.Boolean(),
      distributed: Type.Boolean({ description: 'rl_distributed: they are to count over all nodes' }),
      limits: Type.Array(LimitView, { description: 'of the settings, in the order in which they are asked' }),
      nodes: Type.Array(
        Type.Object({
          node: Type.String(),
          answers: Type.Boolean(),
          sharing: Nullable(Sharing),
          zones: GateFigures.properties.zones,
          heavy: GateFigures.properties.heavy,
          keys: Type.Integer({ description: 'clients and limits that are remembered at the moment' }),
          keys_max: Type.Integer(),
          evicted: Type.Integer({ description: 'that gave way before their time' }),
        }),
      ),
    }),
    ...refusals,
  },
};

/** As the gates compile them (proxy/admit/limits/), with the same names. */
function limitsOf(settings: Settings): Static<typeof LimitView>[] {
  const { rl_events: events, rl_window: window, rl_dry_run, rl_headers } = settings;
  const common = { match_path: null, method: null, key: 'ip' };
  return [
    { ...common, name: 'default', kind: 'default', events, window, dry_run: rl_dry_run, headers: rl_headers },
    ...settings.rl_zones.map((zone) => ({ ...common, ...zone, kind: 'zone' as const })),
    ...settings.endpoint_limits.map(({ path, method, ...limit }) => ({
      ...common,
      ...limit,
      name: `${method} ${path}`,
      kind: 'endpoint' as const,
      match_path: path,
      method: method === '*' ? null : method,
    })),
  ];
}

type SharingView = Static<typeof Sharing>;

/** null: none, or one that no release has. */
function storeOf(store: NonNullable<GateFigures['sharing']>['store']): Static<typeof Store> | null {
  if (store == null) return null;
  const { mode, tls, trouble } = store as Static<typeof Store>;
  const isKnown = ['single', 'sentinel', 'cluster'].includes(mode) && (trouble === null || troubles.includes(trouble));
  return isKnown ? { mode, tls, trouble } : null;
}

/** null: the node did not say, or said what no release says. */
function sharingOf(answer: GateFigures | null): SharingView | null {
  if (answer?.sharing === undefined) return null;
  const { state, nodes, store = null } = answer.sharing;
  const known = Sharing.properties.state.enum as readonly string[];
  return known.includes(state) ? { state: state as SharingView['state'], nodes, store: storeOf(store) } : null;
}

export function registerLimitRoutes(app: App, { nodeGates, currentSettings }: EdgeParts): void {
  app.get('/api/rate-limits', { schema }, async () => {
    const settings = await currentSettings();
    return {
      enabled: settings.rl_enabled,
      distributed: settings.rl_distributed,
      limits: limitsOf(settings),
      nodes: ((await nodeGates?.figures()) ?? []).map(({ node, answer }) => ({
        node,
        answers: answer !== null,
        sharing: sharingOf(answer),
        zones: answer?.zones ?? [],
        heavy: answer?.heavy ?? [],
        keys: answer?.rateKeys.keys ?? 0,
        keys_max: answer?.rateKeys.keysMax ?? 0,
        evicted: answer?.rateKeys.evicted ?? 0,
      })),
    };
  });
}
