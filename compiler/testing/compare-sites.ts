// Sites with rules of their own out of one artifact, beside installations that have each site's settings.
import type { Test } from 'tap';
import { createCompiledInspector, hyperscanLibrary, loadRuleset, type Inspector } from '#engine';
import { createInterpreter, type Program } from '#engine/compile';
import { requireSettings, sitePoliciesOf, type Settings } from '#settings';
import { automataCacheDirectory } from '#cli/environment/directories';
import { emitArtifact } from '../artifact/emit.js';
import { compileProgram } from '../compile-program.js';
import { formatDiagnostics } from '../diagnostics/format.js';
import { createFileCache } from '../disk/file-cache.js';
import { diskReader } from '../disk/disk-reader.js';
import { renderPolicy, resolvePolicy } from '../index.js';
import type { CoreRuleSet } from '../policy/crs.js';
import { compareAll, runSample, type Sample } from './agreement.js';

/** A site of `settings` as these tests name it: its prefix is its name. */
export const siteWith = (name: string, over: object): object => ({
  name,
  prefix: `/${name}`,
  upstream: 'http://127.0.0.1:1',
  protected: true,
  ...over,
});

/** A GET without a body; `answer`: media type and body of the response. */
export const sampleOf = (
  id: string,
  uri: string,
  headers: readonly string[] = [],
  method = 'GET',
  answer: readonly [string, string] | null = null,
): Sample => ({
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
  response:
    answer === null
      ? null
      : {
          head: { status: 200, protocol: 'HTTP/1.1', headers: ['Content-Type', answer[0]] },
          body: Buffer.from(answer[1]),
        },
});

/** The settings of an installation that wants of all requests what one site wants. */
export function asInstallation(settings: Settings, name: string): Settings {
  const mine = ({ sites }: { readonly sites: readonly string[] }): boolean =>
    sites.length === 0 || sites.includes(name);
  const said = (over: object): object => Object.fromEntries(Object.entries(over).filter(([, value]) => value !== null));
  const site = settings.sites.find((one) => one.name === name) as Settings['sites'][number];
  const over = said(Object.fromEntries(Object.entries(site).filter(([key]) => key in settings)));
  const categories = Object.entries(settings.categories).map(([key, category]) => {
    const own = site.categories?.[key as keyof Settings['categories']];
    return [key, { ...category, ...said(own ?? {}) }];
  });
  return requireSettings({
    ...settings,
    ...over,
    categories: Object.fromEntries(categories),
    sites: [],
    custom_rules: settings.custom_rules.filter(mine).map((one) => ({ ...one, sites: [] })),
    rule_exclusions: settings.rule_exclusions.filter(mine).map((one) => ({ ...one, sites: [] })),
    virtual_patches: settings.virtual_patches.filter(mine).map((one) => ({ ...one, sites: [] })),
  });
}

export function programOf(wanted: Settings, crs: CoreRuleSet): Program {
  const { policy, diagnostics } = resolvePolicy(wanted, crs);
  if (policy === null) throw new Error(formatDiagnostics(diagnostics));
  const compiled = compileProgram(renderPolicy(policy), { reader: diskReader });
  if (compiled.program === null) throw new Error(formatDiagnostics(compiled.diagnostics));
  return compiled.program;
}

/** An inspector whose requests are all of one policy. */
export function ofPolicy<Kind extends Inspector>(inspector: Kind, policy: string | null): Kind {
  return { ...inspector, begin: (head, environment) => inspector.begin(head, { ...environment, policy }) };
}

/** Every site of `settings` over `samples`: as an installation of its own, and both engines alike. */
export async function compareSites(
  t: Test,
  settings: Settings,
  crs: CoreRuleSet,
  samples: readonly Sample[],
): Promise<void> {
  const names = settings.sites.map(({ name }) => name);
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
    const alone = createInterpreter(programOf(asInstallation(settings, name), crs));
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
