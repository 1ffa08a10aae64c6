// Templates through the API: what is wrong is said with its place, what a preview shows is what is sent in tickets,
// notices and reports, and every version comes back.
import t, { type Test } from 'tap';
import fc from 'fast-check';
import { onOneDatabase } from '#api/testing/databases';
import { startFake } from '../integrations/testing/fake-server.js';
import { cases } from '../integrations/testing/fake-trackers.js';
import { stageOf, type Database, type Stage } from '../integrations/testing/stage.js';
import { exercise } from '../testing/api/examples.js';
import type { Json } from '../testing/import-client.js';
import { faultsOf, filledMax, fillText } from './engine.js';

const github = cases.find(({ type }) => type === 'github');
if (github === undefined) throw new Error('there is no fake of GitHub');

async function made({ client }: Stage, body: Json): Promise<string> {
  const reply = await client.call('POST', '/templates', body);
  if (reply.status !== 201) throw new Error(reply.text);
  return String(reply.body['id']);
}
const defaultOf = async ({ client }: Stage, kind: string): Promise<string> => {
  const { items } = (await client.call('GET', `/templates?kind=${kind}`)).body;
  return String((items as Json[]).find(({ is_default: is }) => is === true)?.['id']);
};
const render = async ({ client }: Stage, id: string, body: Json = {}): Promise<Json> => {
  const reply = await client.call('POST', `/templates/${id}/render`, body);
  if (reply.status !== 200) throw new Error(reply.text);
  return Object.fromEntries((reply.body['parts'] as Json[]).map(({ name, text }) => [String(name), text]));
};

async function validation(t: Test, stage: Stage): Promise<void> {
  const { client } = stage;
  const bad = 'First line\nthen {{tittle}} and\n}} {{title}} {{';
  const { body } = await client.call('POST', '/templates/check', { kind: 'ticket', parts: { body: bad, other: 'x' } });
  t.match(body, {
    ok: false,
    faults: [
      { part: 'body', line: 2, column: 6, reason: /\{\{tittle\}\}, which no finding has/, fix: /use one of id, title/ },
      { part: 'body', line: 3, column: 1, reason: /do not belong together/ },
      { part: 'body', line: 3, column: 14 },
      { part: 'other', reason: /is no text of a ticket/, fix: 'title, body' },
    ],
  });
  for (const [wrong, words] of [
    [{ kind: 'ticket', name: 'x', parts: { body: bad } }, /\/parts\/body has .*\(line 2, column 6\)/],
    [{ kind: 'notice', name: 'x', parts: { subject: '{{location}}' } }, /which no notice has/],
    [{ kind: 'report', name: 'x', parts: { subject: 'x' } }, /\/parts\/subject is no text of a report/],
    [{ kind: 'ticket', name: 'x', parts: { title: 'a\nb' } }, /several lines/],
    [{ kind: 'ticket', name: 'x', parts: { title: 'a'.repeat(301) } }, /longer than 300/],
    [{ kind: 'letter', name: 'x' }, /kind/],
  ] as const)
    t.match(await client.call('POST', '/templates', wrong), { status: 422, body: { detail: words } });
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(fc.string({ maxLength: 60 }), (text) => {
        const faults = faultsOf(text, ['title'], 'finding');
        const lines = text.split('\n');
        const isPlaced = faults.every(
          ({ line, column }) => line <= lines.length && column <= (lines[line - 1] ?? '').length,
        );
        // a text that is fine has no braces left once it is filled
        return isPlaced && (faults.length > 0 || !/\{\{|\}\}/.test(fillText(text, () => 'x')));
      }),
      { numRuns: 2000, seed: Number(process.env['SEED'] ?? 30) },
    ),
  );
}

