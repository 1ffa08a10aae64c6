// What is said when an integration is saved, who may do what with it, and how texts are written for each tracker.
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { startTestApp } from '#api/testing/app';
import { onBothDatabases } from '#api/testing/databases';
import { escapeFor, fromAdf, toAdf } from './escape.js';
import { cut } from './template.js';
import type { Json } from './testing/fake-server.js';
import { cases } from './testing/fake-trackers.js';
import { stageOf, type Database, type Stage } from './testing/stage.js';

const [cloud, , github] = cases;
const of = (type: string): Json => cases.find((one) => one.type === type)?.config ?? {};

/** Type, what `config` has besides what fits, and what is answered: where, what, how to fix it. */
const refusals: readonly (readonly [string, string, Json, RegExp])[] = [
  ['no project', 'jira_cloud', { project: undefined }, /\/config\/project is missing/],
  ['a key that is none', 'jira_cloud', { project: 'security team' }, /\/config\/project does not fit.*such as SEC/],
  ['no e-mail address', 'jira_cloud', { email: 'bot' }, /\/config\/email does not fit/],
  [
    'an unknown member',
    'jira_datacenter',
    { projekt: 'SEC' },
    /\/config\/projekt is not known to jira_datacenter: known are url/,
  ],
  [
    'a label with a blank',
    'jira_datacenter',
    { labels: ['a', 'two words'] },
    /\/config\/labels\/1 has a blank.*hyphen/,
  ],
  [
    'an unknown placeholder',
    'github',
    { body: 'See {{tittle}}' },
    /\/config\/body has \{\{tittle\}\}, which no finding has \(line \d+, column \d+\): use one of id, title/,
  ],
  ['a placeholder in a title', 'github', { title: '{{secret}}' }, /\/config\/title has/],
  ['a lone brace', 'gitlab', { body: '{{title}} {{' }, /\/config\/body has braces/],
  [
    'a placeholder in a field',
    'jira_cloud',
    { fields: { customfield_1: { value: '{{x}}' } } },
    /\/config\/fields\/customfield_1\/value has/,
  ],
  ['a severity that is none', 'github', { priorities: { urgent: 'x' } }, /\/config\/priorities\/urgent/],
  [
    'an urgency that is none',
    'servicenow',
    { priorities: { high: 'High' } },
    /\/config\/priorities\/high is no urgency.*1 \(high\)/,
  ],
  ['labels of ServiceNow', 'servicenow', { labels: ['x'] }, /\/config\/labels are not known to ServiceNow/],
  ['a label with a comma', 'gitlab', { labels: ['a,b'] }, /\/config\/labels\/0 has a comma/],
  ['fields of GitHub', 'github', { fields: { milestone: '1' } }, /\/config\/fields/],
  ['an assignee of GitHub', 'github', { take_assignee: true }, /\/config\/take_assignee.*leave it off/],
  ['no address', 'webhook', { url: undefined }, /\/config\/url is missing/],
  ['another scheme', 'webhook', { url: 'ftp://tracker.example.org' }, /\/config\/url is no address.*https/],
  [
    'credentials in the address',
    'webhook',
    { url: 'https://a:b@tracker.example.org' },
    /\/config\/url has credentials/,
  ],
  ['an inner address', 'webhook', { url: 'https://10.1.2.3/hook' }, /\/config\/url may not be asked.*OUTBOUND_ALLOW/],
  ['the metadata address', 'webhook', { url: 'https://169.254.169.254/' }, /OUTBOUND_ALLOW/],
  ['an inner address of IPv6', 'gitlab', { url: 'https://[fd00::1]' }, /OUTBOUND_ALLOW/],
  ['plain http', 'github', { url: 'http://93.184.216.34' }, /\/config\/url is plain http.*https/],
  [
    'a console that is no address',
    'github',
    { console_url: 'javascript:alert(1)' },
    /\/config\/console_url is no address/,
  ],
];

