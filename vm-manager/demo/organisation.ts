// A made-up organisation with reports in the formats of real tools: three projects, thirty applications, about 5,000
// findings. Everything is drawn from one seed, so that two installations show the same; names and hosts are reserved
// for examples (RFC 2606).

import { createEvents, type DemoEvent } from './runtime-events.js';

export type { DemoEvent };

export interface DemoReport {
  readonly format: string;
  readonly text: string;
}
export interface DemoApplication {
  readonly name: string;
  readonly environment: string;
  readonly business_criticality: string;
  readonly owner: string;
  readonly tags: readonly string[];
  readonly reports: readonly DemoReport[];
  /** Of its sensor, where it has one. */
  readonly events: readonly DemoEvent[];
}
export interface DemoProject {
  readonly name: string;
  readonly owner: string;
  readonly applications: readonly DemoApplication[];
}

/** Numbers from 0 to 1, the same for each seed (mulberry32). */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const services: readonly (readonly [string, string, readonly string[]])[] = [
  [
    'Online shop',
    'commerce',
    ['storefront', 'checkout', 'catalogue', 'search', 'basket', 'prices', 'reviews', 'loyalty', 'gift cards', 'stock'],
  ],
  [
    'Payments',
    'finance',
    ['card gateway', 'refunds', 'invoices', 'ledger', 'fraud rules', 'payouts', 'tax', 'reports', 'exports', 'limits'],
  ],
  [
    'Platform',
    'infrastructure',
    [
      'identity',
      'mail relay',
      'object store',
      'audit trail',
      'build farm',
      'secrets',
      'metrics',
      'dns',
      'edge',
      'backup',
    ],
  ],
];

const weaknesses: readonly (readonly [string, string, number, string])[] = [
  ['sql-from-input', 'SQL statement built from request input', 89, '9.3'],
  ['command-from-input', 'Operating system command built from input', 78, '9.8'],
  ['url-from-input', 'Server fetches an address that the request names', 918, '8.6'],
  ['markup-from-input', 'Markup written without escaping', 79, '6.1'],
  ['path-from-input', 'File path built from request input', 22, '7.5'],
  ['weak-hash', 'Password hashed with a fast function', 916, '5.9'],
  ['no-owner-check', 'Object is read without asking whose it is', 639, '7.1'],
  ['unsafe-objects', 'Objects restored from untrusted bytes', 502, '8.8'],
  ['token-unverified', 'Signature of a token is not verified', 347, '8.1'],
  ['open-forward', 'Redirect to an address that the request names', 601, '4.7'],
];
const packages = [
  'tiny-router',
  'fast-merge',
  'text-to-date',
  'yaml-lite',
  'zip-walk',
  'image-size',
  'mail-parse',
  'http-retry',
];
const misconfigurations: readonly (readonly [string, string, string])[] = [
  ['DEMO-1', 'Public bucket allows anonymous read', 'HIGH'],
  ['DEMO-2', 'IAM policy with wildcard action and resource', 'CRITICAL'],
  ['DEMO-3', 'Privileged container with host path', 'HIGH'],
  ['DEMO-4', 'Disk is not encrypted', 'MEDIUM'],
  ['DEMO-5', 'Security group open to 0.0.0.0/0 on port 22', 'HIGH'],
  ['DEMO-6', 'No limit of memory', 'LOW'],
];

/** One application in so many has a sensor. */
const sensorEvery = 3;

/** The organisation that this seed stands for. */
export function createOrganisation(seed = 2026): DemoProject[] {
  const random = createRandom(seed);
  const pick = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] as T;
  const upTo = (most: number): number => Math.floor(random() * most);
  return services.map(([name, owner, applications]) => ({
    name: `${name} (demo)`,
    owner,
    applications: applications.map((application, index) => {
      const environment = random() < 0.7 ? 'production' : 'staging';
      const code = sarifReport(application, 55 + upTo(30), pick, upTo);
      return {
        name: application,
        environment,
        business_criticality: pick(['critical', 'high', 'high', 'medium', 'low']),
        owner: `${owner}@example.org`,
        tags: ['demo', owner],
        reports: [
          code,
          trivyReport(30 + upTo(25), pick, upTo),
          npmReport(),
          zapReport(application, 25 + upTo(20), pick, upTo),
          secretsReport(application, 6 + upTo(6), upTo),
        ],
        events: index % sensorEvery === 0 ? createEvents(application, code.text, upTo) : [],
      };
    }),
  }));
}

type Pick = <T>(all: readonly T[]) => T;
type UpTo = (most: number) => number;

