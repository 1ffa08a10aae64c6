// How patches and proofs are shown.
import { Nullable, OneOf, Time } from '#http-kit';
import { Type } from '@sinclair/typebox';
import type { Queryable } from '../database.js';
import { visibleFindings } from '../findings/query.js';
import type { Reach } from '../kit/caller.js';
import type { PatchHits } from './firewall.js';
import { patchStates, proofKinds, type PatchRow, type ProofRow } from './store.js';

const text = Type.String();
const RequestView = Type.Object({
  name: text,
  method: text,
  uri: text,
  headers: Type.Array(Type.Array(text)),
  body: text,
});
export const VerdictView = Type.Object({
  name: text,
  outcome: OneOf(['passed', 'refused']),
  status: Nullable(Type.Integer()),
  rule_id: Nullable(Type.Integer({ description: 'the rule that refused it' })),
  rule_ids: Type.Array(Type.Integer()),
  site: Nullable(text),
});
export const ProofView = Type.Object({
  id: text,
  at: Time,
  kind: OneOf(proofKinds),
  holds: Type.Boolean(),
  reason: Type.String({ description: 'a sentence: why it holds, or why it does not' }),
  closes: Nullable(
    Type.Boolean({ description: 'the attack passed before the patch; null: it was in force before the proof' }),
  ),
  before: Nullable(VerdictView),
  after: VerdictView,
  benign: Type.Array(VerdictView),
  mutations: Type.Object({ refused: Type.Integer(), total: Type.Integer(), items: Type.Array(VerdictView) }),
  nodes: Type.Array(Type.Object({ url: text, state: text })),
  settings_version: text,
  generation: Nullable(Type.Integer()),
  artifact_sha256: text,
  sha256: Type.String({ description: 'of the proof as it was stored' }),
});
export const PatchView = Type.Object({
  id: text,
  state: OneOf(patchStates),
  rule_id: Type.Integer(),
  origin: OneOf(['catalogue', 'own']),
  strategy: OneOf(['catalogue', 'positive', 'strict', 'signature']),
  cve: text,
  name: text,
  application_id: Nullable(text),
  vulnerability_ids: Type.Array(text),
  site: Nullable(Type.String({ description: 'null: every site of the firewall' })),
  seclang: text,
  explanation: Type.Array(text),
  attack: RequestView,
  attack_origin: OneOf(['given', 'evidence', 'sample', 'catalogue']),
  benign: Type.Array(RequestView),
  mutations: Type.Array(RequestView),
  proof: Nullable(ProofView),
  hits_30_days: Type.Integer({ description: 'attempts that the rule saw' }),
  settings_version: Nullable(text),
  generation: Nullable(Type.Integer()),
  created_by: text,
  activated_at: Nullable(Time),
  version: Type.Integer(),
  created_at: Time,
  updated_at: Time,
});
const CountView = Type.Object({
  replayed: Type.Integer(),
  newly_blocked: Type.Integer(),
  newly_allowed: Type.Integer(),
  newly_blocked_examples: Type.Array(Type.Object({ method: text, uri: text })),
});
export const PreviewView = Type.Object({
  impact: Nullable(CountView),
  impact_missing: Nullable(Type.String({ description: 'why there is no impact' })),
  before: Type.Array(VerdictView),
  after: Type.Array(VerdictView),
});

export const viewProof = ({ id, vpatch_id: _patch, at, mutations, settings_version: version, ...row }: ProofRow) => ({
  ...row,
  id: String(id),
  at: at.toISOString(),
  closes: row.before === null ? null : row.before.outcome === 'passed',
  mutations: {
    refused: mutations.filter(({ outcome }) => outcome === 'refused').length,
    total: mutations.length,
    items: mutations,
  },
  settings_version: String(version),
});

/** Rows with their findings, latest proofs and hits: two statements however many rows. */
export async function viewPatches(
  sql: Queryable,
  reach: Reach,
  rows: readonly PatchRow[],
  hits: ReadonlyMap<number, PatchHits>,
) {
  const ids = rows.map(({ id }) => id);
  const [links, proofs] =
    ids.length === 0
      ? [[], []]
      : await Promise.all([
          sql<{ vpatch_id: number; finding_id: number }[]>`
            select l.vpatch_id, l.finding_id from vm_vpatch_findings l
            where l.vpatch_id in ${sql(ids)}
              and l.finding_id in (select id from vm_findings where ${visibleFindings(sql, reach)})
            order by l.finding_id`,
          sql<ProofRow[]>`
            select distinct on (vpatch_id) * from vm_vpatch_proofs where vpatch_id in ${sql(ids)}
            order by vpatch_id, id desc`,
        ]);
  return rows.map((row) => {
    const proof = proofs.find(({ vpatch_id: id }) => id === row.id);
    return {
      id: String(row.id),
      state: row.state,
      rule_id: row.rule_id,
      origin: row.origin,
      strategy: row.strategy,
      cve: row.cve,
      name: row.name,
      application_id: row.application_id === null ? null : String(row.application_id),
      vulnerability_ids: links.filter(({ vpatch_id: id }) => id === row.id).map(({ finding_id: id }) => String(id)),
      site: row.site,
      seclang: row.seclang,
      explanation: row.explanation,
      attack: row.attack,
      attack_origin: row.attack_origin,
      benign: row.benign,
      mutations: row.mutations,
      proof: proof === undefined ? null : viewProof(proof),
      hits_30_days: hits.get(row.rule_id)?.total ?? 0,
      settings_version: row.settings_version === null ? null : String(row.settings_version),
      generation: row.generation,
      created_by: row.created_by,
      activated_at: row.activated_at?.toISOString() ?? null,
      version: row.version,
      created_at: row.created_at.toISOString(),
      updated_at: row.updated_at.toISOString(),
    };
  });
}
