// Products by their own files, over HTTP: known by themselves, kind and weakness kept, every record counted, twice the
// same, the gate by severity, and a report of what was not looked at to its end stops the gate and closes nothing.
import t, { type Test } from 'tap';
import { startTestApp } from '#api/testing/app';
import { onBothDatabases, onOneDatabase } from '#api/testing/databases';
import { adds, Client } from '../../../testing/import-client.js';
import { read } from '../../../testing/read-report.js';
import { isDropped, type FindingRecord } from '../../record.js';
import * as samples from '../../../testing/reports/products.js';
import * as further from '../../../testing/reports/variants-of-products.js';

const products = { ...samples.products, ...further.products };
const unfinished = { ...samples.unfinished, ...further.unfinished };
type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];

async function start(t: Test, database: Database): Promise<Client> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  return new Client(at, (await at.user('admin')).token);
}

const verdictOf = async (client: Client, application_id: string, commit: string): Promise<unknown> =>
  (await client.call('POST', '/gate/evaluate', { application_id, commit })).body['verdict'];

async function kept(t: Test, client: Client): Promise<void> {
  for (const [format, [report, wanted]] of Object.entries(products)) {
    const app = await client.application();
    const scan = { commit: 'abcdef1', branch: 'main', mode: 'sync' };
    const done = await client.send(app, report, scan);
    t.match(done, { status: 202, body: { input: { format } } }, `${format}: ${JSON.stringify(done.body)}`);
    adds(t, done.body['report']);
    t.match(done.body['report'], { complete: true, unread: 0, unknown_severities: 0 }, `${format} is complete`);
    const found = await client.findings(app);
    t.equal(found.length, wanted.length, `${format} makes ${wanted.length}`);
    for (const [index, one] of wanted.entries()) t.match(found[index], one, format);
    t.notMatch(JSON.stringify(found), /SECRETVALUE/, `${format} keeps no secret`);
    const again = await client.send(app, report, scan);
    t.match(again.body['report'], { created: 0, updated: 0, closed: 0, unchanged: wanted.length }, `${format} again`);
    const isGrave = found.some(({ severity }) => severity === 'high' || severity === 'critical');
    t.equal(await verdictOf(client, app, 'abcdef1'), isGrave ? 'fail' : 'pass', `${format}: the gate`);
  }
}

async function stops(t: Test, client: Client): Promise<void> {
  for (const [what, [format, report]] of Object.entries(unfinished)) {
    const app = await client.application();
    const [whole] = products[format] ?? [];
    await client.send(app, whole, { mode: 'sync', branch: 'main' });
    const done = await client.send(app, report, { commit: 'abcdef2', branch: 'main', mode: 'sync', format });
    t.equal(done.status, 202, `${what}: ${JSON.stringify(done.body)}`);
    t.match(done.body['report'], { complete: false, closed: 0 }, what);
    t.equal(await verdictOf(client, app, 'abcdef2'), 'fail', `${what}: the gate`);
  }
}

/** Minimist by OSV-Scanner and by Snyk is one finding; a host of Nessus closes nothing of another. */
async function together(t: Test, client: Client): Promise<void> {
  const app = await client.application();
  await client.send(app, samples.osv);
  await client.send(app, samples.snykOf());
  const found = await client.findings(app);
  t.equal(found.length, 1, 'one finding by two products');
  t.match(((found[0]?.['vuln_ids'] ?? []) as string[]).toSorted(), ['CVE-2021-44906', /GHSA/, /SNYK/]);
  const hosts = await client.application();
  const [report] = products['nessus'] ?? [];
  await client.send(hosts, report, { mode: 'sync' });
  const other = samples.nessusOf('').replace('name="shop.example"', 'name="pay.example"');
  const closed = await client.send(hosts, other, { mode: 'sync' });
  t.match(closed.body['report'], { closed: 0, unverified_absence: 1 });
  // what was found by talking to a host has to be missing twice
  for (const gone of [0, 1]) {
    const clean = await client.send(hosts, samples.nessusOf(''), { mode: 'sync' });
    t.match(clean.body['report'], { closed: gone }, 'the same host, looked at to its end');
  }
}

