// A1: however long clients' texts are, the thread that asks for their masking goes on.
import t from 'tap';
import { maskRecords, nothingMasked, type Masked } from './mask-records.js';
import { createMasker } from './masker.js';

/** Multipart names and JSON members without an end: what stalled the API for 28 s. */
const hostile = (chars: number): string => 'name="a"\r\n"password":"x",'.repeat(chars / 23);

const records = (chars: number, count: number): Masked => ({
  requests: Array.from({ length: count }, (_, n) => ({ uri: `/?token=secret${n}`, user_agent: 'Mozilla/5.0' })),
  events: Array.from({ length: count }, () => ({
    uri: '/login?password=hunter2',
    details: { request: { body: hostile(chars), headers: ['Cookie', 'a=b'] }, messages: [{ match: 'x' }] },
  })),
  samples: Array.from({ length: count }, () => ({
    uri: '/login?password=hunter2',
    headers: ['Authorization', 'Basic abc'],
    body: hostile(chars),
  })),
});

t.test('A1: masks of much text run beside this thread, and are the same', async (t) => {
  const masker = createMasker();
  t.teardown(() => masker.close());
  await masker.mask(records(100_000, 1), 'personal'); // the thread has been started
  const many = records(200_000, 40);
  const startedMs = performance.now();
  const here = maskRecords(many, 'personal');
  const hereMs = performance.now() - startedMs;
  let turns = 0;
  let isOver = false;
  const count = (): void => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  const [found] = await Promise.all([
    masker.mask(many, 'personal').finally(() => {
      isOver = true;
    }),
    new Promise<void>((resolve) => {
      setImmediate(() => {
        count();
        resolve();
      });
    }),
  ]);
  t.same(found, here);
  t.ok(turns > 20, `${turns} turns of the loop meanwhile; here it is one of ${hereMs.toFixed(0)} ms`);
});

t.test('A1: little text is masked the same way, whoever does it', async (t) => {
  const masker = createMasker();
  t.teardown(() => masker.close());
  const few = records(100, 2);
  for (const level of ['secrets', 'personal'] as const) {
    t.same(await masker.mask(few, level), maskRecords(few, level));
    t.notMatch(JSON.stringify(await masker.mask(few, level)), /hunter2|Basic abc|secret0/, 'nothing of it is kept');
  }
  t.same(await masker.mask(nothingMasked, 'secrets'), nothingMasked);
});
