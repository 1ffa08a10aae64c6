import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { openAddressSet } from '../../shared-state/address-set.js';
import { changeMeasureText } from '../../shared-state/measure-delta.js';
import type { MeasureTables } from '../../shared-state/measure-tables.js';
import { MeasureList } from './measure-list.js';

t.test('a list is taken whole or not at all, kept, and found again', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-threats-'));
  t.teardown(() => rm(directory, { recursive: true, force: true }));
  const problems: string[] = [];
  const list = new MeasureList(directory, (message) => problems.push(message));
  const empty = list.sha256;
  const spread: MeasureTables[] = [];
  const put = (text: string) => list.replace(Buffer.from(text), (table) => spread.push(table));
  await list.resume();
  t.equal(list.current, null, 'nothing there is no problem');
  t.match(await put('192.0.2.0/24\n\r\n2001:db8::/32\n192.0.2.7\n'), {
    outcome: 'active',
    networks: 3,
    intervals: 2,
    isPersisted: true,
  });
  t.match(await put('198.51.100.1\nnonsense\n'), { outcome: 'refused', reason: /"nonsense"/ });
  t.match({ networks: list.networks, sent: spread.length }, { networks: 3, sent: 1 }, 'a refusal changes nothing');
  const known = list.sha256;
  t.not(known, empty);
  const again = new MeasureList(directory, (message) => problems.push(message));
  await again.resume();
  t.equal(again.sha256, known);
  t.ok(openAddressSet(again.current?.networks.deny as SharedArrayBuffer).contains('192.0.2.99'));
  const [first, second] = await Promise.all([put('203.0.113.1'), put('')]);
  t.match([first, second], [{ networks: 1 }, { networks: 0, sha256: empty }]);
  t.same(
    spread.map(({ version }) => version),
    [1, 2, 3],
    'in order of arrival',
  );
  t.equal(await readFile(join(directory, 'measures.txt'), 'utf8'), '');
  t.same(problems, []);
  await writeFile(join(directory, 'measures.txt'), 'broken');
  await again.resume();
  t.match(problems, [/list of measures in .* cannot be used/]);
});

t.test('U13: what ends is lifted when it ends, also where nobody sends anything, and after a restart', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-threats-'));
  t.teardown(() => rm(directory, { recursive: true, force: true }));
  const fail = (message: string): never => {
    throw new Error(message);
  };
  const list = new MeasureList(directory, fail);
  t.teardown(() => list.close());
  const isDenied = (of: MeasureList, address: string) =>
    openAddressSet(of.current?.networks.deny as SharedArrayBuffer).contains(address);
  const spread: { readonly atMs: number; readonly table: MeasureTables }[] = [];
  const waiting: (() => void)[] = [];
  list.watch((table) => {
    spread.push({ atMs: Date.now(), table });
    waiting.shift()?.();
  });
  const alive = setInterval(() => undefined, 1000); // the list's own timer keeps no process
  t.teardown(() => clearInterval(alive));
  const nextSpread = () => new Promise<void>((resolve) => waiting.push(resolve));

  const endsMs = Date.now() + 400;
  const first = nextSpread();
  const put = await list.replace(
    Buffer.from(
      `192.0.2.1 ${endsMs}\n192.0.2.2\n192.0.2.3 ${endsMs + 3_600_000}\n192.0.2.4 1000\n2001:db8::1 ${endsMs}\n`,
    ),
    () => undefined,
  );
  t.match(put, { outcome: 'active', networks: 4 }, 'what is over when it comes is in the text only');
  const known = list.sha256;
  for (const address of ['192.0.2.1', '192.0.2.2', '192.0.2.3', '2001:db8::1']) t.ok(isDenied(list, address), address);
  t.notOk(isDenied(list, '192.0.2.4'));
  await first;
  const [lifted] = spread;
  t.ok((lifted?.atMs ?? 0) >= endsMs, 'never early');
  t.ok((lifted?.atMs ?? Infinity) - endsMs < 1000, `within a second: ${(lifted?.atMs ?? 0) - endsMs} ms`);
  t.same([isDenied(list, '192.0.2.1'), isDenied(list, '2001:db8::1')], [false, false]);
  t.same([isDenied(list, '192.0.2.2'), isDenied(list, '192.0.2.3')], [true, true], 'the others stay');
  t.equal(list.networks, 2);
  t.equal(list.sha256, known, 'the text is its sender’s, so that its next change fits');

  const again = new MeasureList(directory, fail);
  t.teardown(() => again.close());
  await again.resume();
  t.equal(again.sha256, known);
  t.same(
    ['192.0.2.1', '192.0.2.2', '192.0.2.3'].map((address) => isDenied(again, address)),
    [false, true, true],
    'a restart does not bring back what is over',
  );
  t.match(await again.replace(Buffer.from('192.0.2.1 soon\n'), () => undefined), {
    outcome: 'refused',
    reason: /does not end at a moment/,
  });
});

t.test('U13: a ban that is renewed, cut short, or lifted while it lasts', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-threats-'));
  t.teardown(() => rm(directory, { recursive: true, force: true }));
  const clock = { nowMs: 1_000_000 };
  const list = new MeasureList(
    directory,
    (message) => t.fail(message),
    () => clock.nowMs,
  );
  t.teardown(() => list.close());
  const isDenied = () => openAddressSet(list.current?.networks.deny as SharedArrayBuffer).contains('192.0.2.1');
  let text = Buffer.alloc(0);
  const change = async (added: string[], removed: string[]) => {
    const next = changeMeasureText(text, added, removed).text;
    const digest = (of: Buffer) => createHash('sha256').update(of).digest('hex');
    const reply = await list.change({ base: digest(text), sha256: digest(next), added, removed }, () => undefined);
    text = Buffer.from(next);
    return reply;
  };
  await change(['192.0.2.1 1001000'], []);
  t.ok(isDenied());
  await change(['192.0.2.1 1009000'], []);
  clock.nowMs = 1_005_000;
  await change(['192.0.2.7'], []);
  t.ok(isDenied(), 'the renewed ban counts, not the one before');
  t.match(await change(['192.0.2.1 1002000'], []), { outcome: 'active', networks: 1 });
  t.notOk(isDenied(), 'cut short it is over');
  await change(['192.0.2.1'], []);
  clock.nowMs = 2_000_000;
  await change(['192.0.2.8 3000000'], ['192.0.2.7']);
  t.ok(isDenied(), 'without an end it stays');
  t.match(await change([], ['192.0.2.1', '192.0.2.8']), { outcome: 'active', networks: 0, intervals: 0 });
});
