// Watch mode in a directory that looks like this project: its build copies, its tests are one line.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { root } from '../environment/directories.js';

const runner = new URL('run.js', import.meta.url).href;
const build = `import { cpSync, readdirSync, mkdirSync } from 'node:fs';
  import { join } from 'node:path';
  for (const room of process.argv.slice(2)) {
    mkdirSync(join('build', room), { recursive: true });
    for (const name of readdirSync(room)) cpSync(join(room, name), join('build', room, name.replace('.ts', '.js')));
  }`;
const good = (name: string): string => `import t from 'tap'; import { value } from './${name}.js'; t.equal(value, 1);`;

function makeProject(t: Test): string {
  const directory = mkdtempSync(join(tmpdir(), 'gatehouse-watch-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  for (const name of ['bin', 'cli', 'build', 'build/cli']) mkdirSync(join(directory, name));
  for (const packages of ['node_modules', 'build/node_modules'])
    symlinkSync(join(root, packages), join(directory, packages));
  writeFileSync(join(directory, 'package.json'), '{"type":"module"}');
  writeFileSync(join(directory, 'bin/build.mjs'), build);
  for (const [place, ending] of [
    ['cli', 'ts'],
    ['build/cli', 'js'],
  ] as const)
    for (const name of ['one', 'two']) {
      writeFileSync(join(directory, place, `${name}.${ending}`), 'export const value = 1;');
      writeFileSync(join(directory, place, `${name}.test.${ending}`), good(name));
    }
  return directory;
}

t.test('what changed is built and its tests run again', async (t) => {
  const directory = makeProject(t);
  const script = `import { runTests } from ${JSON.stringify(runner)};
    process.exitCode = await runTests(process.cwd(), ['--watch', 'one']);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    cwd: directory,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.teardown(() => child.kill('SIGKILL'));
  let said = '';
  const listeners = new Set<() => void>();
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
    for (const listener of listeners) listener();
  });
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  /** Until it watches again, and has said that. */
  const until = (text: RegExp): Promise<void> =>
    new Promise((resolve) => {
      const look = (): void => {
        if (!text.test(said) || !said.endsWith('watching; Ctrl-C ends it\n')) return;
        listeners.delete(look);
        resolve();
      };
      listeners.add(look);
      look();
    });

  await until(/^1 passed, 0 failed, 0 skipped$/m);
  t.match(said, /^ok {3}cli\/one\.test\.js/m, 'the words choose');
  t.notMatch(said, /two/);

  said = '';
  writeFileSync(join(directory, 'cli/one.ts'), 'export const value = 2;');
  await until(/^0 passed, 1 failed, 0 skipped$/m);
  t.match(said, /^changed: cli\/one\.ts$/m);
  t.match(said, /^FAIL cli\/one\.test\.js/m, 'it was built');

  said = '';
  writeFileSync(join(directory, 'cli/two.ts'), 'export const value = 3;');
  await until(/^no test of it to run$/m);
  t.match(said, /^changed: cli\/two\.ts$/m);

  child.kill('SIGTERM');
  t.equal(await ended, 0);
});
