// The oracle and the compiled engine on requests of our own, with every generation of the CRS that is unpacked: what a
// machine without the corpora can prove, whichever rule set it got.
import { join } from 'node:path';
import t from 'tap';
import { createCompiledInspector, hyperscanLibrary, loadRuleset } from '#engine';
import { createInterpreter } from '#engine/compile';
import { automataCacheDirectory, root } from '#cli/environment/directories';
import { requireSettings } from '#settings';
import { emitArtifact } from './artifact/emit.js';
import { compileProgram } from './compile-program.js';
import { formatDiagnostics } from './diagnostics/format.js';
import { diskReader } from './disk/disk-reader.js';
import { createFileCache } from './disk/file-cache.js';
import { loadCoreRuleSet, renderPolicy, resolvePolicy } from './index.js';
import { compareAll, runSample } from './testing/agreement.js';
import { findCrsOf } from './testing/core-rules.js';
import { mutations, ownSamples } from './testing/samples.js';

t.setTimeout(3_600_000); // bin/test.mjs has the limit that counts
const seed = Number(process.env['SEED'] ?? 20_261_122);
const mutationsCount = 600;
const [attacks, benign] = [[...ownSamples(root, 'attacks')], [...ownSamples(root, 'benign')]];

// level 4 of version 4 is what agreement.test.ts runs on the corpora
for (const [generation, levels, blockedMin] of [
  ['4', [1], 66],
  ['3.3', [1, 4], 60],
] as const) {
  const crs = findCrsOf(generation);
  const skip = crs === null ? `needs OWASP CRS ${generation}, below data/crs or by CRS_DIR` : false;
  for (const paranoia of levels)
    t.test(`8.1: CRS ${generation} at level ${paranoia}`, { skip }, async (t) => {
      const loaded = loadCoreRuleSet(crs ?? '', diskReader);
      if (loaded.crs === null) throw new Error(formatDiagnostics(loaded.diagnostics));
      const { policy } = resolvePolicy(requireSettings({ paranoia_level: paranoia }), loaded.crs);
      const { program } = compileProgram(policy === null ? [] : renderPolicy(policy), { reader: diskReader });
      if (program === null) throw new Error(`${join(crs ?? '', 'rules')} does not compile`);
      const { bytes } = await emitArtifact(program, { cache: createFileCache(automataCacheDirectory()) });
      const ruleset = loadRuleset(bytes, hyperscanLibrary());
      const compiled = createCompiledInspector(ruleset);
      const samples = [...attacks, ...benign, ...mutations([...attacks, ...benign], mutationsCount, seed)];
      const variants = [{ name: 'compiled', inspector: compiled }];
      const { compared, differences } = compareAll(createInterpreter(program), variants, samples);
      t.same(differences, [], `${compared} requests, no difference`);
      t.ok(compared >= mutationsCount);
      const isBlocked = (sample: (typeof attacks)[number]): boolean =>
        runSample(compiled, sample).verdict.startsWith('["block"');
      const blocked = attacks.filter(isBlocked).length;
      t.ok(blocked >= blockedMin, `${blocked} of ${attacks.length} attacks are blocked`);
      if (paranoia === 1)
        t.same(
          benign.filter(isBlocked).map(({ id }) => id),
          [],
          'no ordinary request is',
        );
      ruleset.release();
    });
}
