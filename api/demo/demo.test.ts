// The public demo: what it tells, what it refuses, and that it knows nothing of the installation.
import t, { type Test } from 'tap';
import { buildApp } from '../app.js';
import type { Database } from '../db/client.js';
import { createOutbound } from '../outbound/outbound.js';
import type { AppDeps } from '../parts.js';
import { testEnv } from '../testing/app.js';
import { coreRules, withoutCoreRules } from '../testing/core-rules.js';
import { writeRuleSet } from '../testing/rule-set.js';

const refuse = (): never => {
  throw new Error('the demo asked the database');
};
/** Any question to it fails: the demo asks none. */
const database = { kind: 'embedded', sql: new Proxy(refuse, { get: refuse }) } as unknown as Database;

async function startDemo(t: Test, over: Partial<AppDeps> = {}) {
  const outbound = createOutbound({ allow: [], resolveHost: async () => [] });
  const { app } = await buildApp({
    env: testEnv,
    database,
    now: () => 0,
    outbound,
    applySettings: null,
    licencePublicKey: null,
    logger: false,
    crsDirectory: await writeRuleSet(t),
    ...over,
  });
  await app.ready();
  t.teardown(async () => {
    await app.close();
    await outbound.close();
  });
  return async (body: unknown, ip = '192.0.2.9') => {
    const reply = await app.inject({ method: 'POST', url: '/api/demo', payload: body as object, remoteAddress: ip });
    return { status: reply.statusCode, text: reply.body, body: JSON.parse(reply.body) as Record<string, unknown> };
  };
}

const attack = { method: 'get', uri: "/search?q=1' OR '1'='1" };

t.test('C4: an attack is explained, a harmless request passes', { skip: withoutCoreRules }, async (t) => {
  const ask = await startDemo(t, { crsDirectory: coreRules });
  const blocked = await ask(attack);
  t.match(blocked, { status: 200, body: { verdict: 'block', status: 403, inbound_threshold: 5 } }, blocked.text);
  const matches = blocked.body['matches'] as { variable: string; value: string; points: number; operator: string }[];
  t.ok(
    matches.some(({ variable, points }) => variable === 'ARGS:q' && points > 0),
    blocked.text,
  );
  const sum = matches.reduce((total, { points }) => total + points, 0);
  t.ok(sum <= Number(blocked.body['inbound_score']) && sum > 0, 'the points make up the score');
  const usual = [
    ['User-Agent', 'Mozilla/5.0'],
    ['Accept', 'text/html'],
  ];
  t.match(await ask({ method: 'GET', uri: '/search?q=winter coat', headers: usual }), {
    status: 200,
    body: { verdict: 'pass', inbound_score: 0, matches: [] },
  });
  const inBody = { method: 'POST', uri: '/', headers: [['X-A', 'b']], body: "q=1' OR '1'='1" };
  t.match((await ask(inBody)).body, { verdict: 'block' }, 'a body as well');
});

t.test('C4: it knows the default settings only, and keeps nothing of whoever asks', async (t) => {
  const ask = await startDemo(t);
  const first = await ask(attack);
  t.match(first.body, { verdict: 'block', blocked_by: 942100, matches: [{ rule_id: 942100, points: 0 }] });
  await ask({ ...attack, headers: [['Cookie', 'session=of-somebody-else']] });
  t.equal((await ask(attack)).text, first.text, 'the same question has the same answer; the database is never asked');
  t.notMatch(first.text, /192\.0\.2|node_modules|\/tmp\/|\/build\//, 'no address, no path');
  t.same(
    Object.keys(first.body).sort(),
    ['blocked_by', 'inbound_score', 'inbound_threshold', 'matches', 'status', 'verdict'],
    'a new member has to be thought about',
  );
});

t.test('C4: what cannot be a request is refused with its place; there are limits', async (t) => {
  const ask = await startDemo(t);
  const wrong: [object, RegExp][] = [
    [{}, /method/],
    [{ method: 'G T', uri: '/' }, /method/],
    [{ method: 'GET', uri: 'search' }, /uri/],
    [{ method: 'GET', uri: '/', headers: [['a b', 'c']] }, /headers/],
    [{ method: 'GET', uri: '/', headers: [['a', 'b\r\nc: d']] }, /headers/],
    [{ method: 'GET', uri: '/', body: 'x'.repeat(8001) }, /body/],
    [{ method: 'GET', uri: '/', settings: { mode: 'Off' } }, /settings/],
  ];
  for (const [body, place] of wrong) {
    const reply = await ask(body, '192.0.2.10');
    t.equal(reply.status, 400, reply.text);
    t.match(reply.text, place);
  }
  t.equal((await ask({ method: 'GET', uri: '/', body: 'x'.repeat(40_000) }, '192.0.2.11')).status, 413);
  const odd = await ask(
    { method: 'GET', uri: '/\u0007\u202e?q=\ud83d\ude00', headers: [['X-Odd', '\u202e']] },
    '192.0.2.11',
  );
  t.equal(odd.status, 200, odd.text);
  const many = await Promise.all(
    [...Array(40).keys()].map((at) => ask({ method: 'GET', uri: `/${at}` }, '192.0.2.12')),
  );
  const statuses = new Set(many.map(({ status }) => status));
  t.ok(statuses.has(429), 'one address may ask so often');
  t.notOk(statuses.has(500), [...statuses].join(' '));
  t.equal((await ask(attack, '192.0.2.13')).status, 200, 'others go on');
});

t.test('C4: PUBLIC_DEMO=0 takes it away, and so does a missing rule set', async (t) => {
  t.equal((await (await startDemo(t, { publicDemo: false }))(attack)).status, 404);
  t.equal((await (await startDemo(t, { crsDirectory: null }))(attack)).status, 404);
});
