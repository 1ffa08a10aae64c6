// Attacks on an application that real people use: nothing that is tried may change what is theirs.
import t from 'tap';
import type { Form } from '../model.js';
import { accessChecks } from './access.js';
import type { Probe } from './check.js';
import { reads, sqlChecks } from './sql.js';
import { storeChecks } from './stores.js';

const formAt = (method: string, path: string): Form =>
  ({ method, url: `https://shop.example${path}`, params: [], bodyKind: 'json' }) as unknown as Form;

t.test('what holds for every record is asked only where a statement reads', async (t) => {
  for (const path of ['/api/login', '/search', '/accounts/lookup', '/rest/auth/signin', '/graphql', '/users/findOne'])
    t.ok(reads({ form: formAt('POST', path) }), path);
  const writes = ['/checkout', '/wishlist/items', '/auth/password/reset', '/list/add', '/session/update', '/profile'];
  for (const path of writes) t.notOk(reads({ form: formAt('POST', path) }), path);
  for (const method of ['PUT', 'PATCH', 'DELETE']) t.notOk(reads({ form: formAt(method, '/search') }), method);
  t.ok(reads({ form: formAt('GET', '/profile') }));
  let sent = 0;
  const probe = {
    form: formAt('POST', '/profile'),
    param: { name: 'id', value: '7', place: 'body' },
    talk: { send: async () => sent++ },
    with: async () => sent++,
    leaveOut: () => null,
  } as unknown as Probe;
  t.equal(await storeChecks[0]?.prove(probe), null);
  t.equal(sent, 0, 'no operator is sent to what writes');
});

t.test('a database that is to wait waits once, and finds no row by it', async (t) => {
  const source = String(sqlChecks.find(({ id }) => id === 'sql-injection-time')?.prove);
  const alternatives = source.split('\n').filter((line) => / OR .*sleep/i.test(line));
  t.equal(alternatives.length, 2);
  t.notMatch(alternatives.join('\n'), /OR SLEEP\(|OR 1=\(SELECT 1 /);
});

t.test('a front page with a token in it is no way around a refusal', async (t) => {
  const check = accessChecks.find(({ id }) => id === 'access-bypass');
  const tokens = 'abcdefghijklmnopqrstuvwxyz';
  let turn = 0;
  const answer = (status: number, body: string) => ({
    ...{ status, body, headers: {}, cookies: [] },
    request: { method: 'GET', url: 'https://shop.example/admin', headers: {}, body: null },
  });
  const shop = (isOpen: (header: Readonly<Record<string, string>>) => boolean, token: () => string) =>
    ({
      form: formAt('GET', '/admin'),
      parts: { origin: 'https://shop.example' },
      send: async () => answer(403, 'refused'),
      talk: {
        get: async (_: string, { headers = {} }: { headers?: Record<string, string> }) =>
          isOpen(headers) ? answer(200, 'users of the shop') : answer(200, `<p>Welcome ${token()}</p>`),
      },
      leaveOut: () => null,
    }) as unknown as Probe;
  const next = () => `token-${tokens[turn++ % 26]}${tokens[(turn * 7) % 26]}`;
  t.equal(await check?.prove(shop(() => false, next)), null, 'another token each time');
  t.equal(
    await check?.prove(
      shop(
        () => false,
        () => '',
      ),
    ),
    null,
    'the same page each time',
  );
  const open = shop(
    (headers) => headers['x-original-url'] === '/admin',
    () => '',
  );
  t.match(await check?.prove(open), { attack: 'x-original-url: /admin' }, 'a real way');
});
