// Dashboards through the API: made of metrics that all answer, saved with versions, and each reader's own numbers.
import t, { type Test } from 'tap';
import { startTestApp } from '#api/testing/app';
import { onOneDatabase } from '#api/testing/databases';
import { exercise } from '../../testing/api/examples.js';
import { Client, type Json } from '../../testing/import-client.js';
import { metrics } from './metrics.js';

type Database = Parameters<Parameters<typeof onOneDatabase>[2]>[1];

async function start(t: Test, database: Database) {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const client = new Client(at, (await at.user('admin')).token);
  const application = await client.application();
  for (const severity of ['critical', 'high', 'low'])
    await client.call('POST', '/vulnerabilities', { application_id: application, title: severity, severity });
  return { at, client, application };
}
type Started = Awaited<ReturnType<typeof start>>;

const ask = (client: Client, { dataset, measure, predicate }: Json, by: string | null) =>
  client.call('POST', '/bi/query', {
    ...{ dataset, measures: [measure], dimensions: by === null ? [] : [by] },
    ...(predicate === null ? {} : { predicate }),
  });

async function answered(t: Test, { at, client }: Started): Promise<void> {
  const { body } = await client.call('GET', '/bi/dashboards');
  t.match(body['items'], [{ id: 'overview', version: 0, saved_by: null }]);
  t.equal(body['metrics'].length, metrics.length);
  for (const metric of body['metrics'] as Json[])
    for (const by of [null, ...(metric['by'] as string[])]) {
      const reply = await ask(client, metric, by);
      t.equal(reply.status, 200, `${metric['id']} by ${by}: ${reply.text.slice(0, 200)}`);
    }
  const metric = (id: string): Json => (body['metrics'] as Json[]).find((one) => one['id'] === id) ?? {};
  t.same((await ask(client, metric('open_findings'), null)).body['rows'], [[3]]);
  t.same((await ask(client, metric('severe_findings'), 'severity')).body['rows'].length, 2);
  const elsewhere = await client.application();
  const made = await client.call('POST', '/tokens', { name: 'p', scopes: ['read'], application_ids: [elsewhere] });
  const part = new Client(at, String(made.body['token']));
  t.equal((await part.call('GET', '/bi/dashboards')).status, 200, 'a part reads what there is');
  t.same((await ask(part, metric('open_findings'), null)).body['rows'], [[0]], 'and sees its own numbers');
}

async function saved(t: Test, { at, client }: Started): Promise<void> {
  const put = (id: string, body: Json, match?: string) =>
    at.call('PUT', `/api/v1/bi/dashboards/${id}`, {
      token: client.token,
      body,
      ...(match === undefined ? {} : { headers: { 'if-match': match } }),
    });
  const widgets = [{ metric: 'open_findings', shape: 'bars', by: 'severity', title: 'By severity', wide: true }];
  t.match(await put('board', { title: 'Board', widgets }), {
    status: 200,
    body: { version: 1, widgets, saved_by: /@/ },
  });
  t.match(await put('board', { title: 'Board 2', widgets: [] }, '"1"'), { status: 200, body: { version: 2 } });
  t.match(await put('board', { title: 'Board 3', widgets }, '"1"'), { status: 409 }, 'somebody else was first');
  t.match(await put('overview', { title: 'Ours', widgets }, '"0"'), { status: 200, body: { version: 1 } });
  const list = async () => (await client.call('GET', '/bi/dashboards')).body['items'] as Json[];
  t.same(
    (await list()).map(({ id, title }) => [id, title]),
    [
      ['board', 'Board 2'],
      ['overview', 'Ours'],
    ],
  );
  for (const [widget, words] of [
    [{ metric: 'nonsense', shape: 'number' }, /\/widgets\/0\/metric is no metric/],
    [{ metric: 'scans', shape: 'bars', by: 'severity' }, /\/widgets\/0\/by is no way to split scans/],
    [{ metric: 'scans', shape: 'number', by: 'kind' }, /does not go with a number/],
    [{ metric: 'scans', shape: 'bars' }, /\/widgets\/0\/by is missing/],
    [{ metric: 'scans', shape: 'line', by: 'kind' }, /is no time/],
    [{ metric: 'scans', shape: 'pie' }, /shape/],
    [{ metric: 'scans', shape: 'number', query: 'select 1' }, /query|additional/i],
  ] as const)
    t.match(await put('x', { title: 'x', widgets: [widget] }), { status: 422, body: { detail: words } });
  t.equal((await put('Not%20an%20id', { title: 'x', widgets: [] })).status, 422);
  t.equal((await put('x', { title: 'x', widgets: Array.from({ length: 25 }, () => widgets[0]) })).status, 422);
  for (const id of ['board', 'overview']) t.equal((await client.call('DELETE', `/bi/dashboards/${id}`)).status, 204);
  t.equal((await client.call('DELETE', '/bi/dashboards/board')).status, 404);
  t.match(await list(), [{ id: 'overview', version: 0 }], 'the one of the release is back');
  await exercise(t, client, '/bi/dashboards', (path) => path.replace(':id', 'example'));
  const viewer = new Client(at, (await at.user('viewer')).token);
  t.equal((await viewer.call('PUT', '/bi/dashboards/y', { title: 'y', widgets: [] })).status, 403);
}

t.test('30.bi: dashboards', (t) =>
  onOneDatabase(t, 'dashboards', async (t, database: Database) => {
    const started = await start(t, database);
    await t.test('30.bi: every metric answers, split in each way that it says', (t) => answered(t, started));
    await t.test('30.bi: dashboards are saved with versions, of metrics that there are', (t) => saved(t, started));
  }),
);
