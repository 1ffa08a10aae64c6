// Putting a patch in force: tried beforehand on the rules that would serve, applied on the road of every change, and
// proven on the rules that do. What does not stand the proof is taken out again before anybody relies on it.
import { ApiError, type Actor } from '#http-kit';
import type { Call } from '../kit/endpoint.js';
import type { Firewall, PatchText, Preview, Verdict } from './firewall.js';
import { judge, keepProof, partsOf, requestsOf, requireFirewall, tell, whyNot, type Judged } from './prove.js';
import { claim, insertProof, release, setState, type PatchRow, type ProofRow } from './store.js';

const textOf = (row: PatchRow): PatchText => ({
  rule_id: row.rule_id,
  cve: row.cve,
  name: row.name,
  seclang: row.seclang,
  sites: row.site === null ? [] : [row.site],
});

/** A target as an application reads it: encodings and upper case away, the parameters in one order. */
function readAlike(uri: string): string {
  const [path = '', query = ''] = uri.split('?', 2);
  const fields = [...new URLSearchParams(query)].map(([name, value]) => JSON.stringify([name, value]));
  return `${path.replace(/\/+$/, '')}?${fields.sort().join('&')}`.toLowerCase();
}

export interface Rehearsal {
  readonly preview: Preview;
  /** Why it is not put in force like this; null: it would be. */
  readonly refused: string | null;
}

/** What putting it in force would do to its own requests and to those that were recorded. */
export async function rehearse(firewall: Firewall, row: PatchRow, acceptsImpact: boolean): Promise<Rehearsal> {
  const preview = await firewall.preview(textOf(row), requestsOf(row), row.site);
  const why = whyNot(row, preview.after, preview.before);
  // whoever found the weakness, and whoever tried the attack before the patch, is among the recorded
  const attacks = new Set([row.attack, ...row.mutations].map(({ uri }) => readAlike(uri)));
  const examples = preview.impact?.newly_blocked_examples ?? [];
  const others = examples.filter(({ uri }) => !attacks.has(readAlike(uri)));
  const blocked = (preview.impact?.newly_blocked ?? 0) - (examples.length - others.length);
  const refused =
    why ??
    (blocked > 0 && !acceptsImpact
      ? `${blocked} of ${preview.impact?.replayed ?? 0} recorded requests would be refused that pass today and are ` +
        `not the attack (${others
          .slice(0, 3)
          .map(({ method, uri }) => `${method} ${uri.slice(0, 120)}`)
          .join(', ')}); where they are attacks, say accept_newly_blocked=true`
      : null);
  return { preview, refused };
}

/** Takes it out where the proof failed; says so where that fails, too. */
async function takeBack(firewall: Firewall, actor: Actor, row: PatchRow): Promise<string> {
  try {
    await firewall.remove(actor, row.rule_id);
    return 'It was taken out again.';
  } catch (error) {
    return `It could not be taken out again: ${error instanceof Error ? error.message : String(error)}`;
  }
}

async function keepFailure(call: Call, row: PatchRow, judged: Judged, before: Verdict): Promise<void> {
  await call.audited('vm.transition', `put virtual patch ${row.id} in force; its proof failed`, async (tx) => {
    const { after, benign, mutations } = partsOf(row, judged.trial.verdicts);
    const { trial } = judged;
    await insertProof(
      tx,
      {
        vpatch_id: row.id,
        kind: 'activation',
        holds: false,
        reason: judged.reason ?? '',
        before,
        after,
        benign,
        mutations,
        nodes: trial.nodes,
        settings_version: trial.version,
        generation: trial.generation,
        artifact_sha256: trial.artifact_sha256,
      },
      call.now,
    );
    await setState(tx, row.id, 'draft', null, call.now);
  });
}

/** Throws 409 where it would not hold, or refuses recorded requests; then what served before serves. */
export async function activate(
  call: Call,
  row: PatchRow,
  acceptsImpact: boolean,
): Promise<{ readonly proof: ProofRow; readonly preview: Preview }> {
  const firewall = requireFirewall(call.host);
  const { actor } = call.caller;
  await claim(call.sql, row, call.now);
  try {
    const { preview, refused } = await rehearse(firewall, row, acceptsImpact);
    if (refused !== null) throw new ApiError('conflict', `It was not put in force: ${refused}.`);
    const before = preview.before[0] as Verdict;
    await firewall.apply(actor, textOf(row));
    const judged = await judge(firewall, row, preview.before);
    if (judged.reason !== null) {
      const back = await takeBack(firewall, actor, row);
      await keepFailure(call, row, judged, before);
      throw new ApiError('conflict', `The proof failed: ${judged.reason}. ${back}`);
    }
    const proof = await call.audited(
      'vm.transition',
      `put virtual patch ${row.id} (rule ${row.rule_id}) in force`,
      (tx) => keepProof(tx, row, judged, { kind: 'activation', before }, actor, call.now),
    );
    return { proof, preview };
  } finally {
    await release(call.sql, row.id);
  }
}

/** Tries it again; a proof that fails makes it stale. */
export async function proveAgain(call: Call, row: PatchRow): Promise<ProofRow> {
  const firewall = requireFirewall(call.host);
  await claim(call.sql, row, call.now);
  try {
    const judged = await judge(firewall, row, null);
    return await call.audited(
      'vm.transition',
      (proof: ProofRow) => `proved virtual patch ${row.id}: ${proof.holds ? 'it holds' : proof.reason}`,
      (tx) => keepProof(tx, row, judged, { kind: 'asked', before: null }, call.caller.actor, call.now),
    );
  } finally {
    await release(call.sql, row.id);
  }
}

/** Takes it out of the firewall; a draft is only set aside. */
export async function disable(call: Call, row: PatchRow): Promise<PatchRow> {
  const firewall = requireFirewall(call.host);
  const { actor } = call.caller;
  await claim(call.sql, row, call.now);
  try {
    if (row.state !== 'draft') await firewall.remove(actor, row.rule_id);
    return await call.audited('vm.transition', `disabled virtual patch ${row.id} (rule ${row.rule_id})`, async (tx) => {
      if (row.state !== 'draft') await tell(tx, row, 'vpatch.disabled', call.now);
      return setState(tx, row.id, 'disabled', null, call.now);
    });
  } finally {
    await release(call.sql, row.id);
  }
}
