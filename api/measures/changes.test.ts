// Changes of the deny list on their way: what is sent, by whom, and that nothing gets lost between servers and nodes.
import t, { type Test } from 'tap';
import type { Database } from '../db/client.js';
import type { MeasureDelta } from '#proxy/contract';
import { startTestApp } from '../testing/app.js';
import { onBothDatabases } from '../testing/databases.js';
import { makeDirectory } from '../testing/temporary.js';
import { createMeasurePush } from './push.js';
import { addDenials, liftMeasures, pruneMeasures, replaceFeed, touchedMax, type NewDenials } from './store.js';

// not behind a door, so imported by address
const { MeasureList } = (await import(new URL('../../proxy/main/gates/measure-list.js', import.meta.url).href)) as {
  MeasureList: new (
    directory: string,
    onProblem: (message: string) => void,
  ) => {
    readonly sha256: string;
    readonly networks: number;
    replace(text: Buffer, spread: () => void): Promise<{ outcome: string; networks: number }>;
    change(delta: MeasureDelta, spread: () => void): Promise<{ outcome: string; networks: number }>;
  };
};

/** A node with the real list and no sockets. */
async function startNode(t: Test) {
  const directory = await makeDirectory(t, 'threats');
  let list = new MeasureList(directory, () => undefined);
  const node = {
    sent: [] as string[],
    isAway: false,
    forget: () => {
      list = new MeasureList(directory, () => undefined);
    },
    networks: () => list.networks,
    client: {
      status: async () =>
        node.isAway
          ? { kind: 'unreachable' as const, detail: 'away' }
          : { kind: 'answered' as const, status: { generation: 1, ruleset: '', workers: 1, measures: list.sha256 } },
      async putMeasures(_: string, text: Buffer) {
        if (node.isAway) return { kind: 'failed' as const, detail: 'away' };
        node.sent.push('whole');
        const { outcome } = await list.replace(text, () => undefined);
        return outcome === 'active' ? { kind: 'active' as const } : { kind: 'failed' as const, detail: outcome };
      },
      putDenials: async () => ({ kind: 'failed' as const, detail: 'it knows measures' }),
      async patchMeasures(_: string, delta: MeasureDelta) {
        if (node.isAway) return { kind: 'failed' as const, detail: 'away' };
        const reply = await list.change(delta, () => undefined);
        node.sent.push(
          reply.outcome === 'active' ? `+${delta.added.join(',')} -${delta.removed.join(',')}` : reply.outcome,
        );
        return { kind: reply.outcome === 'active' ? ('active' as const) : ('mismatch' as const) };
      },
    },
    /** What was sent since the last question. */
    take: () => node.sent.splice(0),
  };
  return node;
}

