// Datasets through the API: what is declared is what the views have; increments miss nothing and repeat nothing; every
// format has the same rows; sums are those of the rows; a part of the organisation sees its own.
import t, { type Test } from 'tap';
import fc from 'fast-check';
import { parquetReadObjects } from 'hyparquet';
import { startTestApp } from '#api/testing/app';
import { onOneDatabase } from '#api/testing/databases';
import { exercise } from '../testing/api/examples.js';
import { Client, type Json } from '../testing/import-client.js';
import { scanKinds } from '../scanners/contract.js';
import { datasets } from './datasets.js';

type Database = Parameters<Parameters<typeof onOneDatabase>[2]>[1];
const signal = new AbortController().signal;

async function start(t: Test, database: Database) {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const { token } = await at.user('admin');
  // sessions end while the clock of the test goes on
  const made = await new Client(at, token).call('POST', '/tokens', { name: 't', scopes: ['admin'] });
  const client = new Client(at, String(made.body['token']));
  const shop = String((await client.call('POST', '/applications', { name: 'Shop, "one"' })).body['id']);
  const other = String((await client.call('POST', '/applications', { name: 'Other' })).body['id']);
  const finding = async (title: string, severity = 'high', application = shop): Promise<string> => {
    const body = { application_id: application, title, severity, cwe: ['CWE-89', 'CWE-79'] };
    const reply = await client.call('POST', '/vulnerabilities', body);
    if (reply.status !== 201) throw new Error(reply.text);
    return String(reply.body['id']);
  };
  const settle = (): void => void (at.clock.nowMs += 120_000);
  const read = async (dataset: string, query: string, who = client) => {
    const url = `/api/v1/bi/datasets/${dataset}/export?${query}`;
    const headers = { authorization: `Bearer ${who.token}` };
    const reply = await at.app.inject({ method: 'GET', url, headers });
    if (reply.statusCode !== 200) throw new Error(reply.body);
    const cursor = String(reply.headers['x-next-cursor']);
    return {
      text: reply.body,
      bytes: reply.rawPayload,
      cursor,
      hasMore: reply.headers['x-has-more'] === 'true',
      headers: reply.headers,
    };
  };
  const lines = async (dataset: string, query = '', who = client) => {
    const got = await read(dataset, `format=jsonl&${query}`, who);
    return { ...got, rows: got.text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Json])) };
  };
  return { at, client, database, shop, other, finding, settle, read, lines };
}
type Started = Awaited<ReturnType<typeof start>>;

async function declared(t: Test, { client, database }: Started): Promise<void> {
  const [view] = await database.sql<{ text: string }[]>`select pg_get_viewdef('bi_scans_v1'::regclass) as text`;
  for (const kind of ['import', ...scanKinds, 'dast']) t.match(view?.text, `'${kind}'`, `scans: ${kind}`);
  const { items } = (await client.call('GET', '/bi/datasets')).body as { items: Json[] };
  t.equal(items.length, datasets.length);
  const kinds: Readonly<Record<string, RegExp>> = {
    text: /^text$/,
    integer: /^(bigint|integer)$/,
    number: /^double precision$/,
    boolean: /^boolean$/,
    time: /^timestamp with time zone$/,
    date: /^date$/,
  };
  for (const { view, columns } of items) {
    const rows = await database.sql<{ name: string; type: string }[]>`
      select column_name as name, data_type as type from information_schema.columns
      where table_name = ${String(view)} order by ordinal_position`;
    t.strictSame(
      (columns as Json[]).map(({ name }) => name),
      rows.map(({ name }) => name),
      `${String(view)} has the columns that are declared`,
    );
    for (const [index, { name, type, about }] of (columns as Json[]).entries()) {
      t.match(rows[index]?.type, kinds[String(type)], `${String(view)}.${String(name)} is ${String(type)}`);
      t.match(about, /\S/);
    }
  }
}

async function increments(t: Test, started: Started): Promise<void> {
  const { client, finding, settle, lines, at } = started;
  const first = await finding('First');
  t.equal((await lines('findings')).rows.length, 0, 'what has just changed waits for a minute');
  settle();
  const begin = await lines('findings');
  t.match(begin.rows, [{ id: Number(first), severity: 'high', is_open: true, cwes: 'CWE-89 CWE-79', closed_at: null }]);
  const nothing = await lines('findings', `cursor=${begin.cursor}`);
  t.strictSame([nothing.rows, nothing.cursor], [[], begin.cursor], 'nothing is new, and the cursor stays');
  const second = await finding('Second', 'low');
  await client.call('POST', `/vulnerabilities/${first}/transition`, { to: 'triaged', reason: 'r' });
  settle();
  const next = await lines('findings', `cursor=${begin.cursor}`);
  t.strictSame(
    next.rows.map(({ id, status }) => [String(id), status]).sort(),
    [
      [first, 'triaged'],
      [second, 'new'],
    ].sort(),
    'the new one, and the changed one once more',
  );
  for (let count = 0; count < 23; count++) await finding(`Row ${count}`, count % 2 === 0 ? 'medium' : 'critical');
  settle();
  const all = (await lines('findings', 'limit=50000')).rows.map(({ id }) => Number(id));
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 4 }), async (sizes) => {
      const seen: number[] = [];
      for (let cursor = '', page = 0, more = true; more; page++) {
        const size = sizes[page % sizes.length];
        const got = await lines('findings', `limit=${size}${cursor === '' ? '' : `&cursor=${cursor}`}`);
        seen.push(...got.rows.map(({ id }) => Number(id)));
        [cursor, more] = [got.cursor, got.hasMore];
      }
      t.strictSame(seen, all);
    }),
    { numRuns: 5, seed: Number(process.env['SEED'] ?? 30) },
  );
  for (const cursor of ['x', Buffer.from('["sla",1,"2026-01-01T00:00:00.000000Z",1]').toString('base64url')])
    t.match(await client.call('GET', `/bi/datasets/findings/export?cursor=${cursor}`), { status: /4\d\d/ });
  t.equal((await client.call('GET', '/bi/datasets/none/export')).status, 404);
  at.clock.nowMs += 1;
}

