// The oracle and the compiled engine agree, on every corpus and on mutations of them: matched rules with variable,
// value, message and tags, all of TX, the verdict. Variants: Hyperscan with and without the memo, RE2 in Hyperscan's
// place.
// AGREEMENT_MUTATIONS (default 2,000 a level) and SEED make it a soak: `make fuzz` runs 100,000.
import { requireSettings } from '#settings';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { createCompiledInspector, hyperscanLibrary, loadRuleset } from '#engine';
import { createInterpreter, re2Library, type Program } from '#engine/compile';
import { automataCacheDirectory, sharedDirectory } from '#cli/environment/directories';
import { createFileCache } from './disk/file-cache.js';
import { diskReader } from './disk/disk-reader.js';
import { formatDiagnostics } from './diagnostics/format.js';
import { emitArtifact } from './artifact/emit.js';
import { loadCoreRuleSet, renderPolicy, resolvePolicy } from './index.js';
import { compileProgram } from './compile-program.js';
import { findCrs } from './testing/core-rules.js';
import { compareAll, runSample, type Variant, type Sample } from './testing/agreement.js';
import { ftwSamples, mutations, trafficSamples } from './testing/samples.js';

const shared = sharedDirectory();
const mutationsCount = Number(process.env['AGREEMENT_MUTATIONS'] ?? 2000);
const seed = Number(process.env['SEED'] ?? 20_261_121);

function policyProgram(crs: string, paranoia: number, mode: 'On' | 'DetectionOnly'): Program {
  const loaded = loadCoreRuleSet(crs, diskReader);
  if (loaded.crs === null) throw new Error(formatDiagnostics(loaded.diagnostics));
  const { policy, diagnostics } = resolvePolicy(requireSettings({ mode, paranoia_level: paranoia }), loaded.crs);
  if (policy === null) throw new Error(formatDiagnostics(diagnostics));
  const compiled = compileProgram(renderPolicy(policy), { reader: diskReader });
  if (compiled.program === null) throw new Error(formatDiagnostics(compiled.diagnostics));
  return compiled.program;
}

/** Every n-th, so that a short run still sees all of a corpus's kinds. */
function thin(samples: readonly Sample[], most: number): Sample[] {
  const step = Math.max(1, Math.floor(samples.length / most));
  return samples.filter((_, index) => index % step === 0).slice(0, most);
}

/**
 * The same texts in one place after another, often enough that each place's memory keeps them: what a Cookie header
 * taught must not answer for a Referer.
 */
function* wanderers(samples: readonly Sample[]): Generator<Sample> {
  const texts = samples.map(({ head }) =>
    decodeURIComponent(head.uri.slice(head.uri.indexOf('=') + 1, 160).replace(/%(?![0-7][0-9a-f])/gi, '')).replace(
      /[^\x20-\x7e]/g,
      '',
    ),
  );
  const fixed = ['Host', 'example.com', 'Accept', '*/*'];
  for (const place of ['Cookie', 'Referer', 'User-Agent', 'X-Other', 'argument', 'path']) {
    for (const round of [1, 2]) {
      for (const [index, text] of texts.entries()) {
        const uri =
          place === 'argument'
            ? `/?q=${encodeURIComponent(text)}`
            : place === 'path'
              ? `/${encodeURIComponent(text)}`
              : '/';
        const headers = uri === '/' ? [...fixed, place, text] : fixed;
        yield {
          id: `wanderer ${index} round ${round} as ${place}`,
          head: {
            method: 'GET',
            uri,
            protocol: 'HTTP/1.1',
            headers,
            clientIp: '192.0.2.7',
            clientPort: 1,
            serverIp: '192.0.2.80',
            serverPort: 80,
          },
          body: null,
          response: null,
        };
      }
    }
  }
}

/** For docs/adr/0001-automata.md: what the compiled engine asks of its automata. */
function costOf(ruleset: ReturnType<typeof loadRuleset>, samples: readonly Sample[]): string {
  const inspector = createCompiledInspector(ruleset);
  for (const sample of samples) runSample(inspector, sample);
  const { lookups, found, scans, scannedBytes } = inspector.counters();
  inspector.release();
  const each = (count: number): string => (count / samples.length).toFixed(1);
  return (
    `${samples.length} requests: ${each(lookups)} values looked up, ${((100 * found) / lookups).toFixed(0)} % ` +
    `known, ${each(scans)} scanned, ${each(scannedBytes)} bytes scanned per request`
  );
}

