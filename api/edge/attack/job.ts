// Every fifteen seconds: what nodes found of attacks goes into the audit log, once. The node itself decides within a
// second and sends an event; nothing here is waited for.
import { systemActor, type Job } from '../../http-kit/index.js';
import type { Parts } from '../../parts.js';
import type { NodeGates } from '../node-gates.js';
import { addAttackChange, pruneAttackChanges, type AttackChangeRow } from './store.js';

export type AttackJobParts = Pick<Parts, 'database' | 'audit'> & { readonly nodeGates: NodeGates | null };

export const sentenceOf = ({ change, cause, node, rpm, threshold_rpm: threshold }: AttackChangeRow): string => {
  if (change === 'enter')
    return `${node} is under attack: ${Math.round(rpm)} requests per minute, more than ${Math.round(threshold)}`;
  const why = cause === 'setting' ? 'attack_mode was changed' : `${Math.round(rpm)} requests per minute`;
  return `${node} left attack mode: ${why}`;
};

export function createAttackJob({ database: { sql }, audit, nodeGates }: AttackJobParts): Job {
  return {
    name: 'attack-mode',
    everyMs: 15_000,
    timeoutMs: 60_000,
    async run({ nowMs }) {
      if (nodeGates === null) return 'no data plane is connected';
      let added = 0;
      for (const { node, answer } of await nodeGates.figures())
        for (const change of answer?.attack?.transitions ?? [])
          await sql.begin(async (tx) => {
            const row = await addAttackChange(tx, node, change);
            if (row === null) return;
            added += 1;
            const { change: what, at, rpm, baseline_rpm, threshold_rpm, cause } = row;
            await audit.record(tx, {
              actor: systemActor,
              action: what === 'enter' ? 'attack.enter' : 'attack.leave',
              summary: sentenceOf(row),
              details: { node, at: at.toISOString(), rpm, baseline_rpm, threshold_rpm, cause },
            });
          });
      await pruneAttackChanges(sql, new Date(nowMs));
      return added === 0 ? 'nothing new' : `${added} changes of attack mode`;
    },
  };
}