/** Members that are of another kind, missing, or no finding: nothing is thrown but what says what is wrong. */
async function broken(t: Test): Promise<void> {
  const odd: readonly unknown[] = [null, 7, 'x', [], {}, [[]], { id: null }, true];
  const put = (value: unknown, with_: unknown): unknown[] => {
    if (Array.isArray(value)) return value.flatMap((one, at) => put(one, with_).map((made) => value.with(at, made)));
    if (typeof value !== 'object' || value === null) return [];
    return Object.entries(value).flatMap(([name, one]) => [
      { ...value, [name]: with_ },
      ...put(one, with_).map((made) => ({ ...value, [name]: made })),
    ]);
  };
  let checked = 0;
  for (const [format, [report]] of Object.entries(products)) {
    if (typeof report === 'string' || Buffer.isBuffer(report)) continue;
    for (const value of odd)
      for (const made of put(report, value)) {
        checked++;
        try {
          const { items } = await read(t, made, format);
          for (const item of items) if (!isDropped(item) && item.title === '') t.fail(`${format} has no title`);
        } catch (error) {
          const { status } = error as { status?: number };
          if (status === undefined || status >= 500) t.fail(`${format}: ${String(error)} of ${JSON.stringify(made)}`);
        }
      }
  }
  t.ok(checked > 1000, `${checked} reports that are broken in one place`);
}

/** What is set aside, other forms of the same product, and words that a scale does not have. */
async function variants(t: Test): Promise<void> {
  const found = async (report: unknown, format: string): Promise<FindingRecord[]> =>
    (await read(t, report, format)).items.filter((item) => !isDropped(item)) as FindingRecord[];
  t.match(await found(further.assetsOf('1'), 'auto'), [{ severity: 'critical', vulnIds: ['CVE-2026-2000'] }]);
  t.match(await found(further.clairManifest, 'auto'), [
    { severity: 'high', vulnIds: ['CVE-2026-4000'], location: { name: 'zlib' }, fix: { version: '1.3' } },
  ]);
  for (const [what, [format, report]] of Object.entries(further.setAside))
    t.match(await found(report, format), [{ suppressed: true }], `${what} is set aside`);
  t.match(
    (await found(further.fvdlOf(3), 'auto')).map(({ location }) => location),
    [{ path: 'app/db.java', line: 12, symbol: 'find' }, { path: 'app/b.java' }],
    'FVDL alone',
  );
  for (const [format, [from, to]] of Object.entries(further.oddSeverities)) {
    const [report] = products[format] ?? [];
    const text = typeof report === 'string' ? report : JSON.stringify(report);
    const changed = text.replaceAll(from, to);
    t.not(changed, text, `${format} has ${from}`);
    const [first] = await found(changed, format);
    t.match(first, { severity: 'high', severityProblem: /assumed|counts as high/ }, `${format}: a word of no scale`);
  }
}

/** The same weakness further down, and the list in another order: nothing is new, and nothing is gone. */
async function moved(t: Test, client: Client): Promise<void> {
  for (const [format, [from, to]] of Object.entries(further.movedLines)) {
    const app = await client.application();
    const report = String(further.plainOf(format));
    await client.send(app, report, { mode: 'sync', format });
    const changed = report.replaceAll(from, to);
    t.not(changed, report, `${format} has ${from}`);
    const done = await client.send(app, changed, { mode: 'sync', format });
    t.match(done.body['report'], { created: 0, closed: 0 }, `${format}: a line that moved`);
  }
  for (const [format, [report]] of Object.entries(products)) {
    const turned = further.turned(report);
    if (turned === null) continue;
    const app = await client.application();
    await client.send(app, report, { mode: 'sync', format });
    const done = await client.send(app, turned, { mode: 'sync', format });
    t.match(done.body['report'], { created: 0, updated: 0, closed: 0 }, `${format}: another order`);
  }
}

t.test('30.imports: other forms, what is set aside, and odd severities', variants);
t.test('30.imports: lines and lists that moved', (t) =>
  onOneDatabase(t, 'moved', async (t, database) => moved(t, await start(t, database))),
);
t.test('30.imports: products by their own files', (t) =>
  onBothDatabases(t, 'products', async (t, database) => kept(t, await start(t, database))),
);
t.test('30.imports: a scan that did not end stops the gate and closes nothing', (t) =>
  onOneDatabase(t, 'unfinished', async (t, database) => {
    const client = await start(t, database);
    await stops(t, client);
    await together(t, client);
  }),
);
t.test('30.imports: reports that are broken in one place', broken);
