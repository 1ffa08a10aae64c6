// Signed webhooks of hosts of repositories: who is believed, what is judged, and what is taken only once.
import { createHmac } from 'node:crypto';
import t, { type Test } from 'tap';
import { startTestApp, type TestApp } from '#api/testing/app';
import { onBothDatabases } from '#api/testing/databases';
import { Client, type Json } from '../testing/import-client.js';
import { deliveryBytesMax } from './endpoints.js';

type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];

const secret = 'a-secret-of-the-test-1';
const sha = (letter: string): string => letter.repeat(40);
const sign = (text: string, key = secret): string => createHmac('sha256', key).update(text).digest('hex');
const sarif = {
  version: '2.1.0',
  runs: [
    {
      tool: { driver: { name: 'scan', rules: [{ id: 'r', properties: { 'security-severity': '9.8' } }] } },
      results: [{ ruleId: 'r', message: { text: 'Command injection' } }],
    },
  ],
};

const push = (commit: string, more: object = {}): Json => ({
  ref: 'refs/heads/topic',
  after: commit,
  repository: { full_name: 'Team/Shop' },
  ...more,
});

/** Provider → body and headers of a push of a commit. */
const pushes: Readonly<
  Record<string, (commit: string, id: string) => [Json, (text: string) => Record<string, string>]>
> = {
  github: (commit, id) => [
    push(commit),
    (text) => ({
      'x-github-event': 'push',
      'x-github-delivery': id,
      'x-hub-signature-256': `sha256=${sign(text)}`,
    }),
  ],
  gitea: (commit, id) => [
    push(commit),
    (text) => ({ 'x-gitea-event': 'push', 'x-gitea-delivery': id, 'x-gitea-signature': sign(text) }),
  ],
  gitlab: (commit, id) => [
    { ref: 'refs/heads/topic', after: commit, project: { path_with_namespace: 'team/shop' } },
    () => ({ 'x-gitlab-event': 'Push Hook', 'x-gitlab-event-uuid': id, 'x-gitlab-token': secret }),
  ],
  bitbucket: (commit, id) => [
    {
      repository: { full_name: 'team/shop' },
      push: { changes: [{ new: { type: 'branch', name: 'topic', target: { hash: commit } } }] },
    },
    (text) => ({ 'x-event-key': 'repo:push', 'x-request-uuid': id, 'x-hub-signature': `sha256=${sign(text)}` }),
  ],
};

async function deliver(at: TestApp, provider: string, text: string, headers: Record<string, string>) {
  const reply = await at.app.inject({
    method: 'POST',
    url: `/api/v1/scm/webhook/${provider}`,
    headers: { 'content-type': 'application/json', ...headers },
    payload: text,
  });
  return { status: reply.statusCode, text: reply.body, body: JSON.parse(reply.body) as Json };
}

function packed(provider: string, commit: string, id: string): [string, (text: string) => Record<string, string>] {
  const made = pushes[provider]?.(commit, id);
  if (made === undefined) throw new Error(`nothing is known of ${provider}`);
  return [JSON.stringify(made[0]), made[1]];
}

async function send(at: TestApp, provider: string, commit: string, id: string) {
  const [text, headers] = packed(provider, commit, id);
  return deliver(at, provider, text, headers(text));
}

