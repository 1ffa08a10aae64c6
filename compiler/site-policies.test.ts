// Sites with rules of their own out of one artifact: what a request of a site meets is what it would meet were the
// site's settings those of the whole installation, and both engines agree on it, with all of TX.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { createCompiledInspector, hyperscanLibrary, loadRuleset, type Inspector } from '#engine';
import { createInterpreter, type Program } from '#engine/compile';
import { requireSettings, sitePoliciesOf, type Settings } from '#settings';
import { automataCacheDirectory, sharedDirectory } from '#cli/environment/directories';
import { emitArtifact } from './artifact/emit.js';
import { compileProgram } from './compile-program.js';
import { formatDiagnostics } from './diagnostics/format.js';
import { createFileCache } from './disk/file-cache.js';
import { diskReader } from './disk/disk-reader.js';
import { loadCoreRuleSet, renderPolicy, resolvePolicy } from './index.js';
import type { CoreRuleSet } from './policy/crs.js';
import { smallCrs } from './testing/small-policy.js';
import { findCrs } from './testing/core-rules.js';
import { compareAll, runSample, type Sample } from './testing/agreement.js';
import { ftwSamples, trafficSamples } from './testing/samples.js';

const site = (name: string, over: object): object => ({
  name,
  prefix: `/${name}`,
  upstream: 'http://127.0.0.1:1',
  protected: true,
  ...over,
});
const rule = (id: number, value: string, over: object): object => ({
  id,
  name: `rule ${id}`,
  variable: 'ARGS|REQUEST_URI',
  operator: 'contains',
  value,
  phase: 2,
  ...over,
});

const own: Readonly<Record<string, object>> = {
  strict: { paranoia_level: 4, inbound_threshold: 3, outbound_threshold: 2 },
  lax: { inbound_threshold: 40, categories: { php: { enabled: false }, sqli: { enabled: false } } },
  api: {
    paranoia_level: 2,
    allowed_methods: ['GET', 'PURGE'],
    allowed_content_types: ['application/json'],
    restricted_headers: ['x-secret'],
    restricted_extensions: ['.bak'],
    early_blocking: true,
  },
};
const settings = requireSettings({
  categories: { java: { enabled: false } },
  restricted_extensions: ['.old'],
  sites: [
    ...Object.entries(own).map(([name, over]) => site(name, over)),
    site('usual', {}),
    site('java', { categories: { java: { enabled: true } }, restricted_extensions: ['.old'] }),
  ],
  custom_rules: [
    rule(1_000_001, 'only-lax', { sites: ['lax'] }),
    rule(1_000_002, 'everywhere', {}),
    rule(1_000_003, 'let-through', { action: 'allow', phase: 1, sites: ['api', 'lax'] }),
    {
      id: 1_000_004,
      name: 'raw',
      kind: 'raw',
      sites: ['strict'],
      seclang: 'SecRule REQUEST_URI "@contains only-strict" "id:1000004,phase:1,deny,status:418"',
    },
  ],
  rule_exclusions: [{ id: 1_009_500, rule_id: 941_100, sites: ['strict'] }],
});

/** The settings of an installation that wants of all requests what one site wants. */
function asInstallation(name: string): Settings {
  const mine = ({ sites }: { readonly sites: readonly string[] }): boolean =>
    sites.length === 0 || sites.includes(name);
  const { categories, ...over } = { categories: {}, ...own[name] };
  return requireSettings({
    ...settings,
    ...over,
    categories: { ...settings.categories, ...categories, ...(name === 'java' ? { java: { enabled: true } } : {}) },
    sites: [],
    custom_rules: settings.custom_rules.filter(mine).map((one) => ({ ...one, sites: [] })),
    rule_exclusions: settings.rule_exclusions.filter(mine).map((one) => ({ ...one, sites: [] })),
  });
}

function programOf(wanted: Settings, crs: CoreRuleSet): Program {
  const { policy, diagnostics } = resolvePolicy(wanted, crs);
  if (policy === null) throw new Error(formatDiagnostics(diagnostics));
  const compiled = compileProgram(renderPolicy(policy), { reader: diskReader });
  if (compiled.program === null) throw new Error(formatDiagnostics(compiled.diagnostics));
  return compiled.program;
}

/** An inspector whose requests are all of one policy. */
function ofPolicy<Kind extends Inspector>(inspector: Kind, policy: string | null): Kind {
  return { ...inspector, begin: (head, environment) => inspector.begin(head, { ...environment, policy }) };
}

const names = ['usual', ...Object.keys(own), 'java'];

