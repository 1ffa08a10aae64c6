// How clients shook hands, kept beside their requests: stored, shown and searched on both databases.
import t, { type Test } from 'tap';
import type { Database } from '../db/client.js';
import { startTestApp } from '../testing/app.js';
import { event, request } from '../testing/builders/records.js';
import { onBothDatabases } from '../testing/databases.js';

const ja3 = 'cd08e31494f9531f560d64c695473da9';
const ja4 = 't13d1516h2_8daaf6152771_e5627efa2ab1';

async function suite(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const { token } = await at.user('viewer');
  const batch = {
    node: 'n1',
    batch_id: 'b1',
    requests: [
      request(1, { ja3, ja4 }),
      request(2, { ja3: ja3.replace('c', 'd'), ja4 }),
      request(3), // without TLS, or from a node that does not tell yet
    ],
    events: [event(1, { details: { tls: { ja3, ja4, version: 'TLSv1.3' } } }), event(3)],
  };
  t.match(await at.call('POST', '/api/dataplane/records', { token: 'c'.repeat(40), body: batch }), {
    status: 200,
    body: { stored: 5 },
  });
  const list = async (path: string): Promise<Record<string, unknown>[]> =>
    (await at.call('GET', path, { token })).body['items'] as Record<string, unknown>[];
  const ids = async (path: string): Promise<unknown[]> => (await list(path)).map((row) => row['request_id']).sort();

  await t.test('E2: requests show both fingerprints, and none where the client came without TLS', async (t) => {
    const found = (await list('/api/requests')).sort((a, b) => Number(a['id']) - Number(b['id']));
    t.same(
      found.map((row) => [row['ja3'], row['ja4']]),
      [
        [ja3, ja4],
        [ja3.replace('c', 'd'), ja4],
        [null, null],
      ],
    );
  });
  await t.test('E2: requests and events are found by fingerprint, with other filters', async (t) => {
    t.same(await ids(`/api/requests?ja3=${ja3}`), ['r1']);
    t.same(await ids(`/api/requests?ja4=${ja4}`), ['r1', 'r2']);
    t.same(await ids(`/api/requests?ja4=${ja4}&request_id=r2`), ['r2']);
    t.same(await ids(`/api/requests?ja3=${'0'.repeat(32)}`), []);
    t.same(await ids(`/api/events?ja4=${ja4}`), ['r1']);
    t.same(await ids(`/api/events?ja3=${ja3}`), ['r1']);
    t.same(await ids(`/api/events?ja3=${'0'.repeat(32)}`), []);
  });
  await t.test('E2: what is no fingerprint is refused and named', async (t) => {
    for (const [query, path] of [
      ['ja3=abc', '/ja3'],
      [`ja3=${ja3.toUpperCase()}`, '/ja3'],
      ['ja4=t13d1516h2', '/ja4'],
      [`ja4=${ja4}'--`, '/ja4'],
    ] as const)
      for (const list of ['requests', 'events'])
        t.match(
          await at.call('GET', `/api/${list}?${query}`, { token }),
          { status: 400, body: { errors: [{ path }] } },
          `${list} ${query}`,
        );
  });
}

t.test('fingerprints', (t) => onBothDatabases(t, 'fingerprints', suite));
