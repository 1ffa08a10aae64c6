// Issue 8, what sites may have of their own beside levels and lists: excluded paths, virtual patches and limits of
// responses. No value of one site touches another, on version 4 and on 3.3.
import t from 'tap';
import { requireSettings, sitePoliciesOf, type Settings } from '#settings';
import { createInterpreter } from '#engine/compile';
import { formatDiagnostics } from './diagnostics/format.js';
import { diskReader } from './disk/disk-reader.js';
import { loadCoreRuleSet } from './index.js';
import { runSample, type Sample } from './testing/agreement.js';
import { asInstallation, compareSites, ofPolicy, programOf, sampleOf, siteWith } from './testing/compare-sites.js';
import { categoryTags } from './policy/settings.js';
import { findCrsOf } from './testing/core-rules.js';
import { smallCrs } from './testing/small-policy.js';

const patch = (id: number, word: string, sites: readonly string[]): object => ({
  id,
  seclang: `SecRule REQUEST_URI "@contains ${word}" "id:${id},phase:1,deny,status:418"`,
  sites,
});

const settings = requireSettings({
  categories: { xss: { path_exclusions: ['/shared'] }, php: { enabled: false, path_exclusions: ['/kept'] } },
  response_body_limit_bytes: 1000,
  response_body_types: ['text/html', 'text/plain'],
  sites: [
    siteWith('usual', {}),
    siteWith('editor', { categories: { xss: { path_exclusions: ['/editor', '/a b'] } } }),
    siteWith('nowhere', { categories: { xss: { path_exclusions: [] }, php: { enabled: true } } }),
    siteWith('sqli', { categories: { sqli: { path_exclusions: ['/shared', '/editor'] } } }),
    siteWith('patched', {}),
    siteWith('short', { response_body_limit_bytes: 20 }),
    siteWith('long', { response_body_limit_bytes: 100_000, response_body_types: ['application/json', 'text/html'] }),
    siteWith('unread', { response_body_limit_bytes: 0 }),
    siteWith('untyped', { response_body_types: [] }),
    siteWith('vendor', { response_body_types: ['application/vnd.api+json'], paranoia_level: 2 }),
    siteWith('early', { early_blocking: true, paranoia_level: 3 }),
  ],
  virtual_patches: [patch(1_007_501, 'everyone', []), patch(1_007_502, 'only-patched', ['patched', 'short'])],
  custom_rules: [
    {
      id: 1_000_001,
      name: 'leak',
      variable: 'RESPONSE_BODY',
      operator: 'contains',
      value: 'internal-secret',
      phase: 4,
    },
  ],
});

const attacks = ['%3Cscript%3Ealert(1)%3C/script%3E', "1'%20OR%20'1'='1'%20--%20", '%3C?php%20system(1)?%3E'];
const paths = ['/shared', '/editor/x', '/a%20b', '/editor/..;/admin', '/kept', '/else'];
const words = Array.from({ length: 20 }, (_, index) => `attack${index}`);
const types = ['text/html; charset=utf-8', 'TEXT/plain', 'application/json', 'application/vnd.api+json', 'image/png'];
const late = `${'x'.repeat(30)}internal-secret`;
const samples: readonly Sample[] = [
  ...paths.flatMap((path) => [...attacks, ...words].map((value) => sampleOf(`${path} ${value}`, `${path}?q=${value}`))),
  ...['everyone', 'only-patched'].map((word) => sampleOf(word, `/${word}`)),
  ...types.flatMap((type) =>
    ['internal-secret', late, `${'x'.repeat(5000)}internal-secret`].map((body) =>
      sampleOf(`${type} ${body.length}`, '/', [], 'GET', [type, body]),
    ),
  ),
];

const verdictOf = (crs: typeof smallCrs, of: Settings) => {
  const inspector = createInterpreter(programOf(of, crs));
  const { ofSite } = sitePoliciesOf(of);
  return (site: string, sample: Sample): { readonly kind: string; readonly ids: readonly number[] } => {
    const { verdict, matched } = runSample(ofPolicy(inspector, ofSite.get(site) ?? null), sample);
    const [kind] = JSON.parse(verdict) as [string];
    return { kind, ids: matched.map((line) => Number(line.split(' ', 1)[0])) };
  };
};
const answering = (type: string, body: string): Sample => sampleOf('answer', '/', [], 'GET', [type, body]);

