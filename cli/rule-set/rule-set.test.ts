// Fetching the rule set, with archives and rule sets of its own: what is taken, what is refused, what is left behind.
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { root } from '../environment/directories.js';
import { checkedArchive, unpackInto } from './archive.js';
import { installCrs } from './install.js';
import { readLock, sha256, statedVersion, treeHash, type RuleSetLock } from './lock.js';

/** An unpacked release and its archive, with a lock that names both. */
function makeRelease(t: Test): { readonly home: string; readonly archive: string; readonly lock: RuleSetLock } {
  const home = t.testdir({
    'rules-4.2.3': {
      'crs-setup.conf.example': 'SecAction "id:900000"\n',
      LICENSE: 'ours\n',
      rules: {
        'a.conf': `SecAction "id:1,ver:'${'OWASP'}_CRS/4.2.3'"\n`,
        'REQUEST-901-INITIALIZATION.conf': `SecComponentSignature "${'OWASP'}_CRS/4.2.3"\n`,
        'b.data': 'word\n',
      },
      plugins: {},
      tests: { 'large.yaml': 'not needed\n' },
    },
  });
  const archive = join(home, 'release.tar.gz');
  execFileSync('tar', ['-czf', archive, '-C', home, 'rules-4.2.3']);
  const lock: RuleSetLock = {
    version: '4.2.3',
    archive: { name: 'release.tar.gz', sha256: sha256(readFileSync(archive)), urls: [] },
    treeSha256: treeHash(join(home, 'rules-4.2.3')),
    unicodeMapping: { sha256: '', systemPaths: [], debianPackage: '' },
  };
  return { home, archive, lock };
}

t.test('the lock of this release', async (t) => {
  const lock = readLock();
  t.match(lock.version, /^4\.\d+\.\d+$/);
  t.match(lock.archive.name, lock.version);
  t.match([lock.archive.sha256, lock.treeSha256, lock.unicodeMapping.sha256], Array(3).fill(/^[0-9a-f]{64}$/));
});

t.test('a tree is known by names and contents of what is loaded', async (t) => {
  const { home } = makeRelease(t);
  const tree = join(home, 'rules-4.2.3');
  t.equal(statedVersion(tree), '4.2.3');
  const before = treeHash(tree);
  writeFileSync(join(tree, 'LICENSE'), 'other');
  t.equal(treeHash(tree), before, 'what is not loaded does not count');
  writeFileSync(join(tree, 'rules/b.data'), 'other');
  t.not(treeHash(tree), before);
  writeFileSync(join(tree, 'rules/a.conf'), '# no version\n');
  t.equal(statedVersion(tree), 'unknown');
});

t.test('an archive counts when it is the pinned one, and is unpacked whole', async (t) => {
  const { home, archive, lock } = makeRelease(t);
  const said: string[] = [];
  const say = (text: string): void => void said.push(text);
  const bytes = checkedArchive(archive, lock, say);
  if (bytes === null) return void t.fail('the archive is the pinned one');
  const target = join(home, 'data/crs/4.2.3');
  const expected = { version: '4.2.3', treeSha256: lock.treeSha256 };
  t.same(unpackInto(join(home, 'data'), bytes, expected), { version: '4.2.3', directory: target });
  t.equal(treeHash(target), lock.treeSha256);
  t.notOk(existsSync(join(target, 'tests')), 'what nobody reads stays away');
  t.same(said, []);
  t.equal(checkedArchive(join(home, 'none'), lock, say), null);
  writeFileSync(archive, 'something else');
  t.equal(checkedArchive(archive, lock, say), null);
  t.match(said, [
    /release\.tar\.gz is not the pinned release \(SHA-256 [0-9a-f]{16}…, wanted [0-9a-f]{16}…\); not used$/,
  ]);
});

t.test('what does not unpack to the pinned tree is refused and leaves nothing', async (t) => {
  const { home, archive, lock } = makeRelease(t);
  const data = join(home, 'data');
  const bytes = readFileSync(archive);
  const version = lock.version;
  t.throws(
    () => unpackInto(data, bytes, { version, treeSha256: 'f'.repeat(64) }),
    /fixtures\/crs\.lock\.json says f{64};/,
  );
  t.throws(
    () => unpackInto(data, Buffer.from('no archive'), { version, treeSha256: null }),
    /^tar could not unpack the rule set: /,
  );
  t.throws(
    () => unpackInto(data, bytes, { version: '4.2.4', treeSha256: null }),
    /holds the rule set 4\.2\.3, not 4\.2\.4/,
  );
  t.same(readdirSync(join(data, 'crs')), []);
});

const mapping = join(root, 'data/crs/unicode.mapping');
// without it the package servers would be asked
const skip = existsSync(mapping) ? false : 'no unicode.mapping: run `node bin/crs.mjs`';

t.test("an operator's own rule set is used where it lies", { skip }, async (t) => {
  const { home } = makeRelease(t);
  mkdirSync(join(home, 'own/crs'), { recursive: true });
  copyFileSync(mapping, join(home, 'own/crs/unicode.mapping'));
  const { GATEHOUSE_DATA, CRS_DIR } = process.env;
  t.teardown(() => {
    for (const [name, value] of Object.entries({ GATEHOUSE_DATA, CRS_DIR })) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  });
  process.env['GATEHOUSE_DATA'] = join(home, 'own');
  process.env['CRS_DIR'] = join(home, 'rules-4.2.3');
  const said: string[] = [];
  t.same(await installCrs({ say: (text) => said.push(text) }), {
    directory: join(home, 'rules-4.2.3'),
    version: '4.2.3',
    pinned: false,
    unicodeMapping: join(home, 'own/crs/unicode.mapping'),
  });
  t.match(said, [/^CRS_DIR holds a rule set other than the pinned .* \(it says 4\.2\.3\); used as it is$/]);
  process.env['CRS_DIR'] = join(home, 'own');
  await t.rejects(installCrs(), { exitCode: 1, message: /^CRS_DIR=.*own has no folder rules\/\.\n {2}Point CRS_DIR/ });
});
