// Control planes on several machines recognise by its hash what a node serves: equal rules are equal bytes everywhere.
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { defaultSettings, ruleSettingsOf } from '#settings';
import { writeRuleSet } from '../testing/rule-set.js';
import { makeDirectory } from '../testing/temporary.js';
import { testMsMax } from '../testing/waiting.js';
import { artifactPath } from './artifacts.js';
import { createPolicyCompiler } from './policy-compiler.js';

t.setTimeout(testMsMax);

t.test('an artifact does not depend on the directories of the machine that compiled it', async (t) => {
  const made = await Promise.all(
    ['first', 'second'].map(async (name) => {
      const directory = await makeDirectory(t, name);
      const artifactsDirectory = join(directory, 'artifacts');
      const compiler = createPolicyCompiler({
        crsDirectory: await writeRuleSet(t),
        unicodeMapping: null,
        artifactsDirectory,
        cacheDirectory: join(directory, 'cache'),
        threads: 1,
      });
      t.teardown(() => compiler.close());
      const compiled = await compiler.compile(ruleSettingsOf(defaultSettings()));
      if (compiled.kind !== 'compiled') throw new Error('the default policy compiles');
      await compiled.stored;
      return { sha256: compiled.sha256, bytes: await readFile(artifactPath(artifactsDirectory, compiled.sha256)) };
    }),
  );
  t.equal(made[0]?.sha256, made[1]?.sha256);
  for (const { bytes } of made) t.notOk(bytes.includes(tmpdir()), 'no path of this machine is in it');
});
