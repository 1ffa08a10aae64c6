// The firewall as the vulnerability manager sees it: virtual patches are entries of the settings, and come into force
// on the road of every change.
import type { Firewall, FirewallRequest, InForce, PatchText, Verdict } from '#vm-manager';
import { checkRuleText } from '#compiler';
import { ruleIdRanges, type Settings } from '#settings';
import { applyHead } from '../change/flow.js';
import type { TriedRequest } from '../change/try-requests.js';
import { findRuleHits } from '../evidence/store.js';
import { ApiError, type Actor, type Principal } from '../http-kit/index.js';
import type { Parts } from '../parts.js';
import { changeSettings, type SettingsWriter } from '../settings/change.js';
import { readState } from '../settings/state.js';
import { findVersion, readHead, type StoredSettings } from '../settings/store.js';
import { patchCatalog, type CatalogPatch } from '../vpatch/catalog/index.js';

export type FirewallParts = SettingsWriter & Pick<Parts, 'applySettings' | 'tryRequests' | 'sandbox'>;

/** Between the catalogue and the managed feed; settings/ids.ts gives the same range to patches without an id. */
const ownIds = [ruleIdRanges.virtualPatches[0] + 500, ruleIdRanges.virtualPatches[0] + 899] as const;

const noDataPlane = (): ApiError => new ApiError('not_ready', 'No data plane is connected to this server.');

const toVerdict = (request: FirewallRequest, tried: TriedRequest | undefined): Verdict => ({
  name: request.name,
  outcome: tried?.isRefused === true ? 'refused' : 'passed',
  status: tried?.status ?? null,
  rule_id: tried?.isRefused === true ? tried.ruleId : null,
  rule_ids: tried?.ruleIds ?? [],
  site: tried?.site ?? null,
});

const withPatch = (settings: Settings, { rule_id: id, cve, name, seclang, sites }: PatchText): Settings => ({
  ...settings,
  virtual_patches: [
    ...settings.virtual_patches.filter((one) => one.id !== id),
    { id, cve, name, enabled: true, seclang, sites: [...sites] },
  ].sort((left, right) => left.id - right.id),
});

const toRequests = (samples: CatalogPatch['tests'], expect: 'match' | 'no_match'): FirewallRequest[] =>
  samples.flatMap(({ expect: expected, ...request }) => (expected === expect ? [request] : []));

export function createFirewall(parts: FirewallParts): Firewall {
  const { sql } = parts.database;
  return {
    ownIds,
    catalogue: (cves) =>
      patchCatalog
        .filter(({ cve }) => cves.includes(cve))
        .map(({ id, cve, title, seclang, tests }) => ({
          rule_id: id,
          cve,
          title,
          seclang,
          attacks: toRequests(tests, 'match'),
          benign: toRequests(tests, 'no_match'),
        })),
    usedIds: async () => new Set((await readHead(sql)).settings.virtual_patches.map(({ id }) => id)),
    sites: async () => (await readHead(sql)).settings.sites.map(({ name }) => name),
    tryRule: (ruleId, seclang, requests) => tryRule(parts, ruleId, seclang, requests),
    preview: (patch, requests, site) => preview(parts, patch, requests, site),
    async apply(actor, patch) {
      await requireNothingPending(parts);
      await change(parts, actor, 'vpatch.apply', (shown) => withPatch(shown, patch));
      return putInForce(parts, actor);
    },
    async remove(actor, ruleId) {
      const { settings } = await readHead(sql);
      if (!settings.virtual_patches.some(({ id }) => id === ruleId)) return null;
      await requireNothingPending(parts);
      await change(parts, actor, 'vpatch.remove', (shown) => ({
        ...shown,
        virtual_patches: shown.virtual_patches.filter(({ id }) => id !== ruleId),
      }));
      return putInForce(parts, actor);
    },
    async tryNow(requests, site) {
      if (parts.tryRequests === null) throw noDataPlane();
      const report = await parts.tryRequests('serving', requests, site);
      if (report.kind === 'impossible')
        throw new ApiError('conflict', `The requests cannot be tried: ${report.reason}.`);
      return {
        version: report.versionId ?? 0,
        generation: report.generation,
        artifact_sha256: report.artifactSha256,
        nodes: report.nodes,
        verdicts: requests.map((request, index) => toVerdict(request, report.requests[index])),
      };
    },
    async current() {
      const { activeId } = await readState(sql);
      return activeId === null ? null : ((await findVersion(sql, activeId))?.artifactSha256 ?? null);
    },
    async hits(from) {
      const found = await findRuleHits(sql, from, ruleIdRanges.virtualPatches, 1000);
      return new Map(
        found.map(({ rule_id: id, hits: total, last_at: at, sites }) => [
          id,
          { total: Number(total), last_at: at.toISOString(), sites },
        ]),
      );
    },
  };
}