async function suite(t: Test, database: Database): Promise<void> {
  const { sql } = database;
  const clock = { nowMs: Date.parse('2026-03-01T12:00:00Z') };
  const now = () => new Date(clock.nowMs);
  const node = await startNode(t);
  const server = () => createMeasurePush({ sql, urls: ['a'], client: node.client, now: () => clock.nowMs });
  const [one, two] = [server(), server()];
  const add = (networks: readonly string[], over: Partial<NewDenials> = {}) =>
    sql.begin((tx) =>
      addDenials(
        tx,
        { subjects: networks, source: 'manual', reason: '', addedBy: 'x', expiresAt: null, ...over },
        now(),
      ),
    );
  const remove = (network: string) =>
    sql.begin((tx) => liftMeasures(tx, { subjects: [network], actions: ['deny'] }, 'x', now()));

  await add(['192.0.2.1', '192.0.2.2']);
  await one.changed();
  t.same(node.take(), ['whole'], 'the first time there is nothing to begin with');
  await add(['192.0.2.3']);
  await remove('192.0.2.1');
  await one.changed();
  t.same(node.take(), ['+192.0.2.3 -192.0.2.1']);
  await add(['192.0.2.3'], { source: 'feed' });
  await one.changed();
  await sql.begin((tx) => replaceFeed(tx, 'feed', [], now()));
  await one.changed();
  t.same(node.take(), [], 'another source that says the same changes nothing');

  await two.reconcile();
  t.same(node.take(), [], 'another server sees that the node has it');
  await add(['203.0.113.0/24']);
  await two.changed();
  await add(['203.0.113.9']);
  await one.changed();
  t.same(
    node.take(),
    ['+203.0.113.0/24 -', 'mismatch', 'whole'],
    'one that missed a change of the other begins anew with the whole list',
  );
  t.equal(node.networks(), 4);

  node.isAway = true;
  await add(['198.51.100.1']);
  await one.changed();
  node.isAway = false;
  t.match(await one.reconcile(), /has the client measures/);
  t.same(node.take(), ['+198.51.100.1 -'], 'a node that missed the last change gets that');
  t.equal(await one.reconcile(), '');
  node.forget();
  await one.reconcile();
  t.same(node.take(), ['mismatch', 'whole'], 'one that lost its list gets all of it');

  // a server that wrote and ended before it could tell
  await add(['198.51.100.2']);
  t.match(await two.reconcile(), /has the client measures/);
  t.equal(node.networks(), 6, 'the next round of any server brings it');

  node.take();
  await add(['198.51.100.3'], { source: 'ai', expiresAt: new Date(clock.nowMs + 60_000) });
  await one.changed();
  clock.nowMs += 61_000;
  await pruneMeasures(sql, now());
  t.match(await one.reconcile(), /has the client measures/);
  t.match(node.take().at(-1), '+ -198.51.100.3', 'what ends is a change, too');
  t.equal(await one.reconcile(), '');
  clock.nowMs += 2 * 3600_000;
  await pruneMeasures(sql, now());
  t.equal((await sql`select 1 from client_measures where subject = '198.51.100.3'`).length, 0);

  const many = Array.from({ length: touchedMax + 1 }, (_, n) => `10.${n >> 8}.${n & 255}.0/24`);
  await one.reconcile();
  await sql.begin((tx) => replaceFeed(tx, 'feed', many, now()));
  await one.changed();
  t.same(node.take(), ['whole'], 'so many that the whole list is cheaper');
  await sql.begin((tx) => replaceFeed(tx, 'feed', [...many.slice(1), '172.16.0.0/12'], now()));
  await one.changed();
  t.same(node.take(), ['+172.16.0.0/12 -10.0.0.0/24'], 'a feed that changed a little is a small change');
  t.equal(node.networks(), 6 + many.length);
  const before = node.networks();
  await Promise.all(
    Array.from({ length: 20 }, async (_, n) => {
      await add([`100.64.${n}.0/24`]);
      await (n % 2 === 0 ? one : two).changed();
    }),
  );
  await one.reconcile();
  await two.reconcile();
  t.equal(node.networks(), before + 20, 'many at once, over two servers: none is lost');
  t.same([await one.reconcile(), await two.reconcile()], ['', '']);
}

/** Imports, removals and feeds lock the same things in one order. */
async function together(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  const { token } = await at.user('operator');
  await Promise.all(
    Array.from({ length: 30 }, async (_, n) => {
      const added = await at.call('POST', '/api/threat-intel', {
        token,
        body: { addresses: [`192.0.2.${n % 5}`, '203.0.113.1'] },
      });
      if (added.status !== 200) t.fail(added.text);
      const removed = await at.call('DELETE', `/api/threat-intel?network=192.0.2.${(n + 1) % 5}`, { token });
      if (![204, 404].includes(removed.status)) t.fail(removed.text);
    }),
  );
  t.ok((await at.call('GET', '/api/threat-intel', { token })).body['items'].length > 0);
  await at.close();
}

t.test('changes of the deny list', (t) => onBothDatabases(t, 'changes', suite));
t.test('writers of the deny list', (t) => onBothDatabases(t, 'writers', together));