/** Every site of `settings` over `samples`: as an installation of its own, and both engines alike. */
async function compareSites(t: Test, crs: CoreRuleSet, samples: readonly Sample[]): Promise<void> {
  const program = programOf(settings, crs);
  const { bytes } = await emitArtifact(program, { cache: createFileCache(automataCacheDirectory()) });
  const ruleset = loadRuleset(bytes, hyperscanLibrary());
  const inspectors = [
    { name: 'memo', inspector: createCompiledInspector(ruleset) },
    { name: 'no memo', inspector: createCompiledInspector(ruleset, { memo: null }) },
  ];
  const oracle = createInterpreter(program);
  const { ofSite } = sitePoliciesOf(settings);
  for (const name of [...names, 'strict policy', 'unknown policy']) {
    const policy =
      name === 'strict policy' ? 'strict' : name === 'unknown policy' ? 'nope' : (ofSite.get(name) ?? null);
    const variants = inspectors.map((one) => ({ ...one, inspector: ofPolicy(one.inspector, policy) }));
    const { compared, differences } = compareAll(ofPolicy(oracle, policy), variants, samples);
    t.same(differences, [], `${name}: both engines agree on ${compared} requests`);
  }
  for (const name of names) {
    const alone = createInterpreter(programOf(asInstallation(name), crs));
    const shared = ofPolicy(oracle, ofSite.get(name) ?? null);
    const logged = (inspector: Inspector, sample: Sample): unknown => {
      const { matched, verdict } = runSample(inspector, sample);
      return [matched.map((line) => line.split(' ', 1)[0]), verdict];
    };
    const differing = samples.filter(
      (sample) => JSON.stringify(logged(alone, sample)) !== JSON.stringify(logged(shared, sample)),
    );
    t.same(
      differing.slice(0, 3).map((sample) => [sample.id, logged(alone, sample), logged(shared, sample)]),
      [],
      `${name}: as if the installation were its own`,
    );
  }
  for (const { inspector } of inspectors) inspector.release();
  ruleset.release();
}

const sampleOf = (id: string, uri: string, headers: readonly string[] = [], method = 'GET'): Sample => ({
  id,
  head: {
    method,
    uri,
    protocol: 'HTTP/1.1',
    headers: ['Host', 'a', ...headers],
    clientIp: '192.0.2.1',
    clientPort: 1,
    serverIp: '192.0.2.2',
    serverPort: 80,
  },
  body: null,
  response: null,
});
const ownSamples: readonly Sample[] = [
  sampleOf('page', '/a?b=c'),
  sampleOf('purge', '/a', [], 'PURGE'),
  sampleOf('put', '/a', [], 'PUT'),
  sampleOf('extension', '/a.bak'),
  sampleOf('old extension', '/a.old'),
  sampleOf('field', '/a', ['X-Secret', '1']),
  sampleOf('type', '/a', ['Content-Type', 'text/plain', 'Content-Length', '0'], 'POST'),
  ...['only-lax', 'everywhere', 'let-through', 'only-strict', 'let-through-everywhere'].map((word) =>
    sampleOf(word, `/a?q=${word}`),
  ),
  ...Array.from({ length: 20 }, (_, index) => sampleOf(`attack ${index}`, `/?q=attack${index}`)),
  sampleOf('script', '/?q=%3Cscript%3Ealert(1)%3C/script%3E'),
];

t.test('sites: one artifact, a small rule set', async (t) => compareSites(t, smallCrs, ownSamples));

const crs = findCrs();
const shared = sharedDirectory();
const skip =
  crs === null
    ? 'no rule set: set CRS_DIR or run make crs'
    : existsSync(join(shared, 'corpora/traffic'))
      ? false
      : 'no corpora beside the project';
const thin = (samples: readonly Sample[], most: number): Sample[] =>
  samples.filter((_, index) => index % Math.ceil(samples.length / most) === 0);

t.test('sites: one artifact, the CRS and corpora', { skip }, async (t) => {
  const loaded = loadCoreRuleSet(crs as string, diskReader);
  if (loaded.crs === null) throw new Error(formatDiagnostics(loaded.diagnostics));
  await compareSites(t, loaded.crs, [
    ...ownSamples,
    ...thin([...ftwSamples(shared)], 250),
    ...thin([...trafficSamples(shared, 'attack')], 100),
    ...thin([...trafficSamples(shared, 'benign')], 60),
  ]);
});

t.test('sites: an installation whose sites want nothing of their own has no policies', async (t) => {
  const plain = requireSettings({
    paranoia_level: 2,
    sites: [site('a', {}), site('b', { paranoia_level: 2, categories: { php: { enabled: true } } })],
  });
  t.same(sitePoliciesOf(plain).policies, [], 'what repeats the installation is nothing of its own');
  const { policy } = resolvePolicy(plain, smallCrs);
  t.notOk(policy !== null && renderPolicy(policy).some(({ path }) => path.includes('site-policies')));
});
