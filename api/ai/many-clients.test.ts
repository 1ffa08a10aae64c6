// What is written for clients takes a number of statements that does not grow with them, and stores what a statement
// for each would.
import t, { type Test } from 'tap';
import type { Database, Tx } from '../db/client.js';
import { migrate } from '../db/migrate.js';
import { allModules } from '../app.js';
import { addBans, findLifted } from '../edge/store.js';
import { listDenied, listMeasures } from '../measures/query.js';
import { addEachDenial, decide, liftMeasures } from '../measures/store.js';
import { seedSettings } from '../settings/store.js';
import { onBothDatabases } from '../testing/databases.js';
import { saveVerdicts, type Measure, type NewVerdict } from './store.js';

const now = new Date('2026-03-01T12:00:00.000Z');
const until = new Date('2026-03-01T12:10:00.000Z');
const addressOf = (number: number): string => `203.${number >> 16}.${(number >> 8) & 255}.${number & 255}`;
const clients = (count: number): string[] => Array.from({ length: count }, (_, number) => addressOf(number));

function verdict(address: string, rung: 'RATE_LIMIT' | 'BLOCK', measure: Measure): NewVerdict {
  const scored = { verdict: rung, risk: 80, confidence: 70, signals: [], note: 'é "quoted" \\ \u0001' };
  return {
    vector: { address, sessions: 1, note: '0.1' } as unknown as NewVerdict['vector'],
    scored: scored as unknown as NewVerdict['scored'],
    weights: { a: 0.1 + 0.2 } as unknown as NewVerdict['weights'],
    ...{ threshold: 60, version: '1' as NewVerdict['version'], action: 'block', measure },
  };
}

/** Runs it in a transaction; returns how many statements it took. */
async function statements(database: Database, work: (tx: Tx) => Promise<unknown>): Promise<number> {
  let count = 0;
  await database.sql.begin((tx) =>
    work(
      new Proxy(tx, {
        apply(target, self, given) {
          count += 1;
          return Reflect.apply(target, self, given) as unknown;
        },
      }),
    ),
  );
  return count;
}

const nothing: Measure = { enforced: null, until: null, heldBack: null };

const writers: Readonly<Record<string, (tx: Tx, addresses: readonly string[]) => Promise<unknown>>> = {
  denials: (tx, addresses) =>
    addEachDenial(
      tx,
      addresses.map((network) => ({ subject: network, reason: `reason of ${network}`, expiresAt: until })),
      { source: 'ai', addedBy: 'test' },
      now,
    ),
  'verdicts at the edge': (tx, addresses) =>
    decide(
      tx,
      addresses.map((subject) => ({ subject, action: 'challenge', reason: `reason of ${subject}`, expiresAt: until })),
      { source: 'manual', addedBy: 'test' },
      now,
    ),
  bans: (tx, addresses) =>
    addBans(
      tx,
      'http://127.0.0.1:1',
      addresses.map((network) => ({
        ...{ network, zone: 'login', requestId: 'r', offence: 1, threshold: 5, windowSeconds: 60 },
        ...{ atMs: now.getTime(), untilMs: until.getTime() },
      })),
    ),
  'bans that were lifted': async (tx, addresses) => {
    const bans = addresses.map((network) => ({
      ...{ network, zone: 'login', requestId: 'r', offence: 1, threshold: 5, windowSeconds: 60 },
      ...{ atMs: now.getTime(), untilMs: until.getTime() },
    }));
    await addBans(tx, 'http://127.0.0.1:2', bans);
    await liftMeasures(tx, { subjects: addresses, actions: ['deny'], sources: ['auto-ban'] }, 'test', now);
    const lifted = await findLifted(tx, 'http://127.0.0.1:2', bans);
    if (lifted.length !== addresses.length) throw new Error(`${lifted.length} of ${addresses.length} were lifted`);
  },
  'verdicts of the engine': (tx, addresses) =>
    saveVerdicts(
      tx,
      addresses.map((address) => verdict(address, 'RATE_LIMIT', nothing)),
      now,
    ),
};

async function suite(t: Test, database: Database): Promise<void> {
  await migrate(database, await allModules());
  await seedSettings(database, now);
  for (const [name, write] of Object.entries(writers)) {
    const few = await statements(database, (tx) => write(tx, clients(10)));
    const many = await statements(database, (tx) => write(tx, clients(2000)));
    const again = await statements(database, (tx) => write(tx, clients(2000)));
    t.ok(many <= few + 10, `${name}: ${few} statements for 10 clients, ${many} for 2000`);
    t.ok(again <= few + 10, `${name}: ${again} for the same clients again`);
  }
  const denied = await listDenied(database.sql, { after: ['', ''], source: 'ai', q: undefined, now }, 5000);
  t.equal(denied.length, 2000);
  t.ok(denied.every((row) => row.reason === `reason of ${row.network}` && row.expires_at?.getTime() === +until));
  const atEdge = await listMeasures(database.sql, { actions: 'challenge', states: 'active' }, null, now, 5000);
  t.equal(atEdge.length, 2000);
  t.ok(atEdge.every((row) => row.reason === `reason of ${row.subject}` && row.expires_at?.getTime() === +until));
  const [bans] = await database.sql`
    select count(*) as all, count(distinct subject) as networks from client_measures
    where source = 'auto-ban' and evidence ->> 'node' like '%:1'`;
  t.match(bans, { all: 2000, networks: 2000 }, 'a ban that is known comes once');

  const address = addressOf(7);
  const rows = () => database.sql`select * from ai_verdicts where address = ${address} order by id`;
  t.match(await rows(), [{ rounds: 3, enforced: null, enforced_until: null, action: 'block' }]);
  t.match((await rows())[0], {
    vector: JSON.stringify({ address, sessions: 1, note: '0.1' }),
    weights: '{"a":0.30000000000000004}',
  });
  const save = (rung: 'RATE_LIMIT' | 'BLOCK', measure: Measure) =>
    database.sql.begin((tx) => saveVerdicts(tx, [verdict(address, rung, measure)], now));
  t.equal(await save('RATE_LIMIT', { enforced: 'throttle', until, heldBack: null }), 0);
  t.match(await rows(), [{ rounds: 4, enforced: 'throttle', enforced_until: until, held_back: null }]);
  t.equal(await save('RATE_LIMIT', { enforced: null, until: null, heldBack: 'lifted' }), 0);
  t.match(await rows(), [{ rounds: 5, enforced: 'throttle', enforced_until: until, held_back: 'lifted' }]);
  t.equal(await save('BLOCK', { enforced: 'deny', until, heldBack: null }), 1, 'a stronger one has a row of its own');
  t.match(await rows(), [{ verdict: 'RATE_LIMIT' }, { verdict: 'BLOCK', enforced: 'deny' }]);

  await database.sql.begin((tx) =>
    addEachDenial(
      tx,
      [
        { subject: address, reason: 'first', expiresAt: now },
        { subject: address, reason: 'second', expiresAt: null },
      ],
      { source: 'ai', addedBy: 'test' },
      now,
    ),
  );
  const [after] = await database.sql`
    select reason, expires_at from client_measures where subject = ${address} and source = 'ai'`;
  t.match(after, { reason: 'second', expires_at: null }, 'of two for one network the later holds');
}

t.test('many clients', (t) => onBothDatabases(t, 'many clients', suite));
