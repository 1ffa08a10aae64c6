// When a tracker does not do what it should: what is told, what is tried again and when, and that no ticket is made
// twice or lost, whatever ends in the middle.
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { startTestApp } from '#api/testing/app';
import { onBothDatabases, onEmbeddedDatabase } from '#api/testing/databases';
import { createGuardedClient } from '#api/testing/servers/guarded-client';
import { until } from '#api/testing/waiting';
import type { Json } from './testing/fake-server.js';
import { cases, type Case } from './testing/fake-trackers.js';
import { minute, stageOf, type Database, type Stage } from './testing/stage.js';

const page = '<!doctype html><title>Log in</title>';

/** What the tracker does when a ticket is made → what is said of it. */
interface Row {
  readonly name: string;
  readonly answer:
    | { readonly status: number; readonly headers?: Record<string, string>; readonly body: string }
    | 'lost';
  readonly ticket: 'queued' | 'failed';
  readonly state: 'ok' | 'untested' | 'failed';
  readonly says: RegExp;
}
const rows = ({ refusal }: Case): readonly Row[] => [
  {
    name: 'a field that it refuses',
    answer: { status: refusal.status, body: JSON.stringify(refusal.json) },
    ticket: 'failed',
    state: 'untested',
    says: refusal.says,
  },
  {
    name: '404',
    answer: { status: 404, body: '{"message":"Not Found"}' },
    ticket: 'failed',
    state: 'untested',
    says: /There is none/,
  },
  {
    name: '401',
    answer: { status: 401, body: '{"message":"no"}' },
    ticket: 'queued',
    state: 'failed',
    says: /credentials/,
  },
  { name: '403', answer: { status: 403, body: '{"message":"no"}' }, ticket: 'queued', state: 'failed', says: /rights/ },
  {
    name: '302 to elsewhere',
    answer: { status: 302, headers: { location: 'https://elsewhere.example/' }, body: '' },
    ticket: 'queued',
    state: 'failed',
    says: /somewhere else/,
  },
  { name: '500', answer: { status: 500, body: 'oops' }, ticket: 'queued', state: 'untested', says: /with 500/ },
  {
    name: 'a page',
    answer: { status: 200, body: page },
    ticket: 'queued',
    state: 'untested',
    says: /page and no JSON/,
  },
  {
    name: '429',
    answer: { status: 429, headers: { 'retry-after': '1800' }, body: '{"message":"slow down"}' },
    ticket: 'queued',
    state: 'untested',
    says: /less often/,
  },
  { name: 'a connection that breaks', answer: 'lost', ticket: 'queued', state: 'untested', says: /could not be asked/ },
];

/** Back to work after what a row has done: changed by somebody, or by itself when its time has come. */
async function fix(stage: Stage, { state, ticket }: Row, finding: string): Promise<void> {
  stage.fake.heal();
  if (state === 'failed') {
    const tried = await stage.client.call('POST', `/integrations/${stage.id}/test`);
    if (tried.body['ok'] !== true) throw new Error(tried.text);
  }
  if (ticket === 'failed') await stage.ask([finding]);
  await stage.round(60 * minute);
}

async function oneTrouble(t: Test, stage: Stage, row: Row): Promise<void> {
  const { fake, of } = stage;
  await stage.client.call('PATCH', `/integrations/${stage.id}`, { enabled: true }); // untested again
  const before = fake.issues.length;
  fake.fail({ when: of.isCreate, answer: row.answer });
  const finding = await stage.finding(row.name);
  const { status, body, text } = await stage.ask([finding]);
  t.equal(status, 202, text);
  const ticket = (body['items'] as Json[])[0]?.['ticket'] as Json;
  t.match(ticket, { state: row.ticket, last_error: row.says, attempts: [{ ok: false, detail: row.says }] });
  const integration = await stage.integration();
  t.equal(integration['state'], row.state, JSON.stringify(integration));
  if (row.state === 'failed') t.match(integration['reason'], row.says);
  t.notOk(JSON.stringify([body, integration]).includes(of.secret), 'nothing of the secret is said');
  if (row.name === '429') {
    const waitMs = Date.parse(String(integration['retry_at'])) - stage.at.clock.nowMs;
    t.ok(waitMs >= 30 * minute && waitMs <= 33 * minute, `it is left alone for ${waitMs} ms`);
    const asked = fake.asked.length;
    await stage.round(29 * minute);
    t.equal(fake.asked.length, asked, 'not asked before it wants to be');
  }
  await fix(stage, row, finding);
  t.match(await stage.ticket(finding), { state: 'open', last_error: null }, row.name);
  t.equal(fake.issues.length, before + 1, `${row.name}: made once in the end`);
}

async function troubles(t: Test, database: Database, of: Case): Promise<void> {
  const stage = await stageOf(t, database, of);
  for (const row of rows(of)) await t.test(row.name, (t) => oneTrouble(t, stage, row));
  await t.test('credentials that it repeats are not repeated', async (t) => {
    const { authorization = '' } = fakeHeaders(stage);
    stage.fake.fail({
      when: () => true,
      answer: { status: 400, body: JSON.stringify({ message: `${authorization} ${of.secret}` }) },
    });
    const tried = await stage.client.call('POST', `/integrations/${stage.id}/test`);
    t.match(tried.body, { ok: false, detail: /400/ });
    t.notOk(tried.text.includes(of.secret));
    if (authorization !== '') t.notOk(tried.text.includes(authorization.split(' ')[1] ?? '-'), tried.text);
    stage.fake.heal();
  });
}