async function saving(t: Test, stage: Stage): Promise<void> {
  for (const [name, type, config, says] of refusals) {
    const body = { name, type, secret: 'x'.repeat(30), config: { url: stage.fake.url, ...of(type), ...config } };
    const reply = await stage.client.call('POST', '/integrations', body);
    t.equal(reply.status, 422, `${name}: ${reply.text}`);
    t.match(reply.body['detail'], says, name);
  }
  const short = { name: 'short', type: 'webhook', secret: 'short', config: { url: stage.fake.url } };
  t.match(await stage.client.call('POST', '/integrations', short), { status: 422, text: /24 characters/ });
  const { body: all } = await stage.client.call('GET', '/integrations');
  t.equal(all['total'], 1, 'none of these was stored');
}

async function secrets(t: Test, stage: Stage, database: Database): Promise<void> {
  const [row] = await database.sql<{ secret: string }[]>`select secret from vm_integrations where id = ${stage.id}`;
  t.notOk(row?.secret.includes(stage.of.secret), 'sealed');
  const config = { url: 'https://93.184.216.34', ...stage.of.config };
  const path = `/integrations/${stage.id}`;
  const moved = await stage.client.call('PATCH', path, { config });
  t.match(moved, { status: 422, text: /\/secret is needed again/ }, 'it does not follow to another address');
  t.equal((await stage.client.call('PATCH', path, { config, secret: 'another-secret-1' })).status, 200);
  const back = { config: { url: stage.fake.url, ...stage.of.config }, secret: stage.of.secret };
  t.match(await stage.client.call('PATCH', path, back), { status: 200, body: { state: 'untested' } });
  t.match((await stage.client.call('POST', `${path}/test`)).body, { ok: true });
  const { version } = await stage.integration();
  const stale = await stage.at.call('PATCH', `/api/v1${path}`, {
    token: stage.client.token,
    body: { name: 'x' },
    headers: { 'if-match': `"${Number(version) - 1}"` },
  });
  t.equal(stale.status, 409, 'not over what somebody else changed');
}

async function whoMay(t: Test, stage: Stage): Promise<void> {
  const { at, client } = stage;
  const own = await client.application();
  const mine = String(
    (await client.call('POST', '/vulnerabilities', { application_id: own, title: 'mine', severity: 'low' })).body['id'],
  );
  const others = await stage.finding('of others');
  const { id } = await at.user('viewer', 'confined@example.org');
  const items = [{ scope: 'application', scope_id: own, role: 'developer' }];
  const granted = await at.call('PUT', `/api/v1/rbac/grants/${id}`, {
    token: client.token,
    body: { items, confined: true },
  });
  t.equal(granted.status, 200, granted.text);
  const { body } = await at.logIn('confined@example.org');
  const as = (method: string, path: string, given?: Json) =>
    at.call(method, `/api/v1${path}`, { token: String(body['token']), body: given });
  const issues = `/integrations/${stage.id}/issues`;
  t.equal((await as('GET', '/integrations')).body['total'], 1, 'knows where tickets may go');
  t.equal((await as('POST', issues, { vuln_ids: [others] })).status, 404, 'what one does not see does not exist');
  t.equal((await as('POST', issues, { vuln_ids: [mine, others] })).status, 404);
  t.equal(stage.fake.issues.length, 0, 'nothing of it was sent');
  t.match(await as('POST', issues, { vuln_ids: [mine], key: 'SEC-1' }), { status: 403 }, 'no ticket of others is read');
  t.match((await as('POST', issues, { vuln_ids: [mine] })).body['items'], [{ ticket: { state: 'open' } }]);
  await stage.ask([others]);
  const grouped = await stage.ask([await stage.finding('another of others')], { grouped: true });
  t.equal(grouped.status, 202);
  const { body: seen } = await as('GET', '/integrations/tickets');
  t.match(seen, { total: 1, items: [{ vulns: [{ id: mine }] }] });
  t.equal((await as('GET', `/integrations/tickets?vuln_id=${others}`)).body['total'], 0);
  for (const [method, path, given] of [
    ['POST', '/integrations', stage.body({ name: 'n' })],
    ['PATCH', `/integrations/${stage.id}`, { name: 'n' }],
    ['DELETE', `/integrations/${stage.id}`, undefined],
    ['POST', `/integrations/${stage.id}/test`, undefined],
  ] as const)
    t.equal((await as(method, path, given)).status, 403, `${method} ${path}`);
  const gone = await client.call('DELETE', `/integrations/${stage.id}`);
  t.match(gone, { status: 409, text: /has 3 tickets.*switch it off/ });
  await client.call('PATCH', `/integrations/${stage.id}`, { enabled: false });
  t.match(await stage.ask([mine]), { status: 409, text: /switched off/ });
  const free = await client.call('POST', '/integrations', stage.body({ name: 'free' }));
  t.equal((await client.call('DELETE', `/integrations/${free.body['id']}`)).status, 204, 'one without tickets goes');
}

