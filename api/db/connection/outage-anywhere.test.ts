// P7: the database goes away at any moment of a request: in the middle of a transaction, between two statements, before
// an answer. The answer is that of an outage (503 with Retry-After), or that of the work done; never a failure of the
// server (500). A relay stands between the API and PostgreSQL and cuts all connections at the n-th thing that the API
// says, for every n that the request has.
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { startTestApp } from '../../testing/app.js';
import { startCluster, withoutPostgres } from '../../testing/databases.js';
import { until } from '../../testing/waiting.js';
import { openPostgres } from '../client.js';
import { loadModules, migrate } from '../migrate.js';
import { features } from '../../app.js';

/** `before`: what is said does not reach the server; `after`: it does, and no answer comes back. */
type Cut = 'before' | 'after';

interface Relay {
  readonly url: string;
  /** From now on: cuts at the n-th piece that a client says, and lets nobody in until it is fixed. */
  cutAt(n: number, how: Cut): void;
  fix(): void;
  readonly wasCut: boolean;
}

async function startRelay(t: Test, target: string): Promise<Relay> {
  const { hostname, port } = new URL(target);
  const pairs = new Set<readonly [Socket, Socket]>();
  let left = Number.POSITIVE_INFINITY;
  let how: Cut = 'before';
  let isCut = false;
  const cutAll = (): void => {
    isCut = true;
    for (const [client, server] of pairs) {
      client.resetAndDestroy();
      server.destroy();
    }
  };
  const relay = createServer((client) => {
    if (isCut) return void client.resetAndDestroy();
    const server = connect(Number(port), hostname);
    const pair = [client, server] as const;
    pairs.add(pair);
    for (const socket of pair) {
      socket.on('error', () => {}); // "close" follows
      socket.on('close', () => {
        pairs.delete(pair);
        client.destroy();
        server.destroy();
      });
    }
    client.on('data', (chunk) => {
      left -= 1;
      if (left > 0 || isCut) return void server.write(chunk);
      if (how === 'before') return cutAll();
      server.write(chunk, cutAll);
    });
    server.on('data', (chunk) => {
      if (!isCut) client.write(chunk);
    });
  });
  await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    cutAll();
    relay.close();
  });
  const url = new URL(target);
  url.host = `127.0.0.1:${(relay.address() as AddressInfo).port}`;
  return {
    url: url.href,
    cutAt(n, cut) {
      left = n;
      how = cut;
      isCut = false;
    },
    fix() {
      left = Number.POSITIVE_INFINITY;
      isCut = false;
    },
    get wasCut() {
      return isCut;
    },
  };
}

t.test('P7: a database that goes away at any moment of a request', { skip: withoutPostgres }, async (t) => {
  const cluster = await startCluster(t);
  const relay = await startRelay(t, await cluster.create());
  const database = openPostgres(relay.url);
  await migrate(database, await loadModules(features));
  const at = await startTestApp(database);
  t.teardown(async () => {
    relay.fix();
    await at.close();
    await database.close();
  });
  const { token } = await at.user('admin');
  let n = 0;
  const node = 'c'.repeat(40);
  const asks: Readonly<Record<string, () => ReturnType<typeof at.call>>> = {
    'POST /api/apply': () => at.call('POST', '/api/apply', { token }),
    'PATCH /api/settings': () => at.call('PATCH', '/api/settings', { token, body: { rl_events: 100 + (n += 1) } }),
    'POST /api/bans': () =>
      at.call('POST', '/api/bans', {
        token,
        body: { network: `203.0.113.${(n += 1) % 250}`, action: 'challenge', expires_in_seconds: 60, reason: 'x' },
      }),
    'POST /api/dataplane/records': () =>
      at.call('POST', '/api/dataplane/records', {
        token: node,
        body: { node: 'n', batch_id: `b${(n += 1)}`, requests: [], events: [] },
      }),
  };
  const turns: Cut[] = ['before', 'after'];
  for (const [index, [name, ask]] of Object.entries(asks).entries())
    for (const how of turns.slice(index % 2, 1 + (index % 2))) {
      let moments = 0;
      // each of the first, where transactions begin; then every third: a moment costs a second until the pool is back
      for (let moment = 1; ; moment += moment < 6 ? 1 : 3) {
        relay.cutAt(moment, how);
        const reply = await ask();
        const { wasCut } = relay;
        relay.fix();
        await until('the database answers', async () => (await at.call('GET', '/api/ready')).status === 200);
        if (!wasCut) break;
        moments += 1;
        const isOutage = reply.status === 503 && reply.headers['retry-after'] !== undefined;
        if (!isOutage && reply.status >= 500) t.fail(`${name}, ${how} word ${moment}: ${reply.text}`);
        if (moment > 200) break;
      }
      t.ok(moments > 0, `${name}, ${how}: ${moments} moments`);
    }
});
