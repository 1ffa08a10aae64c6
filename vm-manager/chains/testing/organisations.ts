// Random organisations for tests, benchmarks and fuzzing: small ones with many ties, so that every order is decided by
// its last word now and then.
import fc from 'fast-check';
import type { ChainApplication, ChainFinding } from '../finding.js';
import type { Organisation } from './slow-chains.js';

/** Titles with their weakness: every stage, every rule of toxic combinations, and what is dropped. */
export const weaknesses: readonly (readonly [title: string, cwe: string | number | null])[] = [
  ['Server-side request forgery in the preview', 918],
  ['SSRF reaches the instance metadata service', 'CWE-918'],
  ['SQL injection in search', 'CWE-89: Improper Neutralization'],
  ['Reflected XSS', 79],
  ['Open redirect after login', 601],
  ['Login can be bypassed', 287],
  ['Redis exposed without a password', null],
  ['OS command injection in the converter', 78],
  ['Unsafe deserialisation of the session', 502],
  ['Unrestricted upload of scripts', 434],
  ['Prototype pollution in merge', 1321],
  ['Hard-coded password', 798],
  ['AWS secret key in the repository', 'CWE-798'],
  ['IMDSv1 answers with credentials: metadata service', null],
  ['Token replayed as another principal', 522],
  ['No limit on logins', 307],
  ['IAM role with wildcard actions', 732],
  ['Privileged container', 250],
  ['hostPath mounted into the pod', null],
  ['Missing authorisation of the admin function', 862],
  ['Service account token is mounted', null],
  ['Network policy missing in the namespace', null],
  ['Bucket policy allows public read', 732],
  ['Orders of others can be read', 639],
  ['Personal data in the answer', 359],
  ['Backup without protection: unprotected backup', null],
  ['Regular expression takes exponential time', 1333],
  ['Missing X-Frame-Options header', null],
  ['Cookie without Secure flag', 614],
  ['Identifier is misspelt', null],
];

const pick = <Item>(...items: readonly Item[]): fc.Arbitrary<Item> => fc.constantFrom(...items);
const score = fc.option(pick(0, 10, 35, 50, 50.4, 70, 70, 90, 100, 99.5, -3, 140), { nil: null, freq: 6 });

const findingOf = (applicationId: string, id: string): fc.Arbitrary<ChainFinding> =>
  fc
    .record({
      weakness: pick(...weaknesses),
      severity: pick('critical', 'high', 'high', 'medium', 'low', 'info'),
      status: pick('new', 'new', 'new', 'triaged', 'confirmed', 'reopened', 'resolved', 'muted'),
      riskScore: score,
      riskOverride: fc.option(pick(0, 50, 70, 95), { nil: null, freq: 2 }),
      priorityScore: fc.option(pick(1, 2, 2, 3, 40, 41.5), { nil: null, freq: 6 }),
      reachable: fc.boolean(),
      exploitConfirmed: pick(false, false, false, true),
      runtimeConfirmed: pick(false, false, false, false, true),
      location: pick(null, 'GET /orders', 'src/main.ts:7'),
    })
    .map(({ weakness: [title, cwe], ...rest }) => ({ id, applicationId, title, cwe, source: 'dast', ...rest }));

const applicationOf = (id: string): fc.Arbitrary<ChainApplication> =>
  fc.record({
    id: fc.constant(id),
    name: pick('Shop', 'Payments', 'Orders', `Service ${id}`),
    environment: pick('prod', 'prod', 'Production ', 'staging', null),
    criticality: pick('critical', 'high', 'medium', 'low', null),
    projectId: pick('p1', 'p1', 'p1', 'p2', null),
  });

/** Up to seven applications of up to fourteen findings; now and then one has more than the forty that count. */
export const organisations: fc.Arbitrary<Organisation> = fc
  .array(fc.tuple(fc.nat(13), pick(...Array.from({ length: 60 }, (_, index) => (index === 0 ? 40 : 0)))), {
    minLength: 1,
    maxLength: 7,
  })
  .chain((sizes) =>
    fc.tuple(
      ...sizes.map(([size, more], index) => {
        const id = index % 3 === 2 ? `app-${index}` : String(index * 7 + 1);
        const findings = Array.from({ length: size + more }, (_, at) =>
          findingOf(id, at % 5 === 4 ? `f-${index}-${at}` : String(1000 - index * 100 - at)),
        );
        return fc.tuple(applicationOf(id), fc.tuple(...findings));
      }),
    ),
  )
  .map((pairs) => ({
    applications: pairs.map(([application]) => application),
    findings: pairs.flatMap(([, findings]) => findings),
  }));
