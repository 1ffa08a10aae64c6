import { existsSync, readFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import t from 'tap';
import { nativeAddon, yieldToOthers } from './addon.js';

/** Field 19 of proc_pid_stat(5). */
const niceOf = (stat: string): number => Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16]);

t.test(
  'lowers the priority of the calling thread and of no other',
  { skip: existsSync('/proc/thread-self/stat') ? false : 'no /proc of Linux here' },
  async (t) => {
    const before = niceOf(readFileSync('/proc/thread-self/stat', 'latin1'));
    // raising it would need a privilege, and the whole run may have been lowered already
    const lower = Math.min(19, Math.max(0, before) + 7);
    const program = `
    import { readFileSync } from 'node:fs';
    import { parentPort } from 'node:worker_threads';
    const { yieldToOthers } = await import(${JSON.stringify(new URL('./addon.js', import.meta.url).href)});
    yieldToOthers(${lower});
    parentPort.postMessage(readFileSync('/proc/thread-self/stat', 'latin1'));`;
    const stat = await new Promise<string>((resolve, reject) => {
      const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(program)}`));
      worker.once('message', resolve);
      worker.once('error', reject);
    });
    t.equal(niceOf(stat), lower);
    t.equal(niceOf(readFileSync('/proc/thread-self/stat', 'latin1')), before, 'this thread is as it was');
  },
);

t.test('wrong numbers throw', (t) => {
  const { yieldToOthers: native } = nativeAddon() as unknown as { yieldToOthers: (...values: unknown[]) => void };
  for (const nice of [-1, 20, 1.5, Number.NaN, '7', null, undefined])
    t.throws(() => native(nice), TypeError, String(nice));
  t.throws(() => yieldToOthers(99), TypeError);
  t.end();
});
