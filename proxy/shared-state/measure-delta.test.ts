import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { buildAddressSet, openAddressSet } from './address-set.js';
import { changeMeasureText, type MeasureDelta } from './measure-delta.js';
import type { MeasureTables } from './measure-tables.js';
import { MeasureList } from '../main/gates/measure-list.js';

fc.configureGlobal({ seed: Number(process.env['SEED'] ?? 20_261_121) });

const textOf = (networks: readonly string[]): Buffer =>
  Buffer.from(
    [...new Set(networks)]
      .sort()
      .map((network) => `${network}\n`)
      .join(''),
  );
const digestOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
const bytesOf = (table: SharedArrayBuffer): Buffer => Buffer.from(new Uint8Array(table));

t.test('a changed text is the text of the changed list', async (t) => {
  const network = fc.oneof(
    fc
      .tuple(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 29, max: 32 }))
      .map(([last, bits]) => `10.0.0.${last}/${bits}`),
    fc.integer({ min: 0, max: 30 }).map((last) => `10.0.0.${last}`),
    fc.constantFrom('2001:db8::/32', '2001:db8::1', '1', '10', '10.0', 'z'),
  );
  fc.assert(
    fc.property(fc.array(network), fc.array(network), fc.array(network), (before, added, removed) => {
      const gone = removed.filter((one) => !added.includes(one));
      const { text, ...done } = changeMeasureText(textOf(before), added, gone);
      const wanted = [...before.filter((one) => !gone.includes(one)), ...added];
      return (
        text.equals(textOf(wanted)) &&
        done.added.every((one) => !before.includes(one)) &&
        done.removed.every((one) => before.includes(one))
      );
    }),
    { numRuns: 2000 },
  );
  t.same(
    changeMeasureText(Buffer.from('a\nb\nc\n'), ['b', 'bb'], ['a', 'x']),
    { text: Buffer.from('b\nbb\nc\n'), added: ['bb'], removed: ['a'] },
    'what was as asked before is not named',
  );
});

async function start(t: { teardown(fn: () => Promise<void>): void }, directory?: string) {
  const at = directory ?? (await mkdtemp(join(tmpdir(), 'gatehouse-threats-')));
  if (directory === undefined) t.teardown(() => rm(at, { recursive: true, force: true }));
  const list = new MeasureList(at, (message) => {
    throw new Error(message);
  });
  await list.resume();
  const spread: MeasureTables[] = [];
  return {
    list,
    spread,
    directory: at,
    put: (text: Buffer) => list.replace(text, (table) => spread.push(table)),
    change: (delta: MeasureDelta) => list.change(delta, (table) => spread.push(table)),
  };
}

const delta = (before: readonly string[], added: readonly string[], removed: readonly string[]): MeasureDelta => ({
  base: digestOf(textOf(before)),
  sha256: digestOf(textOf([...before.filter((one) => !removed.includes(one)), ...added])),
  added,
  removed,
});

t.test('after any changes the table is the one of the whole list', async (t) => {
  const node = await start(t);
  // overlapping on purpose: what a larger network hid has to come back when that goes
  const pool = [
    '10.0.0.0/8',
    '10.1.0.0/16',
    '10.1.2.3',
    '10.1.2.4',
    '10.255.255.255',
    '11.0.0.0',
    '::ffff:10.9.9.9',
    '2001:db8::/32',
    '2001:db8:1::/48',
    '2001:db8:1::1',
    'fe80::1',
    '0.0.0.0/0',
  ];
  let now: string[] = [];
  for (const sample of fc.sample(fc.tuple(fc.subarray(pool), fc.subarray(pool)), 200)) {
    const removed = sample[1].filter((one) => now.includes(one) && !sample[0].includes(one));
    const added = sample[0].filter((one) => !now.includes(one));
    const reply = await node.change(delta(now, added, removed));
    now = [...now.filter((one) => !removed.includes(one)), ...added];
    if (reply.outcome !== 'active' || reply.networks !== now.length) t.fail(JSON.stringify({ reply, now }));
    if (!bytesOf(node.list.current?.networks.deny as SharedArrayBuffer).equals(bytesOf(buildAddressSet(now))))
      t.fail(`another table for ${now.join(' ')}`);
  }
  t.equal(node.spread.length, 200);
});

t.test('a change is meant for one list and ends at one list', async (t) => {
  const node = await start(t);
  await node.put(textOf(['192.0.2.1', '192.0.2.2']));
  const known = node.list.sha256;
  const fine = delta(['192.0.2.1', '192.0.2.2'], ['203.0.113.0/24'], ['192.0.2.1']);
  t.match(await node.change({ ...fine, base: digestOf(Buffer.from('other')) }), { outcome: 'mismatch', sha256: known });
  t.match(await node.change({ ...fine, sha256: digestOf(Buffer.from('other')) }), {
    outcome: 'mismatch',
    sha256: known,
  });
  const wrong = textOf(['192.0.2.1', '192.0.2.2', 'nonsense']);
  t.match(await node.change({ base: known, sha256: digestOf(wrong), added: ['nonsense'], removed: [] }), {
    outcome: 'refused',
    reason: /"nonsense"/,
  });
  t.same([node.list.sha256, node.spread.length], [known, 1], 'nothing of that changed anything');
  t.match(await node.change(fine), {
    outcome: 'active',
    networks: 2,
    intervals: 2,
    isPersisted: true,
    sha256: fine.sha256,
  });
  const again = await start(t, node.directory);
  t.equal(again.list.sha256, fine.sha256, 'a restart resumes the changed list');
  t.ok(openAddressSet(again.list.current?.networks.deny as SharedArrayBuffer).contains('203.0.113.9'));
  t.match(
    await again.change(delta(['192.0.2.2', '203.0.113.0/24'], [], ['203.0.113.0/24'])),
    { outcome: 'active', networks: 1 },
    'and takes further changes',
  );
  await node.put(Buffer.from('192.0.2.9\n192.0.2.1')); // by hand: not sorted, the last line not ended
  t.match(
    await node.change({
      base: node.list.sha256,
      sha256: delta(['192.0.2.9', '192.0.2.1'], ['192.0.2.5'], []).sha256,
      added: ['192.0.2.5'],
      removed: [],
    }),
    { outcome: 'mismatch' },
    'a list in another order is not guessed at',
  );
});

t.test('of changes at once one wins, the others hear that the list is another', async (t) => {
  const node = await start(t);
  const replies = await Promise.all(Array.from({ length: 5 }, (_, n) => node.change(delta([], [`192.0.2.${n}`], []))));
  t.same(
    replies.map(({ outcome }) => outcome),
    ['active', 'mismatch', 'mismatch', 'mismatch', 'mismatch'],
  );
  const [whole, behind] = await Promise.all([
    node.put(textOf(['198.51.100.1'])),
    node.change(delta(['198.51.100.1'], ['198.51.100.2'], [])),
  ]);
  t.match(
    [whole, behind],
    [
      { outcome: 'active', networks: 1 },
      { outcome: 'active', networks: 2 },
    ],
    'one after the other, in order',
  );
});