async function tryRule(
  { sandbox }: FirewallParts,
  ruleId: number,
  seclang: string,
  requests: readonly FirewallRequest[],
): Promise<boolean[]> {
  const { text, diagnostics } = checkRuleText(seclang, ruleIdRanges.virtualPatches, `rule ${ruleId}`);
  const wrong = diagnostics.find(({ severity }) => severity === 'error');
  if (text === null || wrong !== undefined)
    throw new ApiError('unfit', `The rule does not compile: ${wrong?.message ?? 'it is empty'}.`);
  const tests = requests.map(({ name, method, uri, headers, body }) => ({
    name,
    expect: 'match' as const,
    method,
    uri,
    headers: headers.map(([header, value]): [string, string] => [header, value]),
    body,
  }));
  return (await sandbox.runTests({ id: ruleId, text, tests })).map(({ got }) => got === 'match');
}

/** Head and what serves; throws `conflict` where they differ: putting one patch in force would apply the rest, too. */
async function requireNothingPending({ database, applySettings }: FirewallParts): Promise<StoredSettings> {
  if (applySettings === null) throw noDataPlane();
  const { sql } = database;
  const [head, { activeId }] = await Promise.all([readHead(sql), readState(sql)]);
  if (activeId !== head.id)
    throw new ApiError(
      'conflict',
      `Settings version ${head.id} is saved and not applied (${activeId ?? 'none'} is active); a patch would put it ` +
        'in force as well. Apply it first (POST /api/apply), or roll it back.',
    );
  return head;
}

/** The person behind it: what they may was decided by the vulnerability manager's own permissions. */
const principalOf = (actor: Actor): Principal => ({
  kind: 'session',
  userId: actor.id ?? '',
  email: actor.name,
  role: 'operator',
  sessionId: null,
  scopes: null,
  duty: null,
  actor,
});

async function change(
  parts: FirewallParts,
  actor: Actor,
  action: 'vpatch.apply' | 'vpatch.remove',
  propose: (shown: Settings) => Settings,
): Promise<void> {
  await changeSettings(parts, principalOf(actor), { action, ifMatch: undefined, propose });
}

/** Where the data plane does not take it, the version before is saved again, so that nothing half-done waits there. */
async function putInForce(parts: FirewallParts, actor: Actor): Promise<InForce> {
  try {
    const { version, generation, artifact_sha256 } = await applyHead({ ...parts }, actor, false);
    return { version, generation, artifact_sha256 };
  } catch (error) {
    await restoreActive(parts, actor);
    throw error;
  }
}

async function restoreActive(parts: FirewallParts, actor: Actor): Promise<void> {
  const { sql } = parts.database;
  const { activeId } = await readState(sql);
  const active = activeId === null ? null : await findVersion(sql, activeId);
  if (active === null) return;
  await changeSettings(parts, principalOf(actor), {
    action: 'vpatch.remove',
    ifMatch: undefined,
    propose: (shown) => ({ ...shown, virtual_patches: active.settings.virtual_patches }),
  });
}

async function preview(
  parts: FirewallParts,
  patch: PatchText,
  requests: readonly FirewallRequest[],
  site: string | null,
) {
  const { applySettings, tryRequests, database } = parts;
  if (applySettings === null || tryRequests === null) throw noDataPlane();
  return database.withLock('apply', async () => {
    const head = await requireNothingPending(parts);
    const { settings } = head;
    const proposed = withPatch(settings, patch);
    const version = { ...head, settings: proposed };
    const outcome = await applySettings({
      version,
      active: await findVersion(database.sql, head.id),
      dryRun: true,
      generation: 0,
      markPending: async () => undefined,
    });
    if (outcome.kind === 'refused')
      throw new ApiError('apply_refused', `The patch cannot be made active: ${outcome.reason}`);
    if (outcome.kind === 'failed') throw new ApiError('apply_failed', outcome.reason);
    const [before, after] = await Promise.all([
      tryRequests('serving', requests, site),
      tryRequests({ settings: proposed, artifactSha256: outcome.artifactSha256 }, requests, site),
    ]);
    const verdicts = (report: typeof before): Verdict[] => {
      if (report.kind === 'impossible')
        throw new ApiError('conflict', `The requests cannot be tried: ${report.reason}.`);
      return requests.map((request, index) => toVerdict(request, report.requests[index]));
    };
    const { impact } = outcome;
    return {
      impact:
        impact === null
          ? null
          : {
              replayed: impact.replayed,
              newly_blocked: impact.newly_blocked,
              newly_allowed: impact.newly_allowed,
              newly_blocked_examples: impact.newly_blocked_examples.map(({ method, uri }) => ({ method, uri })),
            },
      impact_missing: outcome.impactMissing,
      before: verdicts(before),
      after: verdicts(after),
    };
  });
}
