import { Type, type Static } from '@sinclair/typebox';
import { readManagedRules, withManagedRules } from '../change/steps/managed-rules.js';
import { ApiError, Nullable, refusals, requirePrincipal, Time, type App } from '../http-kit/index.js';
import type { Parts } from '../parts.js';
import { readState } from '../settings/state.js';
import { findVersion, readHead } from '../settings/store.js';
import { maskUrl } from '../settings/url-credentials.js';
import { refreshManagedFeed, type ManagedFeedParts } from './refresh.js';
import { findManagedRow, type ManagedRow } from './store.js';

export type ManagedFeedRouteParts = ManagedFeedParts & Pick<Parts, 'now'>;

const RuleView = Type.Object({
  id: Type.Integer(),
  cve: Type.String(),
  title: Type.String(),
  severity: Type.String(),
  enabled: Type.Boolean({ description: 'false: switched off in the settings (POST /api/vpatch)' }),
});
const CopyView = Type.Object({
  url: Type.String({ description: 'where it came from; empty: the baseline' }),
  fetched_at: Time,
  name: Type.String(),
  version: Type.Integer(),
  issued: Time,
  signed: Type.Boolean(),
  networks: Type.Integer({ description: 'denied at once' }),
  networks_left_out: Type.Integer({ description: 'private and other inner networks, never denied' }),
});
const StatusView = Type.Object({
  enabled: Type.Boolean(),
  url: Type.String({ description: 'empty: the baseline of the program' }),
  attempted_at: Nullable(Time),
  last_error: Nullable(Type.String({ description: 'of the last attempt; the last good copy stays in force' })),
  copy: Nullable(CopyView),
  rules: Type.Array(RuleView),
  rules_applied: Type.Boolean({ description: 'false: these rules are in force with the next apply' }),
});

const readSchema = {
  tags: ['threat intelligence'],
  summary: 'The managed feed: what is in force, when it was fetched, what went wrong last',
  response: { 200: StatusView, ...refusals },
};
const refreshSchema = {
  tags: ['threat intelligence'],
  summary: 'Fetch the managed feed now; a feed that is refused changes nothing',
  response: { 200: StatusView, ...refusals },
};

export function registerManagedFeedRoutes(app: App, parts: ManagedFeedRouteParts): void {
  app.get('/api/managed-feed', { schema: readSchema }, () => viewStatus(parts));
  app.post('/api/managed-feed/refresh', { schema: refreshSchema }, async (request) => {
    const { actor } = requirePrincipal(request);
    const { settings } = await readHead(parts.database.sql);
    if (!settings.mrf_enabled) throw new ApiError('conflict', 'The managed feed is switched off (mrf_enabled).');
    await refreshManagedFeed(parts, settings, parts.now(), actor);
    return viewStatus(parts);
  });
}

async function viewStatus({ database: { sql } }: Pick<Parts, 'database'>): Promise<Static<typeof StatusView>> {
  const { settings } = await readHead(sql);
  const [row, rules] = [await findManagedRow(sql), await readManagedRules(sql, settings)];
  const entries = withManagedRules(settings, rules).virtual_patches;
  const { activeId } = await readState(sql);
  const active = activeId === null ? null : await findVersion(sql, activeId);
  return {
    enabled: settings.mrf_enabled,
    url: maskUrl(settings.mrf_url, 'keyed'),
    attempted_at: row?.attempted_at.toISOString() ?? null,
    last_error: row?.last_error ?? null,
    copy: row === null ? null : viewCopy(row),
    rules: rules.patches.map(({ id, cve, title, severity }) => ({
      id,
      cve,
      title,
      severity,
      enabled: entries.some((entry) => entry.id === id && entry.enabled),
    })),
    rules_applied: settings.mrf_enabled && active?.managedSha256 === rules.sha256,
  };
}

function viewCopy(row: ManagedRow): Static<typeof CopyView> | null {
  if (row.copy_url === null) return null;
  return {
    url: maskUrl(row.copy_url, 'keyed'),
    fetched_at: row.fetched_at?.toISOString() ?? '',
    name: row.name,
    version: row.version ?? 0,
    issued: row.issued?.toISOString() ?? '',
    signed: row.signed,
    networks: row.networks,
    networks_left_out: row.networks_left_out,
  };
}
