// The runner on small test files of its own, in a directory that looks like this project: what passes, fails, dies,
// says nothing or hangs is told as what it is.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { transform } from 'esbuild';
import t, { type Test } from 'tap';
import { describeFailures } from './failures.js';
import { Accounts } from './processor-time.js';
import { root } from '../environment/directories.js';

const runner = new URL('run.js', import.meta.url).href;

/** Runs the files; `end` gets their directory and the runner's process when it has been started. */
async function run(
  t: Test,
  files: Readonly<Record<string, string>>,
  end: (directory: string, kill: (signal: NodeJS.Signals) => void) => Promise<void> = async () => {},
): Promise<{ code: number | null; text: string }> {
  const directory = mkdtempSync(join(tmpdir(), 'gatehouse-runner-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  mkdirSync(join(directory, 'build'));
  for (const packages of ['node_modules', 'build/node_modules'])
    symlinkSync(join(root, packages), join(directory, packages));
  writeFileSync(join(directory, 'package.json'), '{"type":"module"}');
  mkdirSync(join(directory, 'build', 'testing'));
  writeFileSync(join(directory, 'build', 'testing', 'databases.js'), 'export const shared = { users: 0 };');
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, 'build', `${name}.test.js`), text);
  const script = `import { runTests } from ${JSON.stringify(runner)};
    process.exitCode = await runTests(${JSON.stringify(directory)}, []);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (piece: string) => (text += piece));
  const over = new Promise<number | null>((resolve) => child.on('close', resolve));
  await end(directory, (signal) => child.kill(signal));
  return { code: await over, text };
}

/** The end of the line of a file, as far as the system says something. */
const time = process.platform === 'linux' ? String.raw`\(\d+ ms, \d+\.\d s CPU\)` : String.raw`\(\d+ ms\)`;

const good = `import t from 'tap';
  t.test('fine', async (t) => { t.ok(1); t.ok(1); });
  t.test('not here', { skip: 'no such thing' }, () => {});`;

t.test('counts, skips and the reasons of failures', async (t) => {
  const passed = await run(t, { a: good, b: good });
  t.equal(passed.code, 0);
  t.match(passed.text, new RegExp(`^ok   a\\.test\\.js ${time}$`, 'm'));
  if (process.platform === 'linux')
    t.match(
      passed.text,
      /^\d+ s of processor time \(\d+ s of it the system's\)$/m,
      'also on a busy machine comparable',
    );
  t.match(passed.text, /^skipped 2: no such thing\n2 of 2 test files in \d+ s\n4 passed, 0 failed, 2 skipped$/m);
  const mixed = await run(t, {
    good,
    fails:
      "import t from 'tap'; t.test('a sum', async (t) => { t.ok(1, 'shown to nobody'); t.equal(1, 2, 'is wrong'); });",
    throws: "throw new Error('at once');",
    silent: '',
    unfinished: "import t from 'tap'; t.test('waits', async () => { await new Promise(() => {}); });",
  });
  t.equal(mixed.code, 1);
  for (const name of ['fails', 'throws', 'silent', 'unfinished'])
    t.match(mixed.text, `failed file: build/${name}.test.js`);
  t.match(mixed.text, /not ok 2 - is wrong/);
  t.notMatch(mixed.text, 'ok 1 - shown to nobody');
  t.match(mixed.text, /Error: at once/);
  t.match(mixed.text, '# not one assertion ran');
  t.match(mixed.text, /test unfinished/);
  t.match(mixed.text, /^5 of 5 test files in \d+ s\n3 passed, 4 failed, 1 skipped$/m);
});

t.test(
  'processor time of a file, with the processes that it started',
  { skip: process.platform !== 'linux' },
  async (t) => {
    const spin = 'const until = process.cpuUsage().user + 600_000; while (process.cpuUsage().user < until);';
    const spinning = 'const end = performance.now() + 1000; while (performance.now() < end);';
    const busy = `import { spawnSync } from 'node:child_process'; import t from 'tap';
    t.test('busy', async (t) => { t.ok(spawnSync(process.execPath, ['-e', ${JSON.stringify(spin)}])); });`;
    // the shell is gone at once, and what it has started is not waited for
    const orphan = busy.replace("process.execPath, ['-e', ", `'/bin/sh', ['-c', '"$0" -e "$1" &', process.execPath, `);
    const { text } = await run(t, {
      busy,
      orphan,
      good,
      x: counting(0),
      y: sharing(`t.test('busy', async (t) => { ${spinning} t.ok(1); });`),
      z: counting(1),
    });
    const seconds = (name: string): number =>
      Number(new RegExp(`^ok   ${name}\\.test\\.js .* (\\d+\\.\\d) s CPU`, 'm').exec(text)?.[1]);
    t.ok(seconds('busy') >= 0.5, `of its children: ${text}`);
    const hasGroups = new Accounts().begin().enter(['true']).length > 1;
    t.ok(
      !hasGroups || seconds('orphan') >= 0.5,
      `of those that are not waited for, where they can be counted: ${text}`,
    );
    t.ok(seconds('y') > seconds('z'), `of one of a company, and of the next one: ${text}`);
  },
);

t.test('failed assertions are told first, and again at the end, in a few lines', async (t) => {
  const { text } = await run(t, {
    fails: `import t from 'tap';
      t.test('outer', async (t) => {
        await t.test('inner - with a dash', async (t) => {
          t.equal(1, 2);
          t.match('a text', /another/, 'a pattern');
          t.same({ a: 1, long: 'x'.repeat(400) }, { a: 2, long: 'x'.repeat(400) }, 'objects');
          t.ok(1, 'shown to nobody');
          t.equal(1, 2, 'to come', { todo: 'later' });
        });
        throw new Error('out of the test');
      });
      t.test('many', async (t) => { for (let n = 0; n < 2; n++) t.ok(0, 'one of many'); });
      t.test('half', async (t) => { t.plan(2); t.ok(1); });
      `,
  });
  const lines = text.split('\n');
  const inner = 'outer > inner - with a dash';
  t.strictSame(
    lines.slice(1, 4).map((line) => line.replace(/\(.*fails/, '(fails')),
    [`  failed: ${inner} > should be equal (fails.test.js:4)`, '    -2', '    +1'],
    'the first failed assertion stands behind the name of its file, with what was wanted and found',
  );
  const told = lines.slice(0, lines.findIndex((line) => line.startsWith('  failed: half > test unfinished (')) + 1);
  t.ok(told.length > 1 && told.every((line) => /^(?:FAIL|  failed: | {4})/.test(line)), 'nothing stands between them');
  t.ok(text.includes('lineNumber: 6'), 'the output itself follows');
  t.match(told.join('\n'), `  failed: ${inner} > a pattern (`);
  t.match(told.join('\n'), /^    -\/another\/\n    \+"?a text"?$/m);
  t.match(told.join('\n'), /^    -  "a": 2,\n    \+  "a": 1,$/m);
  t.match(told.join('\n'), '  failed: outer > out of the test (');
  t.match(told.join('\n'), '  failed: half > test unfinished (');
  t.notMatch(
    told.join('\n'),
    /shown to nobody|to come|failed: outer \(|failed: half \(/,
    'nor what only contains them',
  );
  const end = lines.indexOf('failed file: build/fails.test.js');
  t.strictSame(lines.slice(end + 1, end + told.length), told.slice(1), 'and once more in front of the counts');
  t.match(lines[end + told.length], /^1 of 1 test files/);
  const many = Array.from({ length: 25 }, (_, n) => ({
    path: [`${n}`],
    where: '',
    detail: Array(30).fill('x'.repeat(999)),
  }));
  const described = describeFailures(many);
  t.equal(described.at(-1), '  … 5 failed assertions more', 'at most twenty of a file');
  t.equal(described.length, 20 * 12 + 1, 'with ten lines each, and one that says how many are left out');
  t.ok(described.every((line) => line.length <= 170));
});

t.test('a failure stands where the source has it, also when it is thrown', async (t) => {
  const typed = "import t from 'tap';\n// gone\ntype Gone = { a: 1 };\nt.test('x', async (t) => {\n  t.equal(1, 2);\n";
  const source = `${typed}  throw new Error('thrown');\n});\n`;
  const { code, map } = await transform(source, { loader: 'ts', sourcemap: 'external', sourcefile: '../fails.ts' });
  const { text } = await run(t, { fails: code }, async (directory) => {
    writeFileSync(join(directory, 'build', 'fails.test.js.map'), map);
  });
  t.match(text, 'failed: x > should be equal (fails.ts:5)', text);
  t.match(text, /\bfails\.ts:6:9\b/, 'in a stack');
});

t.test('whoever hangs is named when the run is ended', async (t) => {
  // each in a process of its own, as it owns signals
  const marked = (wait: string): string => `import { writeFileSync } from 'node:fs'; import t from 'tap';
    process.on('SIGHUP', () => {});
    t.test('over', async (t) => { t.ok(1); });
    t.test('outer', async (t) => {
      await t.test('inner - with a dash', async (t) => {
        t.ok(1);
        writeFileSync(import.meta.filename + '.mark', '');
        ${wait}
      });
    });`;
  const { code, text } = await run(
    t,
    {
      spins: marked('for (;;);'),
      waits: marked('setInterval(() => {}, 1000); await new Promise(() => {});'),
      never: good,
    },
    async (directory, kill) => {
      while (!['spins', 'waits'].every((name) => existsSync(join(directory, 'build', `${name}.test.js.mark`))))
        await new Promise((resolve) => setTimeout(resolve, 20));
      kill('SIGTERM');
    },
  );
  t.equal(code, 1);
  for (const name of ['spins', 'waits']) t.match(text, `failed file: build/${name}.test.js`);
  t.equal(text.match(/# SIGTERM came while it ran, in: outer > inner - with a dash/g)?.length, 2);
  t.match(text, /^3 of 3 test files in \d+ s$/m);
});

t.test('what a test has started ends with a run that is ended', async (t) => {
  const hasGroups = new Accounts().begin().enter(['true']).length > 1;
  if (!hasGroups) return t.comment('there are no control groups to end');
  const starts = `import { spawn } from 'node:child_process'; import { renameSync, writeFileSync } from 'node:fs';
    import t from 'tap';
    t.test('waits', async () => {
      const { pid } = spawn('sleep', ['600'], { detached: true });
      writeFileSync(import.meta.filename + '.new', String(pid));
      renameSync(import.meta.filename + '.new', import.meta.filename + '.pid');
      await new Promise((resolve) => setTimeout(resolve, 600_000));
    });`;
  let pid = 0;
  await run(t, { starts }, async (directory, kill) => {
    const file = join(directory, 'build', 'starts.test.js.pid');
    while (!existsSync(file)) await new Promise((resolve) => setTimeout(resolve, 20));
    pid = Number(readFileSync(file, 'utf8'));
    t.ok(isRunning(pid));
    kill('SIGTERM');
  });
  while (isRunning(pid)) await new Promise((resolve) => setTimeout(resolve, 20));
  t.notOk(isRunning(pid), 'also what has a session of its own');
});

/** One that has ended and is not yet waited for runs no more. */
function isRunning(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return false;
  }
}

const sharing = (text: string): string =>
  `import t from 'tap';\nimport { shared } from './testing/databases.js';\n${text}`;
const counting = (users: number): string =>
  sharing(`t.test('fine', async (t) => { t.equal(shared.users++, ${users}); t.ok(1); });`);

/** Sets how every property is drawn, and finds it unset. */
const drawing = (seed: number): string =>
  `import fc from 'fast-check'; import t from 'tap';
  t.equal(fc.readConfigureGlobal()?.seed, undefined);
  fc.configureGlobal({ seed: ${seed} });
  t.test('drawn', async (t) => { t.equal(fc.readConfigureGlobal().seed, ${seed}); });`;

t.test('files that need databases share a process, and count as if each had its own', async (t) => {
  const { code, text } = await run(t, {
    a: counting(0),
    b: counting(1),
    c: `${counting(0)} t.ok(process.env);`,
    d: counting(2),
    e: good,
    f: drawing(3),
    g: drawing(4),
    h: good.replace('import', 't.setTimeout(1);\nimport'),
  });
  t.equal(code, 0, text);
  for (const name of 'abcdefgh') t.match(text, new RegExp(`^ok   ${name}\\.test\\.js ${time}$`, 'm'));
  t.match(text, /^8 of 8 test files in \d+ s\n17 passed, 0 failed, 2 skipped$/m);
});

t.test('of files that share a process, the one that fails is named, and the others are heard', async (t) => {
  const wrong: Readonly<Record<string, string>> = {
    fails: sharing("t.test('wrong', async (t) => { t.equal(1, 2, 'a sum'); });"),
    throws: sharing("throw new Error('at once');"),
    rejects: sharing("t.test('wrong', async () => { throw new Error('later'); });"),
    silent: sharing(''),
    waits: sharing("t.test('wrong', async () => { await new Promise(() => {}); });"),
  };
  for (const [name, file] of Object.entries(wrong)) {
    const { code, text } = await run(t, { a: counting(0), [name]: file, z: counting(0) });
    t.equal(code, 1, name);
    t.strictSame(text.match(/^failed file: .*$/gm), [`failed file: build/${name}.test.js`]);
    t.match(text, /^3 of 3 test files in \d+ s\n4 passed, 1 failed, 0 skipped$/m);
  }
});

t.test('a file that passes alone and not beside another is a failure', async (t) => {
  const { code, text } = await run(t, { a: counting(0), b: counting(0) });
  t.equal(code, 1);
  t.match(text, 'failed file: build/a.test.js with build/b.test.js');
  t.match(text, '# each of these files passes alone: one leaves something behind that another stumbles over');
  t.match(text, /^2 of 2 test files in \d+ s\n3 passed, 1 failed, 0 skipped$/m);
});

/** Fails the first time, as a test of time limits does beside others. */
const late = `import { existsSync, writeFileSync } from 'node:fs'; import t from 'tap';
  const wasHere = existsSync(import.meta.filename + '.mark');
  writeFileSync(import.meta.filename + '.mark', '');
  process.on('SIGHUP', () => {});
  t.test('in time', async (t) => { t.ok(wasHere, 'was late'); });`;
const broken = `${late} t.fail('is wrong');`;

t.test('what failed beside others is run again alone: named as unstable, or broken for good', async (t) => {
  const alone = await run(t, { late });
  t.equal(alone.code, 1, 'what was alone had its chance');
  const beside = await run(t, { good, late });
  t.equal(beside.code, 0);
  t.match(beside.text, /^FAIL late\.test\.js/m, 'both runs are printed');
  t.match(beside.text, /^unstable file: build\/late\.test\.js failed beside others and passed alone$/m);
  t.match(beside.text, /^2 of 2 test files in \d+ s\n3 passed, 0 failed, 1 skipped$/m);
  const both = await run(t, { good, late, broken });
  t.equal(both.code, 1);
  t.strictSame(both.text.match(/^(?:unstable|failed) file: \S+/gm), [
    'unstable file: build/late.test.js',
    'failed file: build/broken.test.js',
  ]);
  t.match(both.text, /^3 of 3 test files in \d+ s\n4 passed, 1 failed, 1 skipped$/m);
  const many = await run(t, { good, a: late, b: late, c: late, d: late });
  t.equal(many.code, 1, 'more than three have a cause of their own');
  t.equal(many.text.match(/^failed file: /gm)?.length, 4);
  t.notMatch(many.text, 'unstable');
});