function sarifReport(application: string, count: number, pick: Pick, upTo: UpTo): DemoReport {
  const results = Array.from({ length: count }, (_, index) => {
    const [ruleId] = pick(weaknesses);
    const folder = pick(['routes', 'models', 'views', 'jobs']);
    const uri = `src/${application.replace(/ /g, '-')}/${folder}/part-${upTo(40)}.ts`;
    const region = { startLine: 1 + upTo(900), snippet: { text: `step_${index}(request.input)` } };
    return {
      ruleId,
      message: { text: `${ruleId} in ${uri}` },
      locations: [{ physicalLocation: { artifactLocation: { uri }, region } }],
    };
  });
  const rules = weaknesses.map(([id, text, cwe, score]) => ({
    id,
    shortDescription: { text },
    properties: { tags: [`external/cwe/cwe-${cwe}`], 'security-severity': score },
  }));
  const driver = { name: 'Example Code Scanner', version: '4.2.0', rules };
  return { format: 'sarif', text: JSON.stringify({ version: '2.1.0', runs: [{ tool: { driver }, results }] }) };
}

function trivyReport(count: number, pick: Pick, upTo: UpTo): DemoReport {
  const vulnerabilities = Array.from({ length: count }, (_, index) => {
    const name = pick(packages);
    return {
      VulnerabilityID: `CVE-2026-${90_000 + upTo(900)}`,
      PkgName: name,
      InstalledVersion: `1.${index}.0`,
      FixedVersion: upTo(3) === 0 ? '' : `1.${index}.1`,
      Severity: pick(['LOW', 'MEDIUM', 'HIGH', 'CRITICAL']),
      Title: `${name} mishandles long input`,
      PkgIdentifier: { PURL: `pkg:npm/${name}@1.${index}.0` },
    };
  });
  const found = misconfigurations
    .filter(() => upTo(2) === 0)
    .map(([ID, Title, Severity]) => ({
      ID,
      Title,
      Severity,
      Status: 'FAIL',
      CauseMetadata: { Resource: `main.${ID.toLowerCase()}` },
    }));
  const results = [
    { Target: 'package-lock.json', Class: 'lang-pkgs', Vulnerabilities: vulnerabilities },
    { Target: 'deploy/main.tf', Class: 'config', Misconfigurations: found },
  ];
  return { format: 'trivy', text: JSON.stringify({ SchemaVersion: 2, ArtifactName: 'demo', Results: results }) };
}

function npmReport(): DemoReport {
  const entries = packages.slice(0, 4).map((name, index) => [
    name,
    {
      name,
      severity: 'moderate',
      range: '<2.0.0',
      fixAvailable: index > 0,
      via: [
        {
          source: 1_090_000 + index,
          name,
          dependency: name,
          title: `${name} can be made to loop`,
          severity: 'moderate',
          cwe: ['CWE-1333'],
        },
      ],
    },
  ]);
  return {
    format: 'npm-audit',
    text: JSON.stringify({ auditReportVersion: 2, vulnerabilities: Object.fromEntries(entries) }),
  };
}

function zapReport(application: string, count: number, pick: Pick, upTo: UpTo): DemoReport {
  const host = `https://${application.replace(/ /g, '-')}.example.org`;
  const kinds: readonly (readonly [string, string, string, string])[] = [
    ['40018', 'SQL injection', '3', '89'],
    ['40012', 'Reflected cross-site scripting', '3', '79'],
    ['10038', 'Content security policy header missing', '1', '693'],
    ['90034', 'Cloud metadata service can be reached', '3', '918'],
  ];
  const alerts = kinds.map(([pluginid, alert, riskcode, cweid]) => ({
    pluginid,
    alert,
    riskcode,
    cweid,
    confidence: '2',
    desc: `<p>${alert}</p>`,
    instances: Array.from({ length: Math.ceil(count / kinds.length) }, () => ({
      uri: `${host}/${pick(['items', 'orders', 'users', 'files'])}/view-${upTo(60)}`,
      method: pick(['GET', 'POST']),
      param: pick(['q', 'id', 'next', 'file']),
    })),
  }));
  return { format: 'zap-json', text: JSON.stringify({ '@version': '2.15.0', site: [{ '@name': host, alerts }] }) };
}

function secretsReport(application: string, count: number, upTo: UpTo): DemoReport {
  const found = Array.from({ length: count }, (_, index) => ({
    RuleID: index % 3 === 0 ? 'cloud-access-key' : 'generic-password',
    Description: index % 3 === 0 ? 'Cloud access key in source' : 'Password in source',
    File: `config/${application.replace(/ /g, '-')}-${index}.env`,
    StartLine: 1 + upTo(50),
    Secret: `made-up-${application}-${index}-${upTo(1_000_000)}`,
    Match: '',
  }));
  return { format: 'gitleaks', text: JSON.stringify(found) };
}
