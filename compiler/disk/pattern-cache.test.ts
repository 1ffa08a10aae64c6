// A fresh process with cached translations makes the same artifact as one without, refuses the same patterns, and
// takes nothing from an entry that is damaged or of other code.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { program } from '#cli/environment/directories';
import { compileRe2 } from '#engine/compile';
import { regexPattern } from '../plan/patterns.js';
import { createMemoryCache } from '../testing/rule-text.js';
import { createFileCache } from './file-cache.js';
import { openPatternCache, versionOf } from './pattern-cache.js';

t.setTimeout(Number(process.env['TAP_TIMEOUT'] ?? 900) * 1000);
const run = promisify(execFile);
const flags = { caseless: false, dotAll: true, multiline: false };

// look-ahead, `$`, an alternation that Hyperscan takes, one for lower-cased text
const rules = Array.from(
  { length: 12 },
  (_, n) =>
    `SecRule ARGS "@rx (?i)word${n}(?=[a-f]{2})[^;]+$" "id:${100 + n},phase:2,deny"\n` +
    `SecRule ARGS "@rx (?:sel|ins)${n}ect\\s" "id:${200 + n},phase:2,deny,t:lowercase"\n`,
).join('');

t.test('with cached patterns, without, with a damaged entry', async (t) => {
  const directory = t.testdir({
    'rules.conf': rules,
    'more.conf': 'SecRule ARGS "@rx own\\d{3}word" "id:300,phase:2,deny"\n',
    'bad.conf': 'SecRule ARGS "@rx own(?<=x)" "id:300,phase:2,deny"\n',
  });
  const data = join(directory, 'data');
  const automata = join(data, 'cache/automata');
  const compile = async (...names: string[]): Promise<{ code: number; said: string; artifact: string }> => {
    const output = join(directory, 'out');
    rmSync(output, { force: true });
    const args = [program, 'compile', ...names.flatMap((name) => ['--rules', join(directory, name)]), '-o', output];
    const { code, stderr } = await run(process.execPath, args, { env: { ...process.env, GATEHOUSE_DATA: data } }).then(
      ({ stderr }) => ({ code: 0, stderr }),
      (error: { code: number; stderr: string }) => error,
    );
    return {
      code,
      said: stderr,
      artifact: code === 0 ? createHash('sha256').update(readFileSync(output)).digest('hex') : '',
    };
  };
  /** The one large text among the entries. */
  const entryPath = (): string =>
    readdirSync(automata)
      .map((name) => join(automata, name))
      .find((path) => readFileSync(path, 'latin1').includes('"forms":')) ?? '';

  const first = await compile('rules.conf', 'more.conf');
  t.equal(first.code, 0, first.said);
  const path = entryPath();
  t.ok(path.endsWith('.sum'), 'an entry was begun');
  const begun = statSync(path).ino;
  const again = await compile('rules.conf', 'more.conf');
  t.equal(again.artifact, first.artifact, 'the same artifact from the cache');
  t.equal(statSync(path).ino, begun, 'with nothing new it is not written again');
  await compile('rules.conf');
  t.equal((await compile('rules.conf', 'more.conf')).artifact, first.artifact, 'and with a rule that came and went');
  const bad = await compile('rules.conf', 'bad.conf');
  t.equal(bad.code, 1, 'a pattern that no engine can run is refused as ever');
  t.match(bad.said, /bad\.conf:1:\d+: error GH-C3003/);

  const whole = readFileSync(path);
  for (const [what, bytes] of [
    ['cut', whole.subarray(0, whole.length / 2)],
    ['changed', Buffer.from(whole.toString('latin1').replace('word3', 'word4'), 'latin1')],
    ['empty', Buffer.alloc(0)],
  ] as const) {
    writeFileSync(path, bytes);
    t.equal((await compile('rules.conf', 'more.conf')).artifact, first.artifact, `${what}: the same artifact`);
    t.ok(readFileSync(path).equals(whole), `${what}: written anew`);
  }

  // it is read at all: a lie under the right key and sum, which only this code can write, is believed
  const lie = JSON.parse(whole.subarray(32).toString('latin1')) as { patterns: Record<string, { hyperscan: string }> };
  for (const pattern of Object.values(lie.patterns)) pattern.hyperscan = 'lie';
  createFileCache(automata).keep(
    path.slice(automata.length + 1, -'.sum'.length),
    Buffer.from(JSON.stringify(lie), 'latin1'),
  );
  t.not((await compile('rules.conf', 'more.conf')).artifact, first.artifact, 'an entry that fits is used');
});

t.test('patterns of other code are another entry', (t) => {
  const cache = createMemoryCache();
  const keys: string[] = [];
  const watched = {
    find: (key: string) => (keys.push(key), cache.find(key)),
    keep: (key: string, bytes: Uint8Array) => cache.keep(key, bytes),
  };
  const patterns = openPatternCache(watched, 'one');
  for (let n = 0; n < 20; n += 1) compileRe2(`first${n}(?:a|b)`, flags);
  regexPattern('first(?:a|b)', false);
  patterns.close();
  const [one = ''] = keys;
  t.ok(cache.find(one), 'kept');
  openPatternCache(watched, 'two').close();
  t.not(keys[1], one);
  t.equal(cache.find(keys[1] ?? ''), null);
  for (let n = 0; n < 3; n += 1) compileRe2(`closed${n}`, flags);
  t.notMatch(Buffer.from(cache.find(one) as Uint8Array).toString('latin1'), /closed/, 'what is closed takes nothing');
  t.end();
});

t.test('the version changes with every file it is made of', (t) => {
  const directory = t.testdir({
    regex: { 'a.js': 'a', 'b.js': 'b', 'a.js.map': 'm' },
    'package.json': '{"version":"1"}',
  });
  const version = (): string => versionOf([join(directory, 'regex')], [join(directory, 'package.json')]);
  const before = version();
  t.equal(version(), before);
  for (const [name, text, isOther] of [
    ['regex/a.js', 'x', true],
    ['package.json', '{"version":"2"}', true],
    ['regex/c.js', '', true],
    ['regex/a.js.map', 'other', false],
  ] as const) {
    const last = version();
    writeFileSync(join(directory, name), text);
    t.equal(version() !== last, isOther, name);
  }
  t.end();
});
