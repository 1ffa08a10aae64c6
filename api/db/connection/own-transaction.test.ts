import t from 'tap';
import { openEmbedded } from '../client.js';
import { copyEmbeddedTemplate } from '../../testing/database-templates.js';
import { pause, testMsMax } from '../../testing/waiting.js';

t.setTimeout(testMsMax);

const database = await openEmbedded(await copyEmbeddedTemplate(t), { ownWaitMs: 300 });
t.teardown(() => database.close());
const { sql } = database;
await sql`create table kept (id integer)`;
const ids = async (): Promise<number[]> =>
  (await sql<{ id: number }[]>`select id from kept order by id`).map(({ id }) => id);

t.test('a statement on the pool that its own transaction waits for is refused, and the database goes on', async (t) => {
  const ways: readonly (readonly [string, () => Promise<unknown>])[] = [
    ['a statement', async () => sql`insert into kept values (1)`],
    ['a statement as text', async () => sql.unsafe('insert into kept values (1)')],
    ['another transaction', async () => sql.begin((other) => other`insert into kept values (1)`)],
    ['deep inside', async () => pause(1).then(async () => (await sql`insert into kept values (1)`).length)],
  ];
  for (const [what, ask] of ways) {
    const work = sql.begin(async (tx) => {
      await tx`insert into kept values (2)`;
      await ask();
    });
    await t.rejects(work, { message: /on the pool by code of an open transaction/ }, what);
    t.same(await ids(), [], `${what}: nothing of it is stored, also not later`);
  }
});

t.test('what waits for nothing of its own goes on as ever', async (t) => {
  let started: Promise<unknown> = Promise.resolve();
  let later: Promise<unknown> = Promise.resolve();
  await sql.begin(async (tx) => {
    started = sql`insert into kept values (3)`.execute(); // nobody in here waits for it
    later = pause(400).then(async () => sql`insert into kept values (4)`);
    const rest = sql`where id = ${5}`; // a part of a statement is none
    await tx`insert into ${sql('kept')} values (5)`;
    t.equal((await tx`select id from kept ${rest}`).length, 1);
    await tx.savepoint(async (inner) => inner`insert into kept values (6)`);
  });
  await Promise.all([started, later]);
  t.same(await ids(), [3, 4, 5, 6]);
});

t.test('others wait for a long transaction for as long as it takes', async (t) => {
  let sent: (() => void) | undefined;
  const begun = new Promise<void>((resolve) => (sent = resolve));
  const long = sql.begin(async (tx) => {
    await tx`delete from kept`;
    sent?.();
    await pause(700);
  });
  await begun;
  t.same(await ids(), []);
  await long;
});
