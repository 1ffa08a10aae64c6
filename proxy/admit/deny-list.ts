// The deny list: clients whose address is denied by a measure of any source are not let in. The list of measures
// comes from the control plane, without a generation (`PUT` and `PATCH :2019/measures`, main/gates/measure-list.ts),
// and lies in memory that all workers share. What ends leaves the table when it ends: main builds another one, so that
// no gate asks a clock here.
//
// Memory: traffic makes it no larger, its sender does. The text of the list has at most 256 MiB; a table entry is 8
// bytes (IPv4) or 32 bytes (IPv6), joined where networks touch. Beyond: the sender is refused, and the list before
// stays.
import { measureTextBytesMax } from '../shared-state/measure-delta.js';
import { isDenied } from '../shared-state/measure-tables.js';
import type { Denial } from './decision.js';
import type { Gate } from './gate.js';

/** The rule by which people find such a request; it stands for the list, no rule set has it. */
export const threatRuleId = 1_006_000;

export const denyList: Gate = {
  name: 'deny-list',
  appliesTo: 'protected',
  bound: {
    of: 'text of the list, one for all workers',
    max: measureTextBytesMax,
    unit: 'bytes',
    beyond: 'the new list is refused (413 or 422), the list before stays in force',
  },
  counter: 'threatsMatched',
  decide: ({ head }, _site, { tables }) =>
    (tables.measures.on(head.clientIp) & isDenied) === 0 ? null : denial(head.clientIp),
};

function denial(clientIp: string): Denial {
  return {
    kind: 'deny',
    status: 403,
    shape: 'page',
    rule: {
      id: threatRuleId,
      message: 'The client address is on the deny list',
      match: `Matched the deny list against variable \`REMOTE_ADDR' (Value: \`${clientIp}')`,
      data: clientIp,
      severity: '2',
      tags: ['gatehouse/threat-intel', 'attack-reputation-ip'],
    },
  };
}
