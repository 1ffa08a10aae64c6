// Abuse of APIs: findings over this client, and what its counters say without any.
import { growing, type FeatureVector, type Signal, type VectorThreat } from '../vector.js';

const severityPoints = { low: 25, medium: 50, high: 80, critical: 100 } as const;

/** Kinds of findings that have a name; every other is shown as it is called. */
const kinds: Readonly<Record<string, readonly [name: string, attack: readonly string[], owasp: readonly string[]]>> = {
  bola: ['Objects of others', ['T1190'], ['API1:2023']],
  bfla: ['Functions of others', ['T1190'], ['API5:2023']],
  'credential-stuffing': ['Credential stuffing', ['T1110.004'], ['API2:2023']],
  credential_stuffing: ['Credential stuffing', ['T1110.004'], ['API2:2023']],
};

const objectsFrom = 30;
const objectsPerShape = 10;

export function apiAbuseSignals(vector: FeatureVector): Signal[] {
  const signals = vector.threats.length === 0 ? [] : ofThreats(vector.threats);
  const failures = vector.login_failures;
  // people mistype: three failures say nothing
  if (failures > 3)
    signals.push({
      code: 'abuse.login-failures',
      layer: 'api_abuse',
      name: 'Logins that failed',
      points: growing(failures - 3, 90, 10),
      evidence: { requests: failures, of: vector.requests, request_ids: vector.samples },
      attack: ['T1110'],
      owasp: ['API2:2023'],
    });
  const { paths, shapes, denied, not_found: absent } = vector;
  if (paths >= objectsFrom && paths >= objectsPerShape * shapes)
    signals.push({
      code: 'abuse.objects',
      layer: 'api_abuse',
      name: 'One object after another',
      points: growing(paths - objectsFrom + 1, 60, 100),
      evidence: { objects: paths, shapes },
      attack: ['T1190'],
      owasp: ['API1:2023'],
    });
  if (denied + absent >= 5)
    signals.push({
      code: 'abuse.refusals',
      layer: 'api_abuse',
      name: 'Requests that the application refused',
      points: growing(denied + absent - 4, 50, 40),
      evidence: { denied, not_found: absent, of: vector.requests, request_ids: vector.samples },
      attack: ['T1190'],
      owasp: ['API1:2023', 'API5:2023'],
    });
  return signals;
}

/** One signal a kind: its most severe finding, and a little for each further one. */
function ofThreats(threats: readonly VectorThreat[]): Signal[] {
  const byKind = new Map<string, VectorThreat[]>();
  for (const threat of threats) byKind.set(threat.kind, [...(byKind.get(threat.kind) ?? []), threat]);
  return [...byKind].map(([kind, found]) => {
    const [name, attack, owasp] = kinds[kind] ?? [kind, [], []];
    const worst = Math.max(...found.map(({ severity }) => severityPoints[severity]));
    return {
      code: `abuse.${kind}`,
      layer: 'api_abuse',
      name,
      points: Math.min(100, worst + 5 * (found.length - 1)),
      evidence: { findings: found.map(({ id }) => id), count: found.reduce((sum, { count }) => sum + count, 0) },
      attack,
      owasp,
    };
  });
}