async function tickets(t: Test, stage: Stage): Promise<void> {
  const { client, fake, of } = stage;
  const finding = await stage.finding('Script in the comment <b>');
  const usual = await defaultOf(stage, 'ticket');
  const parts = { title: 'Fix: {{title}}', body: 'By {{due}} in {{application}}\n{{cve}}\nSee {{cwe}}' };
  t.equal((await client.call('PATCH', `/templates/${usual}`, { parts })).status, 200);
  const shown = await render(stage, usual, { vulnerability_id: finding });
  t.equal((await stage.ask([finding])).status, 202);
  const [issue] = fake.issues;
  if (issue === undefined) throw new Error('no ticket was made');
  t.equal(of.title(issue), shown['title'], 'the title is that of the preview');
  t.match(of.text(issue), shown['body'], 'and so is the text');
  t.match(shown['title'], 'Fix: Script in the comment');
  t.notMatch(of.text(issue), /\{\{|Severity/, 'not that of the release');
  const own = await made(stage, { kind: 'ticket', name: 'Of GitHub', parts: { title: 'Own {{id}}' } });
  const { body: integration } = await client.call('GET', `/integrations/${stage.id}`);
  const named = (template_id: string) =>
    client.call('PATCH', `/integrations/${stage.id}`, {
      config: { ...integration['config'], template_id },
      secret: of.secret,
    });
  t.match(await named('99999'), { status: 422, body: { detail: /\/config\/template_id is the id of no template/ } });
  t.equal((await named(own)).status, 200);
  const second = await stage.finding('Another');
  await client.call('POST', `/integrations/${stage.id}/test`);
  t.equal((await stage.ask([second])).status, 202);
  t.equal(of.title(fake.issues[1] ?? issue), `Own ${second}`, 'the template that the integration names');
  t.match(of.text(fake.issues[1] ?? issue), /Severity/, 'what it does not say is the text of the release');
  t.match(await client.call('DELETE', `/templates/${own}`), {
    status: 409,
    body: { detail: /integration github .* uses it/ },
  });
  t.match(await client.call('DELETE', `/templates/${usual}`), { status: 409, body: { detail: /default of its kind/ } });
}

async function notices(t: Test, stage: Stage): Promise<void> {
  const { client, at } = stage;
  const fake = await startFake(
    t,
    () => ({ status: 200, json: {} }),
    () => true,
  );
  const round = async (): Promise<void> => {
    for (const name of ['vm-outbox', 'vm-notices'])
      await at.jobs
        .find((one) => one.name === name)
        ?.run({ nowMs: at.clock.nowMs, signal: AbortSignal.timeout(60_000) });
  };
  await round();
  const secret = `${fake.url}/slack/T0/secret-part`;
  const channel = await client.call('POST', '/notifications/channels', {
    name: 'c',
    type: 'slack',
    config: {},
    secret,
  });
  const channel_id = String(channel.body['id']);
  const template = await made(stage, {
    kind: 'notice',
    name: 'Short',
    parts: { subject: '{{severity}} in {{application}}', line: 'Look at {{title}} ({{type}})' },
  });
  const body = { name: 'r', channel_id, events: ['finding.created'], template_id: template };
  t.equal(
    (await client.call('POST', '/notifications/routes', { ...body, template_id: '1' })).status,
    422,
    'of a ticket',
  );
  t.equal((await client.call('POST', '/notifications/routes', body)).status, 201);
  await stage.finding('Told <!channel>');
  await round();
  const sent = fake.asked.find(({ path }) => path === '/slack/T0/secret-part');
  const line = { text: { text: 'Look at Told &lt;!channel&gt; (finding.created)' } };
  t.match(sent?.body, { text: 'high in a', blocks: [{}, line] }, 'the texts of the template, escaped for Slack');
  t.match(await client.call('DELETE', `/templates/${template}`), { status: 409, body: { detail: /route r uses it/ } });
}

async function reports(t: Test, stage: Stage): Promise<void> {
  const { client, at } = stage;
  const build = async (format: string, more: Json = {}): Promise<string> => {
    const reply = await client.call('POST', '/reports', { format, sections: ['open-findings'], ...more });
    if (reply.status !== 201) throw new Error(reply.text);
    const url = `/api/v1/reports/${String(reply.body['id'])}/download`;
    return (await at.app.inject({ method: 'GET', url, headers: { authorization: `Bearer ${client.token}` } })).body;
  };
  t.match(await build('html'), '<title>Open Findings</title>', 'the release adds nothing');
  const parts = {
    title: '{{brand}}: {{sections}}',
    introduction: 'For <b>{{scope}}</b>\n\nby {{by}}',
    closing: 'End.',
  };
  const template_id = await made(stage, { kind: 'report', name: 'Board', parts });
  const html = await build('html', { template_id });
  t.match(html, /<title>Gatehouse: Open Findings<\/title>/);
  t.match(html, /<p>For &lt;b&gt;The application a[\d.]+&lt;\/b&gt;<\/p>\n<p>by /, 'escaped');
  t.match(html, /<\/table>\n<p>End\.<\/p>/);
  t.match(JSON.parse(await build('json', { template_id })), { introduction: [/^For/, /^by/], closing: ['End.'] });
  t.match(await build('html', { template_id, title: 'Given' }), '<title>Given</title>');
  t.equal((await client.call('POST', '/reports', { format: 'html', template_id: '1' })).status, 422, 'not of a report');
}

async function versions(t: Test, stage: Stage): Promise<void> {
  const { client } = stage;
  const id = await made(stage, { kind: 'finding', name: 'Pentest', parts: { body: 'One {{title}}' } });
  const path = `/templates/${id}`;
  t.equal((await client.call('PATCH', path, { parts: { body: 'Two {{title}}' } })).status, 200);
  const { items } = (await client.call('GET', `${path}/versions`)).body;
  t.match(items, [
    { version: 2, parts: { body: 'Two {{title}}' } },
    { version: 1, parts: { body: 'One {{title}}' } },
  ]);
  t.match(await client.call('POST', `${path}/restore`, { version: 1 }), {
    body: { version: 3, parts: { body: /^One/ } },
  });
  t.match(await client.call('POST', `${path}/restore`, { version: 77 }), { status: 404 });
  const two = await made(stage, { kind: 'ticket', name: 'two', parts: { title: 'T {{id}}', body: 'B {{id}}' } });
  t.match(await client.call('PATCH', `/templates/${two}`, { parts: { title: '{{cve}}' } }), {
    body: { parts: { title: '{{cve}}', body: 'B {{id}}' } },
  });
  t.match((await render(stage, two))['title'], /^Finding \d+$/, 'the title that a tracker gets where it is empty');
  const parts = { title: 'a\n{{x}}', body: 'y'.repeat(10_000), more: '' };
  const checked = (await client.call('POST', '/templates/check', { kind: 'ticket', parts })).body;
  t.match(checked, {
    ok: false,
    faults: [
      { part: 'title', reason: 'has several lines' },
      { part: 'title', line: 2, column: 1 },
      { part: 'more', reason: 'is no text of a ticket' },
    ],
  });
  for (const part of ['title', 'more'] as const)
    t.equal((await client.call('PATCH', `/templates/${two}`, { parts: { [part]: parts[part] } })).status, 422);
  t.match((await render(stage, id))['body'], /^One SQL injection in the search of orders/, 'a sample');
  t.match((await render(stage, id, { parts: { body: 'Draft {{risk}}' } }))['body'], 'Draft 82', 'a draft, not saved');
  t.match(await client.call('POST', `${path}/restore`, { version: null }), { body: { parts: null } });
  t.match((await render(stage, id))['body'], /^## SQL injection/, 'the text of the release');
  t.match(await client.call('POST', `${path}/render`, { vulnerability_id: '99999' }), { status: 404 });
  t.equal((await client.call('DELETE', path)).status, 204);
  const audit = JSON.stringify((await client.call('GET', '/audit?limit=20')).body);
  t.match(audit, /restored version 1 of template/);
}

async function rights(t: Test, stage: Stage): Promise<void> {
  const { at } = stage;
  const viewer = await at.user('viewer');
  const ask = (method: string, path: string, body?: object) =>
    at.call(method, `/api/v1${path}`, { token: viewer.token, body });
  const id = await defaultOf(stage, 'report');
  t.equal((await ask('GET', `/templates/${id}`)).status, 200);
  t.equal((await ask('POST', `/templates/${id}/render`, {})).status, 200);
  for (const [method, path, body] of [
    ['POST', '/templates', { kind: 'ticket', name: 'x' }],
    ['PATCH', `/templates/${id}`, { name: 'x' }],
    ['POST', `/templates/${id}/restore`, { version: null }],
    ['DELETE', `/templates/${id}`, undefined],
  ] as const)
    t.equal((await ask(method, path, body)).status, 403, `${method} ${path}`);
}

t.test('30.templates: a value is made once, and a filled text has an end', (t) => {
  let asked = 0;
  const text = fillText('{{description}}'.repeat(600), () => {
    asked++;
    return 'y'.repeat(50_000);
  });
  t.equal(asked, 1);
  t.ok(text.length <= filledMax + 600, `${text.length} characters`);
  t.match(text, /…$/);
  t.end();
});

t.test('templates', (t) =>
  onOneDatabase(t, 'templates', async (t, database: Database) => {
    const stage = await stageOf(t, database, github);
    await t.test('30.templates: faults are said with line and column', (t) => validation(t, stage));
    await t.test('30.templates: tickets say what the preview shows', (t) => tickets(t, stage));
    await t.test('30.templates: notices, escaped for their channel', (t) => notices(t, stage));
    await t.test('30.templates: reports', (t) => reports(t, stage));
    await t.test('30.templates: versions, drafts and the text of the release', (t) => versions(t, stage));
    await t.test('30.templates: who may', (t) => rights(t, stage));
    await t.test('30.templates: the examples of the document', async (t) => {
      const id = await made(stage, { kind: 'ticket', name: 'examples' });
      await exercise(t, stage.client, '/templates', (path) => path.replace(':id', id));
    });
  }),
);
