// Every operation of the OpenAPI document with input that is wrong in many ways: whatever it is, the answer is a
// declared one and never a failure of the server. What to send is taken from the document, so a new route is covered
// when it exists.
import t, { type Test } from 'tap';
import type { Database } from './db/client.js';
import { startTestApp, type Reply, type TestApp } from './testing/app.js';
import { attempts, rightBodies, type Json, type Operation } from './testing/builders/wrong-input.js';
import { onBothDatabases } from './testing/databases.js';

/** What they are for this server does not have: neither a port of nodes nor nodes. */
const withoutNodes = new Set(['POST /api/nodes/tokens', 'POST /api/nodes/tokens/local', 'POST /api/rollouts']);

/** Why the answer is not one that the document promises; null when it is. */
function fault(reply: Reply, operation: Operation, route: string): string | null {
  if (reply.status >= 500 && !(reply.status === 503 && withoutNodes.has(route))) return 'the server failed';
  const header = reply.headers['content-type'];
  const type = (typeof header === 'string' ? header.split(';')[0] : undefined) ?? '';
  const declared = operation.responses[reply.status] ?? operation.responses[`${String(reply.status)[0]}XX`];
  if (declared === undefined) return 'the status is not declared';
  if (reply.status < 400) return null;
  if (type !== 'application/problem+json' || declared.content?.[type] === undefined)
    return `${type} is not what is declared`;
  if (['type', 'title', 'detail', 'instance', 'code'].some((member) => typeof reply.body[member] !== 'string'))
    return 'no problem document';
  return /node_modules|\.js:\d+|syntax error|violates|invalid input/i.test(reply.text)
    ? 'something of the inside leaks'
    : null;
}

async function prepare(
  at: TestApp,
  call: (method: string, url: string, body?: unknown) => Promise<Reply>,
): Promise<{ settings: Json; ids: Record<string, string> }> {
  const other = await at.user('viewer');
  const settings = {
    ...(await call('GET', '/api/settings')).body,
    sites: [{ name: 'a', prefix: '/', upstream: 'http://127.0.0.1:1' }],
  };
  const id = String((await call('POST', '/api/rules', rightBodies(settings)['POST /api/rules'])).body['rule'].id);
  return {
    settings,
    ids: {
      '/api/users/{id}': other.id,
      '/api/users/{id}/sessions': other.id,
      '/api/users/{id}/password': other.id,
      '/api/users/{id}/totp': other.id,
      '/api/rules/{id}': id,
      '/api/config/versions/{id}': '1',
    },
  };
}

const ofHost = new Set(['/api/backup/database-copy', '/api/nodes/tokens/local']);

/** Routes that nodes or commands of the host call; null: a person does. */
function tokenFor(pattern: string, { nodeToken, localToken }: TestApp['parts']): string | null {
  if (pattern.startsWith('/api/dataplane/')) return nodeToken;
  return ofHost.has(pattern) ? localToken : null;
}

async function suite(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  const { email } = await at.user('admin');
  let token = String((await at.logIn(email)).body['token']);
  const { settings, ids } = await prepare(at, (method, url, body) =>
    at.call(method, url, { token, ...(body === undefined ? {} : { body }) }),
  );
  const right = rightBodies(settings);
  const { paths } = (await at.call('GET', '/api/openapi.json')).body as {
    paths: Record<string, Record<string, Operation>>;
  };
  const missing = Object.keys(right).filter(
    (row) => paths[row.split(' ')[1] ?? '']?.[(row.split(' ')[0] ?? '').toLowerCase()] === undefined,
  );
  t.same(missing, [], 'the rows are routes');
  let calls = 0;
  let refused = 0;
  for (const [pattern, operations] of Object.entries(paths))
    for (const [verb, operation] of Object.entries(operations)) {
      if (pattern === '/api/events/stream') continue; // does not end
      const method = verb.toUpperCase();
      const own = right[`${method} ${pattern}`] ?? {};
      const faults: string[] = [];
      // what came before may have ended the session; to log in costs more than to ask
      if ((await at.call('GET', '/api/account', { token })).status !== 200)
        token = String((await at.logIn(email)).body['token']);
      for (const { what, ...attempt } of attempts(pattern, operation, ids, own)) {
        if (pattern === '/api/logout') token = String((await at.logIn(email)).body['token']);
        // from many addresses, so that limits of one caller do not stand in front of everything
        const reply = await at.call(method, attempt.url, {
          token: tokenFor(pattern, at.parts) ?? token,
          ip: `192.0.2.${calls % 250}`,
          ...attempt,
        });
        const found = fault(reply, operation, `${method} ${pattern}`);
        if (reply.status === 401 && !/login|account/.test(pattern)) faults.push(`not logged in: ${what}`);
        if (found !== null) faults.push(`${found}: ${what} → ${reply.status} ${reply.text.slice(0, 200)}`);
        calls++;
        if (reply.status >= 400) refused++;
      }
      t.same(faults, [], `${method} ${pattern}`);
    }
  t.ok(calls > 2500 && refused > calls / 2 && refused < calls - 500, `${refused} of ${calls} calls were refused`);
  await at.close();
}

t.test('malformed input', (t) => onBothDatabases(t, 'malformed input', suite));
