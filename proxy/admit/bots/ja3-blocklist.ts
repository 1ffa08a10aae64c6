// TLS clients that are refused by their JA3. A request without TLS has none and is not judged: whoever wants every
// client to have one closes the plain port (docs/tls.md). Browsers shuffle their extensions, so one of them has many
// JA3; a list of these refuses tools, not browsers.
import type { Denial } from '../decision.js';
import type { Gate } from '../gate.js';
import { botRuleIds } from './bots.js';

export const ja3Blocklist: Gate<ReadonlySet<string>> = {
  name: 'tls-fingerprints',
  appliesTo: 'protected',
  bound: { of: 'hashes of the list', max: 10_000, unit: 'entries', beyond: 'the settings are refused' },
  compile: ({ botJa3Blocklist: hashes }) => (hashes.length === 0 ? null : new Set(hashes)),
  decide: ({ exchange: { tls } }, _site, { compiled, budget, clock }) => {
    if (tls == null || !compiled.has(tls.ja3)) return null;
    return denial(tls.ja3, budget.spend(clock.monotonicMs()));
  },
};

function denial(ja3: string, isTold: boolean): Denial {
  const rule = {
    id: botRuleIds.ja3,
    message: 'The TLS client is on the list of refused JA3',
    match: `Matched the list of JA3 against variable \`TX:ja3' (Value: \`${ja3}')`,
    data: ja3,
    severity: '4',
    tags: ['gatehouse/bot'],
  };
  return { kind: 'deny', status: 403, shape: 'page', rule: isTold ? rule : null };
}
