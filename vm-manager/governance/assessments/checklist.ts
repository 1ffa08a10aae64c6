// Lines of a checklist: an item that failed raises a finding where its answer asks for one, and keeps it.
import { Nullable, OneOf } from '#http-kit';
import { Type, type Static } from '@sinclair/typebox';
import type { Tx } from '../../database.js';
import { insertManual, requireFinding } from '../../findings/store.js';
import { severityNames, severityNumbers } from '../../findings/words.js';
import { unfit, type Call } from '../../kit/endpoint.js';

const closed = { additionalProperties: false } as const;

export const ChecklistItem = Type.Object(
  {
    item: Type.String({ minLength: 1, maxLength: 300 }),
    result: OneOf(['open', 'pass', 'fail', 'na']),
    note: Type.Optional(Type.String({ maxLength: 5000 })),
    vuln_id: Type.Optional(
      Nullable(
        Type.String({ maxLength: 20, description: 'the finding that it led to; absent: as before; null: none' }),
      ),
    ),
    raise: Type.Optional(
      Type.Object(
        {
          severity: OneOf(severityNames),
          title: Type.Optional(Type.String({ minLength: 1, maxLength: 300, pattern: '\\S' })),
          cwe: Type.Optional(Type.Integer({ minimum: 1, maximum: 99_999 })),
        },
        { ...closed, description: 'of an item that failed: write a finding of it, unless it has one; never answered' },
      ),
    ),
  },
  closed,
);
export type Item = Static<typeof ChecklistItem>;

export interface Owner {
  readonly id: number;
  readonly project_id: number | null;
  readonly name: string;
}

async function raised(tx: Tx, call: Call, owner: Owner, { item, note, raise }: Item): Promise<string> {
  if (raise === undefined) throw new Error('nothing is to be raised');
  const made = await insertManual(
    tx,
    {
      ...{ applicationId: owner.id, projectId: owner.project_id, title: raise.title ?? item },
      severity: severityNumbers[raise.severity] ?? 0,
      ...{ cwes: raise.cwe === undefined ? [] : [raise.cwe], vulnIds: [], location: '' },
      description: `The item "${item}" of an assessment failed.${note === undefined ? '' : `\n\n${note}`}`,
      ...{ cvss: null, tags: ['assessment'], reachable: null, references: [] },
    },
    call.caller.actor,
    call.now,
  );
  return String(made.id);
}

/**
 * The list as it is stored: findings of items stay with them by the item's text, and those that are asked for are
 * written. Throws 422 for a finding of another application, and for one that is asked for of an item that did not fail.
 */
export async function settle(
  tx: Tx,
  call: Call,
  owner: Owner,
  given: readonly Item[],
  before: readonly Item[],
): Promise<Item[]> {
  const known = new Map(before.map(({ item, vuln_id }) => [item, vuln_id ?? null]));
  const list: Item[] = [];
  for (const [index, one] of given.entries()) {
    const { raise, vuln_id: named, ...rest } = one;
    const path = `/checklist/${index}`;
    if (raise !== undefined && one.result !== 'fail')
      throw unfit(`${path}/raise`, 'is of an item that did not fail', 'answer it with fail, or leave raise out');
    const kept = named === undefined ? (known.get(one.item) ?? null) : named;
    if (named !== undefined && named !== null && named !== known.get(one.item)) {
      const finding = await requireFinding(tx, call.reach, named);
      if (Number(finding.application_id) !== owner.id)
        throw unfit(`${path}/vuln_id`, 'names a finding of another application');
    }
    const id = kept === null && raise !== undefined ? await raised(tx, call, owner, one) : kept;
    list.push(id === null ? rest : { ...rest, vuln_id: id });
  }
  return list;
}