const fakeHeaders = ({ fake }: Stage): { authorization?: string | undefined } => fake.asked.at(-1)?.headers ?? {};

for (const of of cases)
  void t.test(of.type, (t) =>
    // what a tracker answers is read by the same code on both databases
    (of.type === 'jira_cloud' ? onBothDatabases : onEmbeddedDatabase)(t, of.type, (t, database) =>
      troubles(t, database, of),
    ),
  );

const [cloud, , hub] = cases;

/** A process that ends between the call and the row: another one finds the ticket by its marker. */
async function killed(t: Test, database: Database, of: Case): Promise<void> {
  const stage = await stageOf(t, database, of);
  const { fake, at } = stage;
  fake.fail({ when: of.isCreate, answer: 'silent' });
  const finding = await stage.finding('made, and nobody was told');
  const asked = stage.ask([finding]); // its process never hears of the end
  await until('the ticket is made', () => fake.issues.length === 1);
  const other = await startTestApp(database, { outbound: createGuardedClient(['127.0.0.1']) });
  t.teardown(() => other.close());
  const round = async (laterMs: number): Promise<void> => {
    other.clock.nowMs = at.clock.nowMs + laterMs;
    const job = other.jobs.find(({ name }) => name === 'vm-tickets');
    await job?.run({ nowMs: other.clock.nowMs, signal: AbortSignal.timeout(60_000) });
  };
  await round(minute);
  t.equal((await stage.ticket(finding))['state'], 'queued', 'while the lease lasts nobody else works on it');
  await round(3 * minute);
  t.match(await stage.ticket(finding), { state: 'open', key: of.key(fake.issues[0] as never) });
  t.equal(fake.issues.length, 1, 'it was found, and not made again');
  if (of.reads) t.match((await stage.ticket(finding))['attempts'][0], { action: 'find', ok: true });
  fake.letGo();
  await asked;
  t.equal(fake.issues.length, 1);
  t.match(await stage.ticket(finding), { state: 'open' });
}

for (const of of cases)
  void t.test(`killed: ${of.type}`, (t) =>
    (of.type === 'github' ? onBothDatabases : onEmbeddedDatabase)(t, of.type, (t, database) => killed(t, database, of)),
  );

type Step = readonly ['ask' | 'lost' | 'busy' | 'later', number];
const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.tuple(
    fc.constantFrom('ask' as const, 'ask' as const, 'lost' as const, 'busy' as const, 'later' as const),
    fc.nat(4),
  ),
  { minLength: 3, maxLength: 12 },
);

/** Whatever is asked, breaks and is asked again at the same time: one ticket for each finding that was asked for. */
async function neverTwice(t: Test, database: Database): Promise<void> {
  const of = hub ?? cases[0];
  if (of === undefined) return;
  const stage = await stageOf(t, database, of);
  const { fake } = stage;
  const check = fc.asyncProperty(steps, async (given) => {
    const ids: string[] = [];
    for (let i = 0; i < 5; i++) ids.push(await stage.finding(`f${i}`));
    const wanted = new Set<string>();
    for (const [what, n] of given) {
      const id = ids[n] ?? '';
      if (what === 'later') await stage.round(5 * minute);
      else if (what === 'busy') fake.fail({ when: () => true, answer: { status: 503, body: '' } });
      else if (what === 'lost') fake.fail({ when: of.isCreate, answer: 'lost' });
      else {
        wanted.add(id);
        const both = await Promise.all([stage.ask([id]), stage.ask([id])]);
        if (both.some(({ status }) => status !== 202)) throw new Error(both.map(({ text }) => text).join());
      }
    }
    fake.heal();
    for (let i = 0; i < 4; i++) await stage.round(120 * minute);
    const { body } = await stage.client.call('GET', `/integrations/tickets?limit=500&integration_id=${stage.id}`);
    const own = (body['items'] as Json[]).filter(({ vulns }) =>
      (vulns as Json[]).some(({ id }) => ids.includes(id as string)),
    );
    const keys = own.map(({ key, state }) => `${String(key)} ${String(state)}`);
    if (own.length !== wanted.size || new Set(keys).size !== own.length || keys.some((one) => !/^#\d+ open$/.test(one)))
      throw new Error(`${wanted.size} were asked for: ${keys.join(', ')}`);
    const { body: all } = await stage.client.call('GET', '/integrations/tickets?limit=1');
    if (all['total'] !== fake.issues.length)
      throw new Error(`${fake.issues.length} were made for ${String(all['total'])}`);
  });
  await fc.assert(check, { seed: Number(process.env['SEED'] ?? 20_261_128), numRuns: 15 });
  t.pass('each of 15 stories ends with one ticket a finding');
}

void onEmbeddedDatabase(t, 'one ticket a finding', neverTwice);

void onEmbeddedDatabase(t, 'a tracker that hangs holds up no other', async (t, database) => {
  if (cloud === undefined) return;
  const stage = await stageOf(t, database, cloud);
  const other = await stage.client.call('POST', '/integrations', stage.body({ name: 'other' }));
  t.equal(other.status, 201, other.text);
  stage.fake.fail({ when: ({ path }) => path.endsWith('/search/jql'), answer: { status: 503, body: '' } });
  const [one, two] = [await stage.finding('one'), await stage.finding('two')];
  t.match((await stage.ask([one])).body['items'], [{ ticket: { state: 'queued' } }]);
  const reply = await stage.client.call('POST', `/integrations/${other.body['id']}/issues`, { vuln_ids: [two] });
  t.match(reply.body['items'], [{ ticket: { state: 'open' } }]);
});
