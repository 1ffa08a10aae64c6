// Secrets of several forms in every text of reports, and then everything that leaves the hub: answers, exports, reports
// in each format, statements of VEX, what waits for webhooks and tickets, the audit log.
import { randomBytes } from 'node:crypto';
import { inflateSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { startTestApp, type TestApp } from '#api/testing/app';
import { onBothDatabases } from '#api/testing/databases';
import { dump, holds, infect, infectedText } from '../testing/canary.js';
import { Client } from '../testing/import-client.js';
import { others } from '../testing/reports-of-tools.js';

type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];

const small = 'abcdefghijklmnopqrstuvwxyz';
const letters = (length: number): string => [...randomBytes(length)].map((byte) => small[byte % 26]).join('');

/** Name → a secret, and how it stands in a text. */
const forms: Readonly<Record<string, readonly [secret: string, text: (secret: string) => string]>> = {
  'a token by its form': [`ghp_${randomBytes(18).toString('hex')}`, (secret) => `see ${secret}`],
  'a phrase of words': [
    Array.from({ length: 4 }, () => `q${letters(7)}`).join(' '),
    (secret) => `in password = '${secret}' here`,
  ],
  'a key of letters': [letters(24), (secret) => `with api_key: ${secret}`],
  'a password of an address': [`Pw${letters(10)}`, (secret) => `at postgres://app:${secret}@db.example/x`],
  'a credential of a header': [
    Buffer.from(`a:${letters(20)}9`).toString('base64'),
    (secret) => `sent Authorization: Basic ${secret}`,
  ],
};

/** The texts of a PDF as they are set, in one. */
function textOfPdf(pdf: Buffer): string {
  const pieces: string[] = [];
  for (let at = pdf.indexOf('stream\n'); at >= 0; at = pdf.indexOf('stream\n', at + 7)) {
    if (pdf.subarray(at - 3, at).toString('latin1') === 'end') continue;
    const end = pdf.indexOf('endstream', at);
    try {
      pieces.push(inflateSync(pdf.subarray(at + 7, end)).toString('latin1'));
    } catch {
      pieces.push(pdf.subarray(at + 7, end).toString('latin1'));
    }
  }
  return pieces.join('\n').replace(/\) ?Tj[^(]*\(/g, '');
}

const lists = ['/findings', '/imports', '/runs', '/events', '/sca/components', '/audit', '/graph/chokepoints'];
lists.push('/policies', '/policies/violations', '/mutes', '/people', '/applications', '/posture/trend');
const single = ['/posture/score', '/graph/attack-chains', '/findings/facets', '/sla/clocks', '/gate/evaluations'];

async function everythingOf(t: Test, at: TestApp, client: Client, app: string): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  const unanswered: string[] = [];
  const keep = async (url: string): Promise<void> => {
    const { status, text } = await client.call('GET', url);
    if (status === 200) found.set(url, text);
    else unanswered.push(`${url} ${status}`);
  };
  for (const url of lists) await keep(`${url}?limit=200`);
  for (const url of single) await keep(url);
  for (const format of ['csv', 'json', 'sarif']) await keep(`/findings/export?format=${format}`);
  for (const format of ['openvex', 'cyclonedx', 'csaf'])
    await keep(`/vex/export?format=${format}&application_id=${app}`);
  found.set('details', JSON.stringify(await client.findings(app)));
  for (const format of ['html', 'csv', 'json', 'pdf']) {
    const made = await client.call('POST', '/reports', { format });
    const reply = await at.app.inject({
      method: 'GET',
      url: `/api/v1/reports/${String(made.body['id'])}/download`,
      headers: { authorization: `Bearer ${client.token}` },
    });
    const { rawPayload: bytes } = reply;
    if (reply.statusCode === 200) found.set(`report ${format}`, format === 'pdf' ? textOfPdf(bytes) : bytes.toString());
    else unanswered.push(`report ${format} ${reply.statusCode}`);
  }
  t.same(unanswered, [], 'every way out was looked at');
  return found;
}

async function suite(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const client = new Client(at, (await at.user('admin')).token);
  for (const [name, [secret, textOf]] of Object.entries(forms))
    await t.test(`22 Q5: nothing that leaves the hub has ${name}`, async (t) => {
      const text = textOf(secret);
      const app = await client.application();
      let taken = 0;
      for (const [format, [report]] of Object.entries(others)) {
        const infected = typeof report === 'string' ? infectedText(report, text) : infect(report, text);
        const preview = await client.send(app, infected, { format }, '/imports/preview');
        const done = await client.send(app, infected, { format });
        if (done.status === 202) taken++;
        holds(t, JSON.stringify([preview, done]), secret, `the answer to ${format}`);
      }
      t.ok(taken > 15, `${taken} reports are taken`);
      const ways = await everythingOf(t, at, client, app);
      for (const wanted of [
        'report pdf',
        'report html',
        '/findings/export?format=sarif',
        '/events?limit=200',
        'details',
      ])
        t.ok((ways.get(wanted) ?? '').length > 100, `${wanted} was looked at`);
      t.ok(
        [...ways.keys()].some((way) => way.startsWith('/vex/export')),
        'statements of VEX were looked at',
      );
      for (const [way, body] of ways) {
        holds(t, body, secret, way);
        holds(t, body.replaceAll('&#39;', "'").replaceAll('&quot;', '"'), secret, way);
      }
      holds(t, await dump(database.sql), secret, 'what is stored, also what waits for webhooks and tickets');
    });
}

t.test('22 Q5: ways out', { timeout: 600_000 }, (t) => onBothDatabases(t, 'ways-out', suite));
