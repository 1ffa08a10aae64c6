// Challenges, throttles and denials of principals on their way to nodes: at once when one changes, and every fifteen seconds to each node that has another
// list than this one (it was away, or began anew).
import { createHash } from 'node:crypto';
import { readPrincipalKey } from '#proxy/contract';
import type { Job } from '../http-kit/index.js';
import type { Parts } from '../parts.js';
import type { NodeGates } from '../edge/node-gates.js';
import { listDecisions } from './query.js';

/** As many as a node takes. */
const decisionsMax = 100_000;
/** Of them principals. */
const principalsMax = 20_000;

export type DecisionParts = Pick<Parts, 'database'> & { readonly nodeGates: NodeGates | null };

/** Returns how many nodes were told. A node that does not answer, or is of an earlier release, is left for later. */
export async function pushDecisions({ database, nodeGates }: DecisionParts, now: Date): Promise<number> {
  if (nodeGates === null) return 0;
  const rows = await listDecisions(database.sql, now, decisionsMax);
  const list = toList(rows);
  const told = await nodeGates.withFigures(async ({ node, answer }) => {
    const had = answer?.verdicts?.sha256;
    // a node of a release before verdicts on principals is told of networks alone
    const given = answer?.verdicts?.principals === undefined ? { verdicts: list.verdicts } : list;
    const isEmpty = given.verdicts.length === 0 && given.principals === undefined;
    if (had === undefined || had === digestOf(given) || (had === '' && isEmpty)) return 0;
    await nodeGates.giveVerdicts(node, given);
    return 1;
  });
  return told.reduce<number>((sum, one) => sum + one, 0);
}

interface List {
  readonly verdicts: readonly object[];
  /** Absent: there is none. */
  readonly principals?: readonly object[];
}

function toList(rows: Awaited<ReturnType<typeof listDecisions>>): List {
  const verdicts: object[] = [];
  const principals: object[] = [];
  for (const { subject: network, action, expires_at: end } of rows) {
    const name = readPrincipalKey(network);
    if (name === null) verdicts.push({ network, action, untilMs: end.getTime() });
    else if (principals.length < principalsMax) principals.push({ ...name, action, untilMs: end.getTime() });
  }
  return principals.length === 0 ? { verdicts } : { verdicts, principals };
}

/** As a node works it out (proxy/main/gates/verdict-list.ts). */
const digestOf = ({ verdicts, principals }: List): string =>
  createHash('sha256')
    .update(JSON.stringify(principals === undefined ? verdicts : [verdicts, principals]))
    .digest('hex');

export function createDecisionJob(parts: DecisionParts): Job {
  return {
    name: 'verdicts',
    everyMs: 15_000,
    timeoutMs: 60_000,
    async run({ nowMs }) {
      if (parts.nodeGates === null) return 'no data plane is connected';
      const now = new Date(nowMs);
      const told = await pushDecisions(parts, now);
      return told === 0 ? 'nothing new' : `${told} nodes were told`;
    },
  };
}