async function closedOnes(t: Test, stage: Stage): Promise<void> {
  const finding = await stage.finding('done already');
  await stage.move(finding, 'resolved');
  t.match(await stage.ask([finding]), { status: 422, text: /\/vuln_ids\/0 is resolved/ });
  t.equal((await stage.ask(['99999999'])).status, 404);
}

void onBothDatabases(t, 'settings and people', async (t, database) => {
  if (cloud === undefined) return;
  const stage = await stageOf(t, database, cloud);
  await t.test('each mistake is told when it is saved', (t) => saving(t, stage));
  await t.test('the secret belongs to its address', (t) => secrets(t, stage, database));
  await t.test('closed findings get none', (t) => closedOnes(t, stage));
  await t.test('who may do what', (t) => whoMay(t, stage));
});

void onBothDatabases(t, 'types', async (t, database) => {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const { token } = await at.user('viewer');
  const { body } = await at.call('GET', '/api/v1/integrations/types', { token });
  const items = body['items'] as Json[];
  t.same(items.map(({ type }) => String(type)).sort(), cases.map(({ type }) => type).sort());
  for (const one of items) t.match(one, { title: /\w/, secret: /\w/, config: { type: 'object', required: /url/ } });
  t.ok((body['placeholders'] as string[]).includes('title'));
});

t.test('a text is shown as it is: each format, undone as the tracker does', (t) => {
  const unMarkdown = (text: string): string => text.replaceAll('\u200b', '').replace(/\\(?=[^\sA-Za-z0-9])/g, '');
  const unWiki = (text: string): string =>
    text
      .replaceAll('&#92;', '\u0001')
      .replace(/\\(?=[{}[\]*_\-+^~?!|#@])/g, '')
      .replaceAll('\u0001', '\\')
      .replaceAll('&#46;', '.')
      .replaceAll('&amp;', '&');
  const word = fc.string({ unit: fc.constantFrom(...'ab1\\`*_{}[]()<>#+-.!|~@&$%/:"\'= h'), maxLength: 40 });
  fc.assert(
    fc.property(word, (text) => {
      const plain = text.replace(/\\/g, '/').trimStart(); // four blanks would begin code
      t.equal(unMarkdown(escapeFor('markdown', plain)), plain);
      t.equal(unWiki(escapeFor('wiki', text)), text);
      t.equal(escapeFor('adf', text), text);
      t.equal(fromAdf(toAdf(`x${text}`)), `x${text}`);
      t.notMatch(escapeFor('markdown', text), /@\w|#\d|(?<!\\)</);
    }),
    { seed: Number(process.env['SEED'] ?? 20_261_128), numRuns: 300 },
  );
  t.ok(github !== undefined && cut('a\ud83d\ude00b', 3).length <= 3, 'no half of a character');
  t.equal(escapeFor('plain', 'a\u0000b\u202ec\r\nd'), 'abc\nd');
  t.end();
});
