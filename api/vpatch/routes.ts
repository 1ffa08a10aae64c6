import { ruleIdRanges } from '#settings';
// Virtual patches: the catalogue, and which of its entries are in force (settings.virtual_patches).
import { Type } from '@sinclair/typebox';

import { readManagedRules, type ManagedRules } from '../change/steps/managed-rules.js';
import { findRuleHits, type RuleHits } from '../evidence/store.js';
import { listOf, SomeOf, ApiError, closed, refusals, requirePrincipal, type App } from '../http-kit/index.js';
import { changeSettings, type SettingsWriter } from '../settings/change.js';
import type { Settings } from '#settings';
import { readHead } from '../settings/store.js';
import { patchCatalog, type CatalogPatch } from './catalog/index.js';

export type PatchParts = SettingsWriter;

const TestView = Type.Object({
  name: Type.String(),
  expect: Type.String(),
  method: Type.String(),
  uri: Type.String(),
  headers: Type.Array(Type.Array(Type.String())),
  body: Type.String(),
});
const PatchView = Type.Object({
  id: Type.Integer(),
  cve: Type.String(),
  title: Type.String(),
  product: Type.String(),
  affected: Type.String(),
  cwe: Type.String(),
  technique: Type.String(),
  severity: Type.String(),
  seclang: Type.String(),
  tests: Type.Array(TestView),
  state: Type.Unsafe<PatchState>({
    type: 'string',
    enum: ['available', 'enabled', 'disabled', 'managed'],
    description:
      'managed: in force with the next apply because the managed feed has it; disable it here to take it out',
  }),
  hits_30_days: Type.Array(Type.Object({ site: Type.String(), hits: Type.Integer() }), {
    description: 'attempts that the patch, while in force, saw on which site',
  }),
  origin: Type.Unsafe<'catalogue' | 'managed feed'>({ type: 'string', enum: ['catalogue', 'managed feed'] }),
});
type PatchState = 'available' | 'enabled' | 'disabled' | 'managed';

const stateOf = (settings: Settings, managed: ManagedRules, id: number): PatchState => {
  const found = settings.virtual_patches.find((one) => one.id === id);
  if (found === undefined) return managed.patches.some((one) => one.id === id) ? 'managed' : 'available';
  return found.enabled ? 'enabled' : 'disabled';
};
const view = (patch: CatalogPatch, settings: Settings, managed: ManagedRules, hits: Hits) => ({
  ...patch,
  tests: patch.tests.map((test) => ({ ...test, headers: test.headers.map((pair) => [...pair]) })),
  state: stateOf(settings, managed, patch.id),
  hits_30_days: [...(hits.get(patch.id) ?? [])],
  origin: managed.delivered.includes(patch) ? ('managed feed' as const) : ('catalogue' as const),
});

/** By id or CVE, of the catalogue or the managed feed; throws `not_found`. */
function requirePatch(
  { id, cve }: { readonly id?: number; readonly cve?: string },
  managed: ManagedRules,
): CatalogPatch {
  const found = [...patchCatalog, ...managed.delivered].find(
    (patch) => (id === undefined || patch.id === id) && (cve === undefined || patch.cve === cve),
  );
  if ((id === undefined && cve === undefined) || found === undefined) {
    const wanted = [cve, id].filter((part) => part !== undefined).join(' ') || 'without id or cve';
    throw new ApiError('not_found', `The catalogue has no virtual patch ${wanted}.`);
  }
  return found;
}

type Hits = ReadonlyMap<number, RuleHits['sites']>;

async function readHits({ database, now }: PatchParts): Promise<Hits> {
  const from = new Date(now() - 30 * 86_400_000);
  const found = await findRuleHits(database.sql, from, ruleIdRanges.virtualPatches, 1000);
  return new Map(found.map((rule) => [rule.rule_id, rule.sites]));
}

const severities = { critical: 0, high: 1, medium: 2 } as const;
const severityNames = Object.keys(severities);

const catalogSchema = {
  tags: ['virtual patches'],
  summary: 'Published vulnerabilities with a rule of ours for each',
  querystring: Type.Object(
    {
      q: Type.Optional(Type.String({ maxLength: 100, description: 'part of CVE, title or product' })),
      severity: Type.Optional(SomeOf(severityNames)),
    },
    closed,
  ),
  response: { 200: Type.Object({ items: Type.Array(PatchView), total: Type.Integer() }), ...refusals },
};
const changeSchema = {
  tags: ['virtual patches'],
  summary: 'Put a virtual patch in force, switch it off, or take it out; active after POST /api/apply',
  body: Type.Object(
    {
      id: Type.Optional(Type.Integer()),
      cve: Type.Optional(Type.String({ maxLength: 40 })),
      action: Type.Optional(
        Type.Unsafe<'apply' | 'disable' | 'remove'>({
          type: 'string',
          enum: ['apply', 'disable', 'remove'],
          default: 'apply',
        }),
      ),
    },
    closed,
  ),
  response: {
    200: Type.Object({ patch: PatchView, version: Type.Integer(), changed: Type.Boolean() }),
    ...refusals,
  },
};

export function registerPatchRoutes(app: App, parts: PatchParts): void {
  const { sql } = parts.database;
  app.get('/api/vpatch/catalog', { schema: catalogSchema }, async (request) => {
    const { settings } = await readHead(sql);
    const managed = await readManagedRules(sql, settings);
    const all = [...patchCatalog, ...managed.delivered];
    const { q = '', severity } = request.query;
    const wanted = q.toLowerCase();
    const items = all.filter(
      (patch) =>
        (severity === undefined || listOf(severity).includes(patch.severity)) &&
        `${patch.cve} ${patch.title} ${patch.product}`.toLowerCase().includes(wanted),
    );
    const hits = await readHits(parts);
    return { items: items.map((patch) => view(patch, settings, managed, hits)), total: all.length };
  });
  app.post('/api/vpatch', { schema: changeSchema }, async (request, reply) => {
    const managed = await readManagedRules(sql, (await readHead(sql)).settings);
    const patch = requirePatch(request.body, managed);
    const { action = 'apply' } = request.body;
    const saved = await changeSettings(parts, requirePrincipal(request), {
      action: `vpatch.${action}`,
      ifMatch: request.headers['if-match'],
      propose: (shown) => {
        const others = shown.virtual_patches.filter(({ id }) => id !== patch.id);
        const sites = shown.virtual_patches.find(({ id }) => id === patch.id)?.sites ?? [];
        const entries =
          action === 'remove'
            ? others
            : [...others, { id: patch.id, cve: patch.cve, name: '', enabled: action === 'apply', seclang: '', sites }];
        return { ...shown, virtual_patches: entries.sort((left, right) => left.id - right.id) };
      },
    });
    reply.header('etag', saved.stored.etag);
    return {
      patch: view(patch, saved.stored.settings, managed, await readHits(parts)),
      version: saved.stored.id,
      changed: saved.changed,
    };
  });
}
