import { Type, type Static } from '@sinclair/typebox';
import type { App, House } from '../parts.js';
import { ApiError } from '../http-kit/problem.js';
import { requirePrincipal } from '../auth/guard.js';
import { Nullable, refusals, Time } from '../http-kit/schema.js';
import type { RuleLab } from '../rules/sandbox.js';
import { findVersion, readHead, readState } from '../settings/store.js';
import { readManagedRules, withManagedRules } from '../change/steps/managed-rules.js';
import { findManagedRow, refreshManagedFeed } from './refresh.js';

const RuleView = Type.Object({
  id: Type.Integer(),
  cve: Type.String(),
  title: Type.String(),
  severity: Type.String(),
  enabled: Type.Boolean({ description: 'false: switched off in the settings (POST /api/vpatch)' }),
});
const StatusView = Type.Object({
  enabled: Type.Boolean(),
  url: Type.String({ description: 'empty: the baseline of the program' }),
  attempted_at: Nullable(Time),
  last_error: Nullable(Type.String({ description: 'of the last attempt; the last good copy stays in force' })),
  copy: Nullable(
    Type.Object({
      url: Type.String({ description: 'where it came from; empty: the baseline' }),
      fetched_at: Time,
      name: Type.String(),
      version: Type.Integer(),
      issued: Time,
      signed: Type.Boolean(),
      networks: Type.Integer({ description: 'denied at once' }),
      networks_left_out: Type.Integer({ description: 'private and other inner networks, never denied' }),
    }),
  ),
  rules: Type.Array(RuleView),
  rules_applied: Type.Boolean({ description: 'false: these rules are in force with the next apply' }),
});

export function registerManagedFeedRoutes(app: App, house: House, lab: RuleLab): void {
  const { sql } = house.database;
  const view = async (): Promise<Static<typeof StatusView>> => {
    const { settings } = await readHead(sql);
    const [row, rules] = [await findManagedRow(sql), await readManagedRules(sql, settings)];
    const entries = withManagedRules(settings, rules).virtual_patches;
    const { activeId } = await readState(sql);
    const active = activeId === null ? null : await findVersion(sql, activeId);
    return {
      enabled: settings.mrf_enabled,
      url: settings.mrf_url,
      attempted_at: row?.attempted_at.toISOString() ?? null,
      last_error: row?.last_error ?? null,
      copy:
        row === null || row.copy_url === null
          ? null
          : {
              url: row.copy_url,
              fetched_at: row.fetched_at?.toISOString() ?? '',
              name: row.name,
              version: row.version ?? 0,
              issued: row.issued?.toISOString() ?? '',
              signed: row.signed,
              networks: row.networks,
              networks_left_out: row.networks_left_out,
            },
      rules: rules.patches.map(({ id, cve, title, severity }) => ({
        id,
        cve,
        title,
        severity,
        enabled: entries.some((entry) => entry.id === id && entry.enabled),
      })),
      rules_applied: settings.mrf_enabled && active?.managedSha256 === rules.sha256,
    };
  };
  app.get(
    '/api/managed-feed',
    {
      schema: {
        tags: ['threat intelligence'],
        summary: 'The managed feed: what is in force, when it was fetched, what went wrong last',
        response: { 200: StatusView, ...refusals },
      },
    },
    view,
  );
  app.post(
    '/api/managed-feed/refresh',
    {
      schema: {
        tags: ['threat intelligence'],
        summary: 'Fetch the managed feed now; a feed that is refused changes nothing',
        response: { 200: StatusView, ...refusals },
      },
    },
    async (request) => {
      const { actor } = requirePrincipal(request);
      const { settings } = await readHead(sql);
      if (!settings.mrf_enabled) throw new ApiError('conflict', 'The managed feed is switched off (mrf_enabled).');
      await refreshManagedFeed({ house, lab }, settings, house.now(), actor);
      return view();
    },
  );
}
