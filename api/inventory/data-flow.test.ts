// U5: personal data by endpoint, from an archive to the answer.
import t, { type Test } from 'tap';
import type { Database } from '../db/client.js';
import { startTestApp } from '../testing/app.js';
import { onBothDatabases } from '../testing/databases.js';

async function suite(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const { token } = await at.user('operator');
  const entry = (url: string, body: object, headers: object[] = []) => ({
    startedDateTime: '2026-03-01T11:00:00Z',
    time: 3,
    request: { method: 'GET', url, headers },
    response: { status: 200, headers: [], content: { mimeType: 'application/json', text: JSON.stringify(body) } },
  });
  const person = { name: 'A', email: 'canary@people.example', cards: [{ pan: '4111111111111111' }] };
  const key = [{ name: 'Authorization', value: 'Bearer abcdefgh' }];
  const entries = [
    entry('https://shop.example/people/7', person),
    entry('https://shop.example/staff/9', { mail: 'other@people.example' }, key),
    entry('https://shop.example/prices', { list: [1, 2] }),
  ];
  const sent = await at.call('POST', '/api/ingest', { token, body: { log: { entries } } });
  t.match(sent.body, { accepted: 3 });
  const flow = await at.call('GET', '/api/data-flow', { token });
  t.match(flow.body, { total: 2, unprotected: 1, sites: [{ site: 'shop.example', endpoints: 2, unprotected: 1 }] });
  const [open, kept] = flow.body['items'] as Record<string, unknown>[];
  t.match(open, {
    template: '/people/{id}',
    classification: 'Restricted',
    categories: ['card', 'email'],
    regulations: ['GDPR', 'PCI-DSS', 'PII'],
    unprotected: true,
  });
  t.same(open?.['places'], [
    { side: 'response', pointer: '/email', categories: { email: 1 } },
    { side: 'response', pointer: '/cards/*/pan', categories: { card: 1 } },
  ]);
  t.match(kept, { template: '/staff/{id}', classification: 'Confidential', unprotected: false });
  const cut = await at.call('GET', '/api/data-flow?limit=1', { token });
  t.match(cut.body, { total: 2, unprotected: 1 }, 'X4: what is counted is said beside a list that is cut');
  t.equal(cut.body['items'].length, 1);
  const byKind = await at.call('GET', '/api/data-flow?category=card&limit=1', { token });
  t.match(byKind.body, { total: 1, items: [{ template: '/people/{id}' }] }, 'X4: it counts under the filters');
  t.equal((await at.call('GET', '/api/data-flow?category=card', { token })).body['items'].length, 1);
  t.equal((await at.call('GET', '/api/data-flow?unprotected=false', { token })).body['items'].length, 1);
  for (const table of ['api_cells', 'api_endpoints', 'api_taken']) {
    const [row] = await database.sql<{ text: string }[]>`
      select coalesce(json_agg(x)::text, '') as text from ${database.sql(table)} x`;
    t.notMatch(row?.text, /canary|4111111111111111|other@people|abcdefgh/, `no value is in ${table}`);
  }
}

t.test('U5: data flow', (t) => onBothDatabases(t, 'places of personal data', suite));
