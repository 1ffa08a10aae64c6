// The proof of a patch: the attack through what serves now has to be refused by exactly this rule, and harmless
// requests of the same shape have to pass. Variants of the attack are tried and told, and do not decide: an application
// need not read all of them alike.
import { ApiError, type Actor } from '#http-kit';
import type { Tx } from '../database.js';
import type { Host } from '../host.js';
import { unfit } from '../kit/endpoint.js';
import { emit } from '../kit/events.js';
import type { Firewall, FirewallRequest, Trial, Verdict } from './firewall.js';
import type { Proposal } from './propose.js';
import { goStale, insertProof, setState, type PatchRow, type ProofRow } from './store.js';

/** Throws 503 where this server has no firewall. */
export function requireFirewall({ firewall }: Pick<Host, 'firewall'>): Firewall {
  if (firewall !== undefined) return firewall;
  throw new ApiError(
    'not_ready',
    'This server has no firewall: virtual patches need a data plane that is connected to the control plane.',
  );
}

/** The rule alone has to see the attack and leave the harmless requests alone; throws 422 where it does not. */
export async function tryAlone(firewall: Firewall, { origin, attack, benign, text }: Proposal): Promise<void> {
  // rules of the catalogue are tried with the catalogue
  if (origin === 'catalogue') return;
  const [ruleId] = firewall.ownIds;
  const [sees, ...hits] = await firewall.tryRule(ruleId, text(ruleId), [attack, ...benign]);
  if (sees !== true)
    throw unfit(
      '/strategy',
      `makes a rule that does not see the request (${attack.method} ${attack.uri.slice(0, 200)})`,
      'name the /parameter that the attack stands in, take another /strategy, or give the /request',
    );
  const hit = hits.includes(true) ? benign[hits.indexOf(true)] : undefined;
  if (hit !== undefined)
    throw unfit('/strategy', `makes a rule that refuses the harmless request "${hit.name}"`, 'take another strategy');
}

export const requestsOf = (row: PatchRow): FirewallRequest[] => [row.attack, ...row.benign, ...row.mutations];

/** What was tried, taken apart again. */
export function partsOf(row: PatchRow, verdicts: readonly Verdict[]) {
  const after = verdicts[0];
  if (after === undefined) throw new Error('the firewall told nothing of the attack');
  const benign = verdicts.slice(1, 1 + row.benign.length);
  return { after, benign, mutations: verdicts.slice(1 + row.benign.length) };
}

const sayRefusal = ({ rule_id: rule, status }: Verdict): string =>
  `refused by rule ${rule ?? 'unknown'}${status === null ? '' : ` with ${status}`}`;

/**
 * Why these verdicts are no proof; null: they are one. `before`: of the same requests without the patch. A harmless
 * request that was refused then already says nothing about the patch.
 */
export function whyNot(row: PatchRow, verdicts: readonly Verdict[], before: readonly Verdict[] | null): string | null {
  const { after, benign } = partsOf(row, verdicts);
  if (after.site === null) return 'no site of the firewall takes the request: link the application to its site';
  if (after.outcome === 'passed')
    return after.rule_ids.includes(row.rule_id)
      ? `the rule sees the attack and does not refuse it: the site ${after.site} only detects`
      : 'the attack passes: the rule does not see it';
  if (after.rule_id !== row.rule_id) return `the attack is ${sayRefusal(after)}, not by the patch`;
  const was = before === null ? null : partsOf(row, before).benign;
  const judged = benign.filter((_, index) => was?.[index]?.outcome !== 'refused');
  const hit = judged.find(({ outcome }) => outcome === 'refused');
  if (hit !== undefined) return `the harmless request "${hit.name}" is ${sayRefusal(hit)}`;
  if (judged.length === 0) return 'every harmless request was refused before the patch already';
  return null;
}

/** Nodes that do not serve what was tried; null: all that answer do, and one does. */
function whyNotServed(nodes: Trial['nodes']): string | null {
  const other = nodes.find(({ state }) => state === 'serves something else');
  if (other !== undefined) return `the node ${other.url} serves other rules`;
  return nodes.some(({ state }) => state === 'serves it') ? null : 'no node answers that it serves these rules';
}

export interface Judged {
  readonly trial: Trial;
  readonly reason: string | null;
}

/** The patch's requests through what serves now. */
export async function judge(firewall: Firewall, row: PatchRow, before: readonly Verdict[] | null): Promise<Judged> {
  const trial = await firewall.tryNow(requestsOf(row), row.site);
  return { trial, reason: whyNot(row, trial.verdicts, before) ?? whyNotServed(trial.nodes) };
}

const sayProof = (row: PatchRow, before: Verdict | null, mutations: readonly Verdict[]): string => {
  const refused = mutations.filter(({ outcome }) => outcome === 'refused').length;
  const was =
    before === null
      ? ''
      : before.outcome === 'passed'
        ? 'Without the patch the attack passes. '
        : `Without the patch the attack is ${sayRefusal(before)}. `;
  const variants = mutations.length === 0 ? '' : `; ${refused} of ${mutations.length} variants are refused`;
  return `${was}With it rule ${row.rule_id} refuses it, and harmless requests pass${variants}.`;
};

/** Stores what was judged and moves the patch: to proven where it holds, else to stale. */
export async function keepProof(
  tx: Tx,
  row: PatchRow,
  { trial, reason }: Judged,
  { kind, before }: { readonly kind: ProofRow['kind']; readonly before: Verdict | null },
  actor: Actor,
  now: Date,
): Promise<ProofRow> {
  const { after, benign, mutations } = partsOf(row, trial.verdicts);
  const proof = await insertProof(
    tx,
    {
      vpatch_id: row.id,
      kind,
      holds: reason === null,
      reason: reason ?? sayProof(row, before, mutations),
      before,
      after,
      benign,
      mutations,
      nodes: trial.nodes,
      settings_version: trial.version,
      generation: trial.generation,
      artifact_sha256: trial.artifact_sha256,
    },
    now,
  );
  if (reason !== null) {
    if (row.state !== 'stale') await goStale(tx, row, reason, actor, now);
    else await setState(tx, row.id, 'stale', null, now);
    return proof;
  }
  await setState(tx, row.id, 'proven', trial, now);
  if (row.state !== 'proven') await tell(tx, row, 'vpatch.active', now);
  return proof;
}

/** An event for each finding that the patch stands before. */
export async function tell(tx: Tx, row: PatchRow, type: 'vpatch.active' | 'vpatch.disabled', now: Date): Promise<void> {
  const findings = await tx<{ id: number; application_id: number }[]>`
    select f.id, f.application_id from vm_findings f join vm_vpatch_findings l on l.finding_id = f.id
    where l.vpatch_id = ${row.id}`;
  await emit(
    tx,
    findings.map(({ id, application_id: applicationId }) => ({
      type,
      entity: 'finding' as const,
      entityId: id,
      applicationId,
      payload: { vpatch_id: String(row.id), rule_id: row.rule_id },
    })),
    now,
  );
}
