// Sites with rules of their own out of one artifact: what a request of a site meets is what it would meet were the
// site's settings those of the whole installation, and both engines agree on it, with all of TX.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { requireSettings, sitePoliciesOf } from '#settings';
import { sharedDirectory } from '#cli/environment/directories';
import { formatDiagnostics } from './diagnostics/format.js';
import { diskReader } from './disk/disk-reader.js';
import { loadCoreRuleSet, renderPolicy, resolvePolicy } from './index.js';
import { compareSites, sampleOf, siteWith } from './testing/compare-sites.js';
import { smallCrs } from './testing/small-policy.js';
import { findCrs } from './testing/core-rules.js';
import type { Sample } from './testing/agreement.js';
import { ftwSamples, trafficSamples } from './testing/samples.js';

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
    ...Object.entries(own).map(([name, over]) => siteWith(name, over)),
    siteWith('usual', {}),
    siteWith('java', { categories: { java: { enabled: true } }, restricted_extensions: ['.old'] }),
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

t.test('sites: one artifact, a small rule set', async (t) => compareSites(t, settings, smallCrs, ownSamples));

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
  await compareSites(t, settings, loaded.crs, [
    ...ownSamples,
    ...thin([...ftwSamples(shared)], 250),
    ...thin([...trafficSamples(shared, 'attack')], 100),
    ...thin([...trafficSamples(shared, 'benign')], 60),
  ]);
});

t.test('sites: an installation whose sites want nothing of their own has no policies', async (t) => {
  const plain = requireSettings({
    paranoia_level: 2,
    sites: [siteWith('a', {}), siteWith('b', { paranoia_level: 2, categories: { php: { enabled: true } } })],
  });
  t.same(sitePoliciesOf(plain).policies, [], 'what repeats the installation is nothing of its own');
  const { policy } = resolvePolicy(plain, smallCrs);
  t.notOk(policy !== null && renderPolicy(policy).some(({ path }) => path.includes('site-policies')));
});
