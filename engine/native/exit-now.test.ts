import { spawn } from 'node:child_process';
import t from 'tap';
import { exitNow, nativeAddon } from './addon.js';

/** Runs a program that loads the addon; resolves with its exit code or signal and what it printed. */
function run(program: string): Promise<{ readonly end: number | string | null; readonly printed: string }> {
  const child = spawn(
    process.execPath,
    [
      '--input-type=module',
      '-e',
      `import { exitNow } from ${JSON.stringify(new URL('./addon.js', import.meta.url).href)};\n` +
        `import { Worker } from 'node:worker_threads';\n${program}`,
    ],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let printed = '';
  child.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (printed += chunk.toString()));
  return new Promise((resolve) => child.on('close', (code, signal) => resolve({ end: code ?? signal, printed })));
}

t.test('exitNow ends the process with the code it is given, without another step', async (t) => {
  const handlers = "process.on('exit', () => console.log('exit handler'));\n";
  t.same(await run(`${handlers}exitNow(0);`), { end: 0, printed: '' }, 'code 0');
  t.same(await run(`${handlers}exitNow(7);`), { end: 7, printed: '' }, 'another code');
  t.same(
    await run(`new Worker('while (true);', { eval: true }).on('online', () => exitNow(3));`),
    { end: 3, printed: '' },
    'whatever other threads do',
  );
});

t.test('wrong codes throw, and the process lives', (t) => {
  const { exitNow: native } = nativeAddon() as unknown as { exitNow: (...codes: unknown[]) => never };
  for (const code of [-1, 256, 1.5, Number.NaN, '0', null, undefined])
    t.throws(() => native(code), TypeError, String(code));
  t.throws(() => native(), TypeError, 'none');
  t.throws(() => exitNow(1000), TypeError);
  t.end();
});
