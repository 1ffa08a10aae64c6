// Denials, challenges, throttles and principals in one list: what workers have after any changes is what the whole list
// says, a change touches no other table, and beyond the bound of principals the rest waits.
import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import { changeMeasureText } from '../../shared-state/measure-delta.js';
import {
  measureActions,
  principalOf,
  readMeasureKey,
  writeMeasureKey,
  type MeasureAction,
} from '../../shared-state/measure-line.js';
import {
  ClientMeasures,
  isChallenged,
  isDenied,
  isThrottled,
  type MeasureTables,
} from '../../shared-state/measure-tables.js';
import { MeasureList } from './measure-list.js';
import { PrincipalList } from './principal-list.js';

const seed = Number(process.env['SEED'] ?? 20_261_127);
const digestOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
const bits: Readonly<Record<MeasureAction, number>> = {
  deny: isDenied,
  challenge: isChallenged,
  throttle: isThrottled,
};

async function start(t: { teardown(fn: () => Promise<void>): void }, clock = { nowMs: 1_000_000 }) {
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-measures-'));
  t.teardown(() => rm(directory, { recursive: true, force: true }));
  const list = new MeasureList(
    directory,
    (message) => {
      throw new Error(message);
    },
    () => clock.nowMs,
  );
  const worker = new ClientMeasures();
  const changes: MeasureTables[] = [];
  const spread = (tables: MeasureTables): void => {
    changes.push(tables);
    worker.change(tables);
  };
  let text = Buffer.alloc(0);
  const change = async (added: readonly string[], removed: readonly string[]) => {
    const next = changeMeasureText(text, added, removed).text;
    const reply = await list.change({ base: digestOf(text), sha256: digestOf(next), added, removed }, spread);
    if (reply.outcome === 'active') text = Buffer.from(next);
    return reply;
  };
  return { list, worker, changes, change, spread, directory, clock };
}

/** What a worker says of everything that the pool is about. */
const seenBy = (worker: ClientMeasures, addresses: readonly string[], principals: readonly string[]): string =>
  [
    ...addresses.map((address) => `${address} ${worker.on(address)}`),
    ...principals.map((key) => `${key} ${worker.principals.listed.get(key) ?? ''}`),
    `${worker.hasChallenges} ${worker.hasThrottles} ${worker.principals.hasChallenges}`,
  ].join('\n');

t.test('after any changes a worker has what the whole list says', async (t) => {
  const clock = { nowMs: 1_000_000 };
  const node = await start(t, clock);
  const networks = ['10.0.0.0/8', '10.1.0.0/16', '10.1.2.3', '2001:db8::/32', '2001:db8::1', '::ffff:192.0.2.1'];
  const addresses = ['10.1.2.3', '10.1.9.9', '10.9.9.9', '192.0.2.1', '::ffff:10.1.2.3', '2001:db8::1', '2001:db8::2'];
  const principals = ['jwt:0123456789abcdef', 'session:0123456789abcdef'];
  const keys = [...networks, ...principals].flatMap((subject) =>
    measureActions.map((action) => writeMeasureKey(action, subject)),
  );
  node.list.watch(node.spread);
  const held = new Map<string, number>();
  /** The slow twin: every line in force is asked about every subject. */
  const expected = (): string => {
    const inForce = [...held].flatMap(([key, endMs]) => (endMs > clock.nowMs ? [readMeasureKey(key)] : []));
    const worker = new ClientMeasures();
    const strongest = new Map<string, MeasureAction>();
    for (const action of measureActions.toReversed())
      for (const one of inForce)
        if (one.action === action && principalOf(one.subject) !== null) strongest.set(one.subject, action);
    worker.principals.change({ set: [...strongest], gone: [] });
    const covers: Readonly<Record<string, readonly string[]>> = {
      '10.0.0.0/8': ['10.1.2.3', '10.1.9.9', '10.9.9.9', '::ffff:10.1.2.3'],
      '10.1.0.0/16': ['10.1.2.3', '10.1.9.9', '::ffff:10.1.2.3'],
      '10.1.2.3': ['10.1.2.3', '::ffff:10.1.2.3'],
      '2001:db8::/32': ['2001:db8::1', '2001:db8::2'],
      '2001:db8::1': ['2001:db8::1'],
      '::ffff:192.0.2.1': ['192.0.2.1'],
    };
    const of = (address: string): number =>
      inForce.reduce(
        (sum, { subject, action }) => (covers[subject]?.includes(address) === true ? sum | bits[action] : sum),
        0,
      );
    const has = (action: MeasureAction): boolean =>
      inForce.some((one) => one.action === action && principalOf(one.subject) === null);
    return [
      ...addresses.map((address) => `${address} ${of(address)}`),
      ...principals.map((key) => `${key} ${strongest.get(key) ?? ''}`),
      `${has('challenge')} ${has('throttle')} ${worker.principals.hasChallenges}`,
    ].join('\n');
  };
  const step = fc.tuple(fc.subarray(keys), fc.subarray(keys), fc.constantFrom(0, 0, 50, 2000));
  for (const [come, go, laterMs] of fc.sample(step, { numRuns: 150, seed })) {
    clock.nowMs += laterMs;
    const added = come.map((key, at) => (at % 3 === 0 ? `${key} ${clock.nowMs + 1000}` : key));
    const removed = go.filter((key) => !come.includes(key));
    const reply = await node.change(added, removed);
    if (reply.outcome !== 'active') return void t.fail(JSON.stringify(reply));
    for (const key of removed) held.delete(key);
    for (const line of added) {
      const [key = '', end] = line.split(' ');
      held.set(key, end === undefined ? Infinity : Number(end));
    }
    (node.list as unknown as { lift(): void }).lift(); // what its timer does
    const late = new ClientMeasures();
    const { current } = node.list;
    if (current !== null) late.change(current);
    t.equal(seenBy(late, addresses, principals), expected(), `a worker that starts now, seed ${seed}`);
    t.equal(seenBy(node.worker, addresses, principals), expected(), 'one that followed every change');
  }
  node.list.close();
});

