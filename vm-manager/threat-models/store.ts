// Models and their threats as rows: what rules derive is written by its key, what people decided stays.
import { json, type Tx } from '../database.js';
import type { Stride } from './rules/rule.js';
import { deriveThreats, type Derived } from './rules/index.js';
import type { Dfd } from './model.js';
import { isProven, type Linked } from './standing.js';

export const threatStates = ['open', 'mitigated', 'accepted', 'not_applicable'] as const;
export type ThreatState = (typeof threatStates)[number];

export interface ModelRow {
  readonly id: number;
  readonly application_id: number;
  readonly name: string;
  readonly dfd: Dfd;
  readonly version: number;
}

export interface ThreatRow {
  readonly id: number;
  readonly model_id: number;
  readonly key: string;
  readonly rule: string;
  readonly stride: Stride;
  readonly title: string;
  readonly subject_kind: 'element' | 'flow';
  readonly subject_id: string;
  readonly subject_name: string;
  readonly severity: number;
  readonly status: ThreatState;
  readonly reason: string;
  readonly control: string;
  readonly finding_ids: readonly number[];
  readonly is_current: boolean;
  readonly decided_by: string | null;
  readonly decided_at: Date | null;
  readonly version: number;
  readonly created_at: Date;
  readonly updated_at: Date;
}

export interface Round {
  readonly threats: number;
  readonly created: number;
  /** Were of the model once, and are again. */
  readonly returned: number;
  /** No longer of the model. */
  readonly gone: number;
  /** Were mitigated, and an open finding proves the contrary. */
  readonly reopened: number;
}

const proofReason = 'An open finding that is proven speaks against it.';

async function write(tx: Tx, model: number, one: Derived, before: ThreatRow | undefined, now: Date): Promise<void> {
  const values = {
    ...{ title: one.rule.title, stride: one.rule.stride, severity: one.severity },
    ...{ subject_name: one.subject.name.slice(0, 620), is_current: true, updated_at: now },
  };
  if (before !== undefined) {
    const isSame =
      before.is_current &&
      before.severity === values.severity &&
      before.title === values.title &&
      before.subject_name === values.subject_name;
    if (!isSame) await tx`update vm_threats set ${tx(values)}, version = version + 1 where id = ${before.id}`;
    return;
  }
  const key = { key: one.key, rule: one.rule.id, subject_kind: one.subject.kind, subject_id: one.subject.id };
  await tx`insert into vm_threats ${tx({ model_id: model, ...key, ...values, created_at: now })}`;
}

/** Writes what the rules say of the model. `linked`: open findings of its application. */
export async function deriveInto(
  tx: Tx,
  model: Pick<ModelRow, 'id' | 'dfd'>,
  linked: readonly Linked[],
  now: Date,
): Promise<Round> {
  const rows = await tx<ThreatRow[]>`select * from vm_threats where model_id = ${model.id} for update`;
  const before = new Map(rows.map((row) => [row.key, row]));
  const derived = deriveThreats(model.dfd);
  for (const one of derived) await write(tx, model.id, one, before.get(one.key), now);
  const keys = new Set(derived.map(({ key }) => key));
  const gone = rows.filter((row) => row.is_current && !keys.has(row.key)).map(({ id }) => id);
  if (gone.length > 0)
    await tx`
      update vm_threats set is_current = false, updated_at = ${now}, version = version + 1 where id in ${tx(gone)}`;
  const disproved = rows.filter((row) => row.status === 'mitigated' && keys.has(row.key) && isProven(row, linked));
  if (disproved.length > 0)
    await tx`
      update vm_threats set status = 'open', reason = ${proofReason}, updated_at = ${now}, version = version + 1
      where id in ${tx(disproved.map(({ id }) => id))}`;
  await tx`update vm_threat_models set generated_at = ${now} where id = ${model.id}`;
  return {
    threats: derived.length,
    created: derived.filter(({ key }) => !before.has(key)).length,
    returned: derived.filter(({ key }) => before.get(key)?.is_current === false).length,
    gone: gone.length,
    reopened: disproved.length,
  };
}

export async function saveDfd(tx: Tx, id: number, dfd: Dfd, now: Date): Promise<void> {
  await tx`
    update vm_threat_models set dfd = ${json(tx, dfd)}, version = version + 1, updated_at = ${now} where id = ${id}`;
}