t.test('8: excluded paths, patches and limits of responses of one site are no other one’s', async (t) => {
  const verdict = verdictOf(smallCrs, settings);
  const index = [...smallCrs.tags].indexOf(categoryTags.xss[0] ?? '');
  const at = (path: string): Sample => sampleOf('x', `${path}?q=attack${index}`);
  const names = settings.sites.map(({ name }) => name);
  const blockedAt = (path: string): string[] =>
    names.filter((name) => verdict(name, at(path)).ids.includes(950_000 + index));
  const others = (...without: string[]): string[] => names.filter((name) => !without.includes(name));
  t.same(blockedAt('/shared'), ['editor', 'nowhere'], 'the installation’s, except where a site has its own list');
  t.same(blockedAt('/editor/x'), others('editor'));
  t.same(blockedAt('/a%20b'), others('editor'));
  t.same(blockedAt('/editor/..;/admin'), names, 'by every reading');
  const patched = names.filter((name) => verdict(name, sampleOf('p', '/only-patched')).kind === 'block');
  t.same(patched, ['patched', 'short']);
  t.same(
    names.filter((name) => verdict(name, sampleOf('p', '/everyone')).kind === 'block'),
    names,
  );
  const seeing = (type: string, body: string): string[] =>
    names.filter((name) => verdict(name, answering(type, body)).kind === 'block');
  t.same(seeing('text/html', late), others('short', 'unread', 'untyped', 'vendor'));
  t.same(seeing('text/html', `${'x'.repeat(5000)}internal-secret`), ['long']);
  t.same(seeing('text/plain', 'internal-secret'), others('long', 'unread', 'untyped', 'vendor'));
  t.same(seeing('application/json', 'internal-secret'), ['long']);
  t.same(seeing('application/vnd.api+json', 'internal-secret'), ['vendor']);
});

t.test('8: the installation leaves bodies of responses alone, and one site does not', async (t) => {
  const verdict = verdictOf(smallCrs, { ...settings, response_body_limit_bytes: 0 });
  const seeing = settings.sites
    .map(({ name }) => name)
    .filter((name) => verdict(name, answering('text/html', 'internal-secret')).kind === 'block');
  t.same(seeing, ['short', 'long']);
});

t.test('8: the strict policy excludes and leaves out only what all do', async (t) => {
  const strict = sitePoliciesOf(settings).policies.at(-1);
  t.match(strict, { path_exclusions: { php: ['/kept'] }, response_body_limit_bytes: 100_000 });
  t.equal(strict?.path_exclusions.xss, undefined);
  t.ok(strict?.scoped.includes(1_007_502));
  t.ok(['text/plain', 'application/vnd.api+json'].every((type) => strict?.response_body_types.includes(type)));
});

t.test('8: keys of settings without them are those of earlier artifacts', async (t) => {
  const plain = { sites: [siteWith('a', { paranoia_level: 2 })], categories: { xss: { path_exclusions: ['/x'] } } };
  const key = (over: object): string | undefined =>
    sitePoliciesOf(requireSettings({ ...plain, ...over })).ofSite.get('a');
  t.equal(key({ response_body_limit_bytes: 5 }), key({}), 'what the site takes from the installation is not in it');
  const own = siteWith('a', { paranoia_level: 2, response_body_types: ['text/css'] });
  t.not(key({ sites: [own] }), key({}));
});

t.test('8: a patch for a site that is not there, or that changes rules of all, is refused', async (t) => {
  const patchFor = (sites: readonly string[], seclang: string): object => ({
    sites: [siteWith('a', {})],
    virtual_patches: [{ id: 1_007_501, seclang, sites }],
  });
  t.throws(() => requireSettings(patchFor(['b'], 'SecAction "id:1007501"')), /names no site/);
  t.throws(() => requireSettings(patchFor(['a'], 'SecRuleRemoveById 942100')), /changes rules of all sites/);
});

t.test('8: both engines, and each site as an installation of its own, a small rule set', async (t) => {
  await compareSites(t, settings, smallCrs, samples);
  t.equal(asInstallation(settings, 'short').response_body_limit_bytes, 20);
});

const few = samples.filter(({ id }) => !/attack\d/.test(id));
for (const [generation, found] of [
  ['4', findCrsOf('4')],
  ['3.3', findCrsOf('3.3')],
] as const) {
  const skip = found === null ? `needs OWASP CRS ${generation}: below data/crs, or CRS_DIR` : false;
  t.test(`8: policies of sites on the CRS ${generation}`, { skip }, async (t) => {
    const loaded = loadCoreRuleSet(found ?? '', diskReader);
    if (loaded.crs === null) throw new Error(formatDiagnostics(loaded.diagnostics));
    await compareSites(t, settings, loaded.crs, few);
  });
}