async function sameInEachFormat(t: Test, { client, at, settle, lines, read, shop }: Started): Promise<void> {
  await client.call('POST', '/gate/evaluate', { application_id: shop, commit: 'abcdef1' });
  await client.send(shop, 'title,severity,file\n=1+1,high,a.js\n', { format: 'csv' });
  await at.jobs.find(({ name }) => name === 'vm-posture')?.run({ nowMs: at.clock.nowMs, signal });
  settle();
  at.clock.nowMs += 26 * 3_600_000;
  for (const { id, columns } of datasets) {
    const { rows, headers } = await lines(id);
    t.ok(rows.length > 0, `${id} has rows`);
    t.match(headers, { 'x-rows': String(rows.length), 'x-dataset-version': '1' });
    const { bytes, headers: told } = await read(id, 'format=parquet');
    t.equal(told['content-type'], 'application/vnd.apache.parquet');
    const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer;
    const found = (await parquetReadObjects({ file })).map((row) =>
      Object.fromEntries(
        columns.map(({ name }) => {
          const value: unknown = row[name] ?? null;
          return [
            name,
            typeof value === 'bigint' ? Number(value) : value instanceof Date ? value.toISOString() : value,
          ];
        }),
      ),
    );
    t.strictSame(found, rows, `${id} as Parquet`);
    const csv = (await read(id, 'format=csv')).text;
    t.equal(csv.split('\r\n')[0], columns.map(({ name }) => name).join(','));
    t.ok(csv.split('\r\n').length > rows.length);
  }
  t.match((await read('findings', 'format=csv')).text, /'=1\+1/, 'no cell is a formula');
}

async function sums(t: Test, { client, lines }: Started): Promise<void> {
  const { rows } = await lines('findings', 'limit=50000');
  const asked = await client.call('POST', '/bi/query', {
    dataset: 'findings',
    measures: ['count', 'avg:effective_risk', 'max:first_seen'],
    dimensions: ['severity'],
  });
  t.equal(asked.status, 200, asked.text);
  t.strictSame(asked.body['columns'], ['severity', 'count', 'avg:effective_risk', 'max:first_seen']);
  for (const [severity, count, average] of asked.body['rows'] as [string, number, number][]) {
    const those = rows.filter((row) => row['severity'] === severity);
    t.equal(count, those.length, severity);
    const mean = those.reduce((sum, row) => sum + Number(row['effective_risk']), 0) / those.length;
    t.ok(Math.abs(average - mean) < 1e-9, `${severity}: ${average} is ${mean}`);
  }
  const month = await client.call('POST', '/bi/query', {
    dataset: 'findings',
    measures: ['count'],
    dimensions: ['month:first_seen'],
    predicate: { field: 'severity', op: 'eq', value: 'low' },
  });
  t.strictSame(month.body['rows'], [['2026-03-01', 1]]);
  for (const [body, detail] of [
    [{ dataset: 'findings', measures: ['sum:title'] }, /\/measures\/0 does not fit/],
    [{ dataset: 'findings', measures: ['count(*);'] }, /\/measures\/0/],
    [{ dataset: 'findings', measures: ['count'], dimensions: ['year:first_seen'] }, /\/dimensions\/0/],
    [
      { dataset: 'findings', measures: ['count'], predicate: { field: 'secret', op: 'eq', value: 1 } },
      /must be one of/,
    ],
    [{ dataset: 'users', measures: ['count'] }, /dataset/],
  ] as const)
    t.match(await client.call('POST', '/bi/query', body), { status: 422, body: { detail } });
  await exercise(t, client, '/bi', (path) => path.replace(':id', 'example'));
}

async function parts(t: Test, { at, other, finding, settle, lines }: Started): Promise<void> {
  await finding('Of the other', 'high', other);
  settle();
  const person = await at.user('viewer');
  const granted = await new Client(at, (await at.user('admin')).token).call('PUT', `/rbac/grants/${person.id}`, {
    items: [{ scope: 'application', scope_id: other, role: 'viewer' }],
    confined: true,
  });
  t.equal(granted.status, 200, granted.text);
  const confined = new Client(at, person.token);
  for (const { id } of datasets) {
    const { rows } = await lines(id, 'limit=50000', confined);
    t.ok(
      rows.every((row) => String(row['application_id']) === other),
      `${id}: nothing of other applications`,
    );
  }
  const count = { dataset: 'findings', measures: ['count'] };
  t.strictSame((await confined.call('POST', '/bi/query', count)).body['rows'], [[1]], 'nor in a sum');
}

t.test('datasets', (t) =>
  onOneDatabase(t, 'bi', async (t, database) => {
    const started = await start(t, database);
    await t.test('30.bi: the views have the columns that are declared', (t) => declared(t, started));
    await t.test('30.bi: increments miss nothing and repeat nothing', (t) => increments(t, started));
    await t.test('30.bi: CSV, JSON Lines and Parquet have the same rows', (t) => sameInEachFormat(t, started));
    await t.test('30.bi: sums are those of the rows', (t) => sums(t, started));
    await t.test('30.bi: a part of the organisation sees its own', (t) => parts(t, started));
  }),
);
