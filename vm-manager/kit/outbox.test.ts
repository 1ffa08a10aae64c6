// The sender of events: with the transaction, in order, at least once, and whatever becomes of the taker.
import { EventEmitter, once } from 'node:events';
import t, { type Test } from 'tap';
import { startTestApp } from '#api/testing/app';
import { onBothDatabases } from '#api/testing/databases';
import { Organisation } from '../testing/organisation.js';
import { emit, type NewEvent } from './events.js';
import { handOver, type OutboxEvent } from './outbox.js';

type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];
const now = new Date('2026-05-01T12:00:00Z');
const eventOf = (entityId: number, more: Partial<NewEvent> = {}): NewEvent => ({
  type: 'import.done',
  entity: 'run',
  entityId,
  applicationId: null,
  ...more,
});

async function suite(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const { sql } = database;
  const waiting = async (): Promise<number> =>
    (await sql<{ n: number }[]>`select count(*)::int as n from vm_outbox`)[0]?.n ?? -1;
  const taken: OutboxEvent[] = [];
  const take = async (_tx: unknown, events: readonly OutboxEvent[]): Promise<void> => void taken.push(...events);
  const takenIds = (): string[] => taken.splice(0).map(({ entity_id: id }) => id);

  await t.test('14.outbox: an event is there with its transaction or not at all, and once by its key', async (t) => {
    const lost = sql.begin(async (tx) => {
      await emit(tx, [eventOf(1)], now);
      throw new Error('cut off');
    });
    await t.rejects(lost, /cut off/);
    t.equal(await waiting(), 0);
    for (let i = 0; i < 2; i++) await sql.begin((tx) => emit(tx, [eventOf(2, { key: 'once' })], now));
    t.equal(await handOver(sql, take), 1);
    t.match(taken, [{ type: 'import.done', told: 'a report was imported', at: now, entity_id: '2', title: null }]);
    t.equal(await handOver(sql, take), 0);
    t.strictSame(takenIds(), ['2']);
  });

  await t.test('14.outbox: a taker that fails gets the same again; what it kept before stays kept', async (t) => {
    const all = Array.from({ length: 1203 }, (_, index) => eventOf(index + 1));
    await sql.begin((tx) => emit(tx, all, now));
    await sql`create table kept_by_test (place serial, id text)`;
    let calls = 0;
    const keep = async (tx: typeof sql, events: readonly OutboxEvent[]): Promise<void> => {
      await tx`insert into kept_by_test ${tx(events.map(({ entity_id: id }) => ({ id })))}`;
      if (++calls === 2) throw new Error('ended');
    };
    await t.rejects(handOver(sql, keep as never), /ended/);
    t.equal(await waiting(), 703, 'the batch that failed waits, whole');
    t.equal(await handOver(sql, keep as never), 703);
    const rows = await sql<{ id: string }[]>`select id from kept_by_test order by place`;
    t.strictSame(
      rows.map(({ id }) => Number(id)),
      all.map(({ entityId }) => entityId),
      'each once, in order',
    );
    await sql`drop table kept_by_test`;
  });

  await t.test('14.outbox: a transaction that commits late holds up nobody, and its events come', async (t) => {
    if (database.kind !== 'postgres') return; // the embedded one has one transaction at a time
    const steps = new EventEmitter();
    const [written, late] = [once(steps, 'written'), once(steps, 'late')];
    const first = sql.begin(async (tx) => {
      await emit(tx, [eventOf(1)], now);
      steps.emit('written');
      await late;
    });
    await written;
    await sql.begin((tx) => emit(tx, [eventOf(2)], now));
    t.equal(await handOver(sql, take), 1);
    t.strictSame(takenIds(), ['2']);
    steps.emit('late');
    await first;
    const both = await Promise.all([handOver(sql, take), handOver(sql, take)]);
    t.equal(both[0] + both[1], 1, 'two senders hand it over once');
    t.strictSame(takenIds(), ['1']);
  });

  await t.test('14.outbox: it says what it knew then, also of an application that is gone; none listens', async (t) => {
    const { token } = await at.user('admin');
    const here = new Organisation(at, token);
    const shop = await here.application('Shop');
    const finding = await here.finding(shop, 'CWE-89', 'SQL of a stranger');
    await handOver(sql, undefined);
    t.equal(await waiting(), 0, 'without a taker nothing is kept');
    const move = { to: 'triaged', reason: 'seen' };
    t.equal((await here.call('POST', `/vulnerabilities/${finding}/transition`, move)).status, 200);
    await sql`delete from vm_applications where id = ${shop}`;
    t.equal(await handOver(sql, take), 1);
    t.match(taken, [
      {
        type: 'finding.transition',
        entity_id: finding,
        application_id: shop,
        application: 'Shop',
        title: 'SQL of a stranger',
        severity: 3,
        is_open: true,
        payload: { from: 'new', to: 'triaged' },
      },
    ]);
    taken.splice(0);
  });
}

t.test('the outbox', (t) => onBothDatabases(t, 'vm_outbox', suite));
