// Long reads by a real streaming replica: others may be a moment behind, who wrote is not, and nothing fails when the
// replica is behind or away.
import t from 'tap';
import { startTestApp, type TestApp } from '#api/testing/app';
import { databaseOf, openReplica, startMigratedCluster, startReplica, withoutPostgres } from '#api/testing/databases';
import { testMsMax, until } from '#api/testing/waiting';
import { Client } from '../../testing/import-client.js';

t.setTimeout(testMsMax);
const times = { lagMsMax: 4000, everyMs: 100, answerMsMax: 2000 };

t.test('reads from a replica', { skip: withoutPostgres }, async (t) => {
  const cluster = await startMigratedCluster();
  const { database, name } = await databaseOf(t, cluster);
  const server = await startReplica(t, cluster, name);
  const makeApp = async (): Promise<TestApp> => {
    const replica = openReplica(server.url, database, times);
    const at = await startTestApp(database, { replica });
    t.teardown(async () => {
      await at.close();
      await replica.close();
    });
    return at;
  };
  const [one, two] = [await makeApp(), await makeApp()];
  const [writer, other] = [await one.user('admin'), await one.user('admin')];
  const writes = new Client(one, writer.token);
  const application = String((await writes.call('POST', '/applications', { name: 'Shop' })).body['id']);
  let made = 0;
  const write = async (): Promise<number> => {
    const body = { application_id: application, title: `finding ${(made += 1)}`, severity: 'high' };
    t.equal((await writes.call('POST', '/vulnerabilities', body)).status, 201);
    return made;
  };
  const seen = async (at: TestApp, token: string): Promise<number> => {
    const reply = await new Client(at, token).call('GET', '/findings?limit=500');
    t.equal(reply.status, 200, reply.text.slice(0, 200));
    return (reply.body['items'] as unknown[]).length;
  };
  const stateOf = async (at: TestApp) =>
    (await at.call('GET', '/api/health')).body['replica'] as { status: string; lag_seconds: number | null };
  const isOk = async (): Promise<boolean> =>
    (await stateOf(one)).status === 'ok' && (await stateOf(two)).status === 'ok';

  await write();
  await until('the replica is used', isOk);
  await until('it has all', async () => (await seen(one, other.token)) === 1);

  await server.setReplaying(false);
  await write();
  t.equal(await seen(one, writer.token), 2, 'who wrote sees it');
  t.equal(await seen(two, writer.token), 2, 'by another control plane as well');
  t.equal(await seen(one, other.token), 1, 'others are answered by the replica');
  t.match((await new Client(one, writer.token).call('GET', '/findings/facets')).body, { severity: { high: 2 } });
  await until('it is too far behind', async () => (await stateOf(one)).status === 'lagging');
  t.ok(((await stateOf(one)).lag_seconds ?? 0) > 4);
  t.equal(await seen(one, other.token), 2, 'then the primary answers');
  await server.setReplaying(true);
  await until('it has caught up', isOk);
  await write();
  await until('others see what came', async () => (await seen(two, other.token)) === 3);
  await until('who wrote is answered by the replica again', async () => {
    const { sql } = database;
    const [row] = await sql<{ at: Date }[]>`select max(at) as at from vm_last_writes`;
    return (one.parts.replica?.freshAt()?.getTime() ?? 0) > (row?.at.getTime() ?? Number.POSITIVE_INFINITY);
  });
  t.equal(await seen(one, writer.token), 3);

  await server.crash();
  t.equal(await seen(one, other.token), 3, 'the moment it dies');
  await until('its end is noticed', async () => (await stateOf(one)).status === 'away');
  await write();
  t.equal(await seen(one, other.token), 4, 'while it is away');
  const { components } = (await new Client(one, writer.token).call('GET', '/health_monitor')).body as never as {
    components: { id: string; state: string; summary: string }[];
  };
  t.match(
    components.find(({ id }) => id === 'replica'),
    { state: 'warning', summary: /^Away: / },
  );
  await server.start();
  await until('it is back', isOk);
  t.equal(await seen(one, writer.token), 4, 'who wrote');
  // they may see less for as long as it may be behind
  await until('others see it, too', async () => (await seen(one, other.token)) === 4);
});

t.test('what is no replica of this database is not read from', { skip: withoutPostgres }, async (t) => {
  const cluster = await startMigratedCluster();
  const { database, url } = await databaseOf(t, cluster);
  const itself = openReplica(url, database, times);
  t.teardown(() => itself.close());
  await until('it was asked', async () => itself.state().trouble === 'it follows no primary');
  t.equal(itself.freshAt(), null);
});