t.setTimeout(3_600_000); // bin/test.mjs has the limit that counts
const crs = findCrs();
const corpora = join(shared, 'corpora');
const skip =
  crs === null
    ? 'no rule set: set CRS_DIR or run make crs'
    : existsSync(corpora)
      ? false
      : 'no corpora beside the project';

for (const { paranoia, mode } of [
  { paranoia: 1, mode: 'On' },
  { paranoia: 4, mode: 'DetectionOnly' },
] as const) {
  t.test(`paranoia level ${paranoia}, ${mode}`, { skip }, async (t) => {
    const program = policyProgram(crs as string, paranoia, mode);
    const { bytes, report } = await emitArtifact(program, { cache: createFileCache(automataCacheDirectory()) });
    t.ok(
      Object.values(report.folded).reduce((sum, count) => sum + count, 0) > 50,
      'constants were folded, so the comparison is worth something',
    );
    const ruleset = loadRuleset(bytes, hyperscanLibrary());
    t.equal(ruleset.rebuilt.length, 0, 'this machine takes its own databases');
    const variants: Variant[] = [
      { name: 'Hyperscan, memo', inspector: createCompiledInspector(ruleset) },
      { name: 'Hyperscan, no memo', inspector: createCompiledInspector(ruleset, { memo: null }) },
    ];
    const ftw = [...ftwSamples(shared)];
    const attack = [...trafficSamples(shared, 'attack')];
    const benign = [...trafficSamples(shared, 'benign')];
    const mix = [...trafficSamples(shared, 'perf-mix')];
    const oracle = createInterpreter(program);
    const check = (name: string, samples: Iterable<Sample>, atLeast: number, over = variants): void => {
      const { compared, differences } = compareAll(oracle, over, samples);
      t.same(differences, [], `${name}: ${compared} requests, no difference`);
      t.ok(compared >= atLeast, `${name}: at least ${atLeast} were compared`);
    };
    check('CRS regression suite', ftw, 3000);
    check('attacks', thin(attack, 600), 400);
    check('benign traffic', thin(benign, 600), 400);
    check('performance mix', thin(mix, 200), 150);
    check(
      'wandering attacks',
      wanderers(
        thin(
          attack.filter(({ head }) => head.uri.includes('=')),
          60,
        ),
      ),
      300,
    );
    const sizes = report.plan.databases.map(({ bytes: size }) => size);
    t.comment(
      `${report.plan.atoms} atoms, ${report.plan.pipelines} pipelines, ${report.plan.classes.length} classes, ` +
        `${sizes.length} databases of ${Math.round(sizes.reduce((sum, size) => sum + size, 0) / 1024)} KiB (largest ` +
        `${Math.round(Math.max(...sizes) / 1024)} KiB; longest list ` +
        `${Math.max(...report.plan.databases.map(({ patterns }) => patterns))} patterns), ` +
        `${report.plan.inRe2.length} atoms in RE2 sets, artifact ${Math.round(bytes.length / 1024)} KiB, folded ` +
        `${JSON.stringify(report.folded)}`,
    );
    t.comment(`benign ${costOf(ruleset, benign.slice(0, 3000))}`);
    t.comment(`perf-mix ${costOf(ruleset, mix.slice(0, 3000))}`);
    const all = [...ftw, ...attack, ...thin(benign, 2000), ...thin(mix, 300)];
    check(`mutations with seed ${seed}`, mutations(all, mutationsCount, seed), mutationsCount);
    if (paranoia === 1) {
      const slow = loadRuleset(bytes, re2Library());
      t.equal(slow.rebuilt.length, slow.plan.databases.length, 'every database is built from its pattern sources');
      check('RE2 in place of Hyperscan', [...thin(ftw, 300), ...thin(attack, 200)], 400, [
        { name: 'RE2, memo', inspector: createCompiledInspector(slow) },
      ]);
      slow.release();
    }
    ruleset.release();
  });
}
