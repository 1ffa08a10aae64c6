import t, { type Test } from 'tap';
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Database } from '../db/client.js';
import { createOutbound } from '../outbound/outbound.js';
import type { TestAccount } from '../testing/processes/oidc-process.js';
import { startTestApp, testPassword, type Reply } from '../testing/app.js';
import { onBothDatabases } from '../testing/databases.js';
import { safeReturn } from './sso.js';

const redirectUri = 'https://waf.example/api/sso/callback';

t.test('where people may be sent back to', async (t) => {
  for (const fine of ['/', '/soc', '/soc?x=1&y=2', '/a/b.c']) t.equal(safeReturn(fine), fine);
  for (const bad of [
    '',
    'https://evil.example',
    '//evil.example',
    '/\\evil.example',
    '/..//evil.example',
    '/%0d%0aset-cookie:x\r\n',
    '\\/evil',
    'javascript:alert(1)',
    '/a\\..\\b',
    '/ x',
  ])
    t.notMatch(safeReturn(bad), /evil|javascript|\r|\\/, bad);
  t.notMatch(safeReturn('/..//evil.example'), /^\/\//);
});

/** A browser: follows the provider's redirects with its cookies until it is sent to our callback. */
async function browse(url: string): Promise<string> {
  const jar = new Map<string, string>();
  let at = url;
  for (let hop = 0; hop < 15; hop++) {
    if (at.startsWith(redirectUri)) return at;
    const reply = await fetch(at, {
      redirect: 'manual',
      headers: { cookie: [...jar].map(([k, v]) => `${k}=${v}`).join('; ') },
    });
    for (const cookie of reply.headers.getSetCookie()) {
      const [name = '', value = ''] = (cookie.split(';')[0] ?? '').split('=');
      jar.set(name, value);
    }
    const location = reply.headers.get('location');
    if (location === null) throw new Error(`${at}: ${reply.status} ${(await reply.text()).slice(0, 300)}`);
    at = new URL(location, at).href;
  }
  throw new Error('too many redirects');
}

async function startProvider(): Promise<{
  child: ChildProcess;
  issuer: string;
  become(account: TestAccount): Promise<void>;
}> {
  const child = fork(fileURLToPath(new URL('../testing/processes/oidc-process.js', import.meta.url)), [redirectUri], {
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  }); // it warns a lot
  const [message] = (await once(child, 'message')) as [{ issuer: string }];
  return {
    child,
    issuer: message.issuer,
    async become(account) {
      const done = once(child, 'message');
      child.send({ account });
      await done;
    },
  };
}

async function suite(t: Test, database: Database): Promise<void> {
  const provider = await startProvider();
  t.teardown(async () => {
    provider.child.disconnect();
    await once(provider.child, 'exit');
  });
  const outbound = createOutbound({ allow: ['127.0.0.1'] });
  const at = await startTestApp(database, { outbound, now: () => Date.now() });
  // the provider lives by the real clock
  at.clock.nowMs = Date.now();
  const root = await at.user('admin', 'root@example.org');
  t.equal((await at.call('GET', '/api/sso/login')).status, 404, 'off by default');
  const configured = await at.call('PATCH', '/api/settings', {
    token: root.token,
    body: {
      sso_enabled: true,
      sso_issuer: provider.issuer,
      sso_client_id: 'gatehouse',
      sso_client_secret: 'client-secret-of-the-test',
      sso_redirect_uri: redirectUri,
      sso_allowed_domain: 'Corp.Example',
      sso_default_role: 'operator',
    },
  });
  t.equal(configured.status, 200, configured.text);
  t.match((await at.call('GET', '/api/sso')).body, { enabled: true });

  const begin = async (query = ''): Promise<{ url: string; cookie: string }> => {
    const reply = await at.call('GET', `/api/sso/login${query}`);
    if (reply.status !== 302) throw new Error(reply.text);
    return {
      url: String(reply.headers['location']),
      cookie: ([reply.headers['set-cookie']].flat()[0] as string).split(';')[0] ?? '',
    };
  };
  const land = (callback: string, cookie: string | null): Promise<Reply> =>
    at.call('GET', `/api/sso/callback${new URL(callback).search}`, { headers: cookie === null ? {} : { cookie } });
  const account = (sub: string, over: Partial<TestAccount> = {}): TestAccount => ({
    sub,
    email: `${sub}@corp.example`,
    email_verified: true,
    name: `Name of ${sub}`,
    ...over,
  });

  await t.test('a person logs in, is created with the default role, and stays the same person', async (t) => {
    await provider.become(account('ann'));
    const { url, cookie } = await begin('?return_to=%2Fsoc');
    const sent = new URL(url).searchParams;
    t.equal(sent.get('code_challenge_method'), 'S256');
    t.match(sent.get('code_challenge'), /^[A-Za-z0-9_-]{43}$/);
    t.ok((sent.get('state')?.length ?? 0) >= 32 && (sent.get('nonce')?.length ?? 0) >= 32);
    const callback = await browse(url);
    const reply = await land(callback, cookie);
    t.match(reply, { status: 302, headers: { location: '/soc' } }, reply.text);
    const session =
      ([reply.headers['set-cookie']].flat() as string[]).find((c) => c.startsWith('gatehouse_session=')) ?? '';
    t.match(session, /HttpOnly; SameSite=Strict.*Secure/);
    const me = await at.call('GET', '/api/account', { headers: { cookie: session.split(';')[0] ?? '' } });
    t.match(me.body, { email: 'ann@corp.example', role: 'operator', origin: 'sso' });
    t.match(
      await land(callback, cookie),
      { status: 403, body: { code: 'sso_refused' } },
      'the same callback again is refused',
    );
    const again = await begin();
    t.equal((await land(await browse(again.url), again.cookie)).status, 302);
    t.equal((await database.sql`select count(*) as n from users where origin = 'sso'`)[0]?.['n'], 1);
    t.equal((await at.logIn('ann@corp.example', testPassword)).status, 401, 'and has no password here');
  });
  await t.test('what is refused', async (t) => {
    const attempt = async (who: TestAccount): Promise<Reply> => {
      await provider.become(who);
      const { url, cookie } = await begin();
      return land(await browse(url), cookie);
    };
    const users = async () => (await database.sql`select count(*) as n from users`)[0]?.['n'] as number;
    const before = await users();
    for (const [name, who] of [
      ['another domain', account('bob', { email: 'bob@other.example' })],
      ['a lookalike suffix', account('bob2', { email: 'bob@evilcorp.example' })],
      ['a subdomain', account('bob3', { email: 'bob@x.corp.example' })],
      ['two at-signs', account('bob4', { email: 'a@corp.example@evil.example' })],
      ['an unverified address', account('carl', { email_verified: false })],
      ['no address', account('dora', { email: '' })],
    ] as const) {
      t.match(await attempt(who), { status: 403, body: { code: 'sso_refused' } }, name);
    }
    await at.call('PATCH', '/api/settings', { token: root.token, body: { sso_allowed_domain: '' } });
    t.match(
      await attempt(account('thief', { email: 'root@example.org' })),
      { status: 403, body: { code: 'sso_refused' } },
      'a local account is not taken over',
    );
    t.match(
      await attempt(account('other', { email: 'ann@corp.example' })),
      { status: 403 },
      'nor another person of the provider',
    );
    t.equal(await users(), before);
    await provider.become(account('ann'));
    const flow = await begin();
    const callback = await browse(flow.url);
    t.match(await land(callback, null), { status: 403 }, 'without the cookie of the browser that began');
    t.match(await land(callback, 'gatehouse_sso=somebody-elses'), { status: 403 });
    t.match(await land(`${redirectUri}?error=access_denied&state=x`, 'gatehouse_sso=x'), { status: 403 });
    const stolen = new URL(callback);
    stolen.searchParams.set('code', 'invented');
    t.match(await land(stolen.href, flow.cookie), { status: 403 }, 'an invented code');
    const [user] = await database.sql<{ id: string }[]>`select id from users where email = 'ann@corp.example'`;
    await at.call('PATCH', `/api/users/${user?.id}`, { token: root.token, body: { suspended: true } });
    t.match(await attempt(account('ann')), { status: 403 }, 'a suspended person');
  });
  await t.test('a browser reads a refusal as a page, a program as a problem document', async (t) => {
    const accept = 'text/html,application/xhtml+xml,*/*;q=0.8';
    const hostile = `/api/sso/callback?error=${encodeURIComponent('<script>alert(1)</script>')}&state=x`;
    const rejected = `/api/sso/callback?error=access_denied&error_description=${encodeURIComponent('<img src=x>')}`;
    const flow = await begin();
    const state = new URL(flow.url).searchParams.get('state') ?? '';
    for (const [url, cookie] of [
      [hostile, 'gatehouse_sso=x'],
      ['/api/sso/callback', ''],
      [`${rejected}&state=${state}`, flow.cookie],
    ] as const) {
      const page = await at.call('GET', url, { headers: { accept, cookie } });
      t.equal(page.status, 403, url);
      t.match(page.headers['content-type'], /^text\/html/);
      t.match(page.headers['content-security-policy'], /default-src 'none'/);
      t.match(page.headers['cache-control'], 'no-store');
      t.match(page.text, /<h1>.+<\/h1>\n<p>.+<\/p>\n<p><a href="\/">Back to the login/);
      t.notMatch(page.text, /<script|<img/);
      t.match((await at.call('GET', url, { headers: { cookie } })).body, { code: 'sso_refused' }, 'a program');
    }
    await at.call('PATCH', '/api/settings', { token: root.token, body: { sso_enabled: false } });
    for (const url of ['/api/sso/login', '/api/v1/sso/login/default', '/api/v1/sso/callback/default?code=a'])
      t.match(await at.call('GET', url, { headers: { accept } }), { status: 404, text: /<h1>/ }, url);
    t.match((await at.call('GET', '/api/users', { headers: { accept } })).body, { status: 401 }, 'nothing else');
    await at.call('PATCH', '/api/settings', { token: root.token, body: { sso_enabled: true } });
  });
  await t.test('the issuer is a place like any other: inner targets are refused', async (t) => {
    const inner = createOutbound({ allow: [] });
    const closedApp = await startTestApp(database, { outbound: inner, now: () => Date.now() });
    t.match(await closedApp.call('GET', '/api/sso/login'), { status: 422, body: { code: 'outbound_refused' } });
    await at.call('PATCH', '/api/settings', { token: root.token, body: { sso_issuer: 'https://169.254.169.254/id' } });
    t.match(await closedApp.call('GET', '/api/sso/login'), { status: 422, body: { code: 'outbound_refused' } });
    await closedApp.close();
  });
  t.match(await at.parts.audit.verify(database.sql), { ok: true });
  await at.close();
}

t.test('single sign-on', (t) => onBothDatabases(t, 'single sign-on', suite));
