// The runner on small test files of its own, in a directory that looks like this project: what passes, fails, dies,
// says nothing or hangs is told as what it is.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
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
  symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'));
  writeFileSync(join(directory, 'package.json'), '{"type":"module"}');
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

const good = `import t from 'tap';
  t.test('fine', async (t) => { t.ok(1); t.ok(1); });
  t.test('not here', { skip: 'no such thing' }, () => {});`;

t.test('counts, skips and the reasons of failures', async (t) => {
  const passed = await run(t, { a: good, b: good });
  t.equal(passed.code, 0);
  t.match(passed.text, /^ok   a\.test\.js \(\d+ ms\)$/m);
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

t.test('whoever hangs is named when the run is ended', async (t) => {
  const marked = (wait: string): string => `import { writeFileSync } from 'node:fs'; import t from 'tap';
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