t.test('a change touches no other table', async (t) => {
  const { change, changes, worker, list } = await start(t);
  await change(['192.0.2.1', '~challenge:192.0.2.2', '~throttle:192.0.2.0/24', 'jwt:0123456789abcdef'], []);
  t.match(list.describe(), { networks: 1, challenged: 1, throttled: 1, principals: { deny: 1 }, principalsLeftOut: 0 });
  for (const [line, wanted] of [
    ['192.0.2.9', { networks: ['deny'], set: 0 }],
    ['~challenge:192.0.2.9', { networks: ['challenge'], set: 0 }],
    ['~throttle:198.51.100.9', { networks: ['throttle'], set: 0 }],
    ['~throttle:session:0123456789abcdef', { networks: [], set: 1 }],
  ] as const) {
    await change([line], []);
    const last = changes.at(-1);
    t.same(Object.keys(last?.networks ?? {}), wanted.networks, line);
    t.equal(last?.principals.set.length, wanted.set, line);
  }
  t.equal(worker.on('192.0.2.9'), isDenied | isChallenged | isThrottled);
  t.equal(worker.on('192.0.2.8'), isThrottled);
  t.equal(worker.on('no address'), 0);
  await change([], ['~challenge:192.0.2.9', '192.0.2.9']);
  t.equal(worker.on('192.0.2.9'), isThrottled, 'what is known of a client is asked anew');
  t.match(await change(['~tarpit:192.0.2.1'], []), { outcome: 'refused', reason: /names no action/ });
  t.match(await change(['~challenge:nonsense'], []), { outcome: 'refused', reason: /"nonsense"/ });
  t.equal(worker.principals.listed.get('session:0123456789abcdef'), 'throttle');
  await change(['~challenge:session:0123456789abcdef'], []);
  t.equal(worker.principals.listed.get('session:0123456789abcdef'), 'challenge', 'the stronger of two holds');
  t.ok(worker.principals.hasChallenges);
  await change([], ['~challenge:session:0123456789abcdef']);
  t.equal(worker.principals.listed.get('session:0123456789abcdef'), 'throttle');
  t.notOk(worker.principals.hasChallenges);
});

t.test('beyond the bound of principals the rest waits until others end', async (t) => {
  const list = new PrincipalList(2);
  const of = (number: number, action: MeasureAction = 'deny') => ({ subject: `jwt:${number}`, action });
  t.match(list.change([of(1), of(2), of(3), of(4)], []), { set: [['jwt:1'], ['jwt:2']], gone: [] });
  t.equal(list.leftOut, 2);
  t.match(list.change([], [of(1)]), { set: [['jwt:3', 'deny']], gone: ['jwt:1'] });
  t.same(list.change([], [of(4)]), { set: [], gone: [] }, 'one that waited goes without a word');
  t.match(list.change([of(5, 'throttle')], [of(2), of(3)]), { gone: ['jwt:2', 'jwt:3'], set: [['jwt:5', 'throttle']] });
  t.equal(list.leftOut, 0);
});

t.test('the list of a release before this one is taken up', async (t) => {
  const { list, directory } = await start(t);
  await writeFile(join(directory, 'threats.txt'), '192.0.2.1\n198.51.100.0/24\n');
  await list.resume();
  t.equal(list.networks, 2);
  t.equal((await list.replace(Buffer.from('192.0.2.7\n'), () => undefined)).outcome, 'active');
  const again = new MeasureList(directory, (message) => t.fail(message));
  await again.resume();
  t.equal(again.networks, 1, 'its own file counts from then on');
});