async function webhooks(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const admin = await at.user('admin');
  const client = new Client(at, admin.token);
  const application_id = await client.application();
  const hook = async (provider: string) =>
    client.call('POST', '/scm/hooks', { name: provider, provider, repository: 'Team/Shop', application_id, secret });

  await t.test('14/2: a secret goes in, is sealed, and is in no answer and no entry', async (t) => {
    for (const provider of Object.keys(pushes)) {
      const made = await hook(provider);
      t.match(made, { status: 201, body: { repository: 'team/shop', enabled: true } }, provider);
      t.notOk('secret' in made.body);
    }
    t.equal((await hook('github')).status, 409, 'one for each repository');
    const [row] = await database.sql<{ secret: string }[]>`select secret from vm_scm_hooks limit 1`;
    t.match(row?.secret, /^sealed:v1:/);
    const [{ id } = { id: 0 }] = await database.sql<{ id: number }[]>`
      select id from vm_scm_hooks where provider = 'github'`;
    t.equal((await client.call('PATCH', `/scm/hooks/${id}`, { secret })).status, 200);
    t.equal((await client.call('PATCH', `/scm/hooks/${id}`, { secret: 'short' })).status, 422);
    const log = await at.call('GET', '/api/audit?limit=50', { token: admin.token });
    t.notOk(log.text.includes(secret), 'the log says that it was set');
    t.match((await client.call('POST', '/scm/hooks', { name: 'x', provider: 'svn' })).status, 422);
  });

  await t.test('14/2: every host is believed by its own signature, and by no other', async (t) => {
    for (const [index, provider] of Object.keys(pushes).entries()) {
      const commit = sha(String(index + 1));
      const [text, headers] = packed(provider, commit, `d-${provider}`);
      const right = headers(text);
      for (const [name, value] of Object.entries(right)) {
        if (!/signature|token/.test(name)) continue;
        const { [name]: _, ...without } = right;
        t.equal((await deliver(at, provider, text, without)).status, 401, `${provider} without ${name}`);
        for (const wrong of ['', `${value}0`, value.slice(0, -1), sign(text, 'another secret of somebody'), 'sha1=00'])
          t.equal((await deliver(at, provider, text, { ...right, [name]: wrong })).status, 401, `${provider} ${wrong}`);
      }
      if (provider !== 'gitlab')
        t.equal((await deliver(at, provider, `${text} `, right)).status, 401, `${provider}: other bytes`);
      const other = text.replace(/team\/shop/i, 'team/other');
      t.equal((await deliver(at, provider, other, headers(other))).status, 401, 'a repository that nobody named');
      const taken = await deliver(at, provider, text, right);
      t.match(taken, { status: 202, body: { status: 'accepted', verdict: null } }, provider);
      const run = (await client.call('GET', `/runs/${taken.body['run_id']}`)).body;
      t.match(run, { kind: 'scm', status: 'queued', application_id, input: { commit, branch: 'topic', provider } });
    }
    t.match(await deliver(at, 'svn', '{}', {}), { status: 404, body: { detail: /github/ } });
    t.equal((await deliver(at, 'github', '{', {})).status, 400);
    t.equal((await deliver(at, 'github', '[]', {})).status, 422);
    const large = JSON.stringify({ a: 'x'.repeat(deliveryBytesMax) });
    t.equal((await deliver(at, 'github', large, {})).status, 413);
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    t.equal((await deliver(at, 'github', 'payload=%7B%7D', form)).status, 415);
  });

  await t.test('14/2: a delivery counts once, also under another name', async (t) => {
    const first = await send(at, 'github', sha('a'), 'once');
    const run = first.body['run_id'];
    t.match(await send(at, 'github', sha('a'), 'once'), { status: 202, body: { status: 'duplicate', run_id: run } });
    t.match(await send(at, 'github', sha('a'), 'other'), { status: 202, body: { status: 'duplicate', run_id: run } });
    const both = await Promise.all([send(at, 'github', sha('b'), 'race'), send(at, 'github', sha('b'), 'race')]);
    t.same(both.map(({ body }) => String(body['status'])).sort(), ['accepted', 'duplicate']);
    const listed = await client.call('GET', '/scm/webhook/deliveries?limit=500');
    t.equal(
      (listed.body['items'] as Json[]).filter(({ commit }) => commit === sha('a')).length,
      1,
      'one line for what came three times',
    );
  });

  await t.test('14/2: what is no push of a branch is taken and judged by nobody', async (t) => {
    let count = 0;
    const say = (event: string, body: Json) => {
      const text = JSON.stringify({ repository: { full_name: 'team/shop' }, ...body });
      const headers = { 'x-github-event': event, 'x-github-delivery': `n${count++}` };
      return deliver(at, 'github', text, { ...headers, 'x-hub-signature-256': `sha256=${sign(text)}` });
    };
    for (const [event, body] of [
      ['ping', { zen: 'x' }],
      ['push', push(sha('0'))],
      ['push', push(sha('c'), { ref: 'refs/tags/v1' })],
      ['push', push('not a commit')],
      ['pull_request', { action: 'closed', pull_request: { head: { sha: sha('c'), ref: 'x' } } }],
    ] as const)
      t.match(await say(event, body), { status: 202, body: { status: 'ignored', run_id: null } }, event);
    const opened = { action: 'opened', pull_request: { head: { sha: sha('c'), ref: 'x' } } };
    t.match((await say('pull_request', opened)).body, { status: 'accepted' });
    t.equal((await say('push', push(sha('d'), { repository: 'x' }))).status, 401);
  });

  await t.test('14/2: the gate judges the commit once its reports are there', async (t) => {
    const job = at.jobs.find(({ name }) => name === 'vm-scm');
    const round = () => job?.run({ nowMs: at.clock.nowMs, signal: AbortSignal.timeout(60_000) });
    const commit = sha('e');
    const run = String((await send(at, 'github', commit, 'judged')).body['run_id']);
    const state = async (id: string) => (await client.call('GET', `/runs/${id}`)).body;
    await client.send(application_id, sarif, { commit, branch: 'topic' });
    await round();
    t.match(await state(run), { status: 'queued' }, 'other tools may follow');
    at.clock.nowMs += 61_000;
    await round();
    const judged = await state(run);
    t.match(judged, { status: 'succeeded', result: { verdict: 'fail', exit_code: 1 } });
    const evaluation = await client.call('GET', `/gate/evaluations/${judged['result'].evaluation_id}`);
    t.match(evaluation.body, { commit, verdict: 'fail', new_findings: 1 });
    const late = String((await send(at, 'github', sha('f'), 'late')).body['run_id']);
    at.clock.nowMs += 86_400_000;
    await round();
    const [lost] = await database.sql`select status, result from vm_runs where id = ${late}`;
    t.match(lost, { status: 'timed_out', result: { verdict: 'fail', exit_code: 2 } }, 'nothing came');
    const again = await send(at, 'gitea', commit, 'later');
    t.match(again.body, { status: 'accepted', verdict: 'fail' }, 'at once where everything is there');
    await database.sql`update vm_scm_hooks set enabled = false`;
    t.equal((await send(at, 'github', sha('9'), 'off')).status, 401, 'a hook that is off');
  });
}

t.test('14/2: signed webhooks', (t) => onBothDatabases(t, 'webhooks', webhooks));
