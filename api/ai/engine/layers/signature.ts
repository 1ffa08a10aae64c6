// What rules say of a client: how often, on what, how sure they were.
import { growing, type FeatureVector, type Signal } from '../vector.js';

interface Category {
  readonly code: string;
  readonly name: string;
  /** Thousands of rules (OWASP CRS v4). */
  readonly groups: readonly string[];
  /** Points that many matches come to at most. */
  readonly cap: number;
  readonly half: number;
  /** Whether a match is an attack by itself, and no fault of form. */
  readonly isAttack: boolean;
  readonly attack: readonly string[];
  readonly owasp: readonly string[];
}

const attackOn = (code: string, name: string, groups: readonly string[], owasp: string, technique = 'T1190') =>
  ({ code, name, groups, cap: 80, half: 3, isAttack: true, attack: [technique], owasp: [owasp] }) as const;
const faultOf = (code: string, name: string, groups: readonly string[]) =>
  ({ code, name, groups, cap: 30, half: 20, isAttack: false, attack: [], owasp: [] }) as const;

export const categories: readonly Category[] = [
  attackOn('sig.sqli', 'SQL injection', ['942'], 'A03:2021'),
  attackOn('sig.xss', 'Cross-site scripting', ['941'], 'A03:2021', 'T1059.007'),
  attackOn('sig.rce', 'Remote code execution', ['932'], 'A03:2021', 'T1059'),
  attackOn('sig.php', 'PHP injection', ['933'], 'A03:2021'),
  attackOn('sig.generic', 'Template and generic injection', ['934'], 'A03:2021'),
  attackOn('sig.java', 'Java attack', ['944'], 'A08:2021'),
  attackOn('sig.lfi', 'Local file inclusion', ['930'], 'A01:2021', 'T1083'),
  attackOn('sig.rfi', 'Remote file inclusion', ['931'], 'A10:2021'),
  attackOn('sig.fixation', 'Session fixation', ['943'], 'A07:2021', 'T1539'),
  attackOn('sig.vpatch', 'Exploit of a known weakness', ['1007'], 'A06:2021'),
  attackOn('sig.scanner', 'Scanner', ['913'], 'A05:2021', 'T1595.002'),
  attackOn('sig.dataleak', 'Leak of data', ['950', '951', '952', '953', '954', '955', '956'], 'A05:2021', 'T1592'),
  faultOf('sig.protocol', 'Faults of protocol', ['920', '921', '922']),
  faultOf('sig.method', 'Methods that are not allowed', ['911']),
  faultOf('sig.custom', 'Rules of this installation', ['custom']),
];

const idsMax = 8;

export function signatureSignals(vector: FeatureVector): Signal[] {
  const signals: Signal[] = [];
  let kinds = 0;
  for (const category of categories) {
    const matches = category.groups.reduce((sum, group) => sum + (vector.groups[group] ?? 0), 0);
    if (matches === 0) continue;
    if (category.isAttack) kinds += 1;
    signals.push({
      code: category.code,
      layer: 'signature',
      name: category.name,
      points: growing(matches, category.cap, category.half),
      evidence: { requests: matches, rules: rulesOf(vector, category.groups), request_ids: vector.samples },
      attack: category.attack,
      owasp: category.owasp,
    });
  }
  const add = (code: string, name: string, points: number, evidence: Signal['evidence']): void => {
    if (points > 0) signals.push({ code, layer: 'signature', name, points, evidence, attack: [], owasp: [] });
  };
  add('sig.score', 'Anomaly score of one request', Math.min(30, Math.floor(vector.score_max)), {
    highest: vector.score_max,
    sum: vector.score_sum,
    request_ids: vector.samples,
  });
  add('sig.blocked', 'Requests that were blocked', growing(vector.blocked, 40, 5), {
    requests: vector.blocked,
    of: vector.requests,
    request_ids: vector.samples,
  });
  add('sig.breadth', 'Several kinds of attack', Math.min(30, Math.max(0, kinds - 1) * 10), { kinds });
  return signals;
}

/** Of the rules that are remembered, those of these groups. */
function rulesOf(vector: FeatureVector, groups: readonly string[]): string[] {
  const groupOf = (id: string): string => {
    const thousand = Math.floor(Number(id) / 1000);
    return (thousand >= 900 && thousand < 1000) || (thousand >= 1006 && thousand < 1011) ? String(thousand) : 'custom';
  };
  return Object.keys(vector.rules)
    .filter((id) => groups.includes(groupOf(id)))
    .slice(0, idsMax);
}
