// What gates verify is what the application gets: through each listener, in front of an application that serves every
// method alike and tells what reached it.
import { createHmac } from 'node:crypto';
import t, { type Test } from 'tap';
import { claimedFields } from '../http/claimed-fields.js';
import { listenerKinds, startBackend, startPlane, testMsMax } from './harness.js';
import { bodyOf, sendRaw, statusOf } from './raw-client.js';

t.setTimeout(testMsMax);

const secret = 'a-shared-secret-of-thirty-two-bytes';
const preflight = ['Origin: https://app.example', 'Access-Control-Request-Method: PUT'];
const auth = { auth_enabled: true, auth_protected_paths: ['/authed'] };
const challenge = { challenge_enabled: true, challenge_paths: ['/authed'] };

/** By which proxies tell an application who the client is, or what it really asks for. */
const identities = [
  'X-Forwarded-User',
  'X-Forwarded-Email',
  'X-Forwarded-Groups',
  'X-Forwarded-Preferred-Username',
  'X-Forwarded-Access-Token',
  'X-Forwarded-Client-Cert',
  'X-Forwarded-Method',
  'X-Forwarded-Path',
  'X-Forwarded-By',
  'X-Envoy-Original-Path',
  'X-Envoy-External-Address',
  'X-Auth-Request-User',
  'X-Auth-Request-Access-Token',
  'X-authentik-username',
  'X-WEBAUTH-USER',
  'Remote-User',
  'Remote-Groups',
  'X-Remote-User',
  'X-Remote-Group',
  'X-Remote-Extra-Scopes',
  'X-Goog-Authenticated-User-Email',
  'X-MS-CLIENT-PRINCIPAL-NAME',
  'Tailscale-User-Login',
  'X-SSL-Client-S-DN',
  'SSL-Client-Cert',
  'X-Client-Cert',
  'Client-Cert',
  'Client-IP',
  'True-Client-IP',
  'Forwarded-For',
];
/** A listener may take no more in a head. */
const fieldsAtOnce = 40;
/** And every one that is known, of those that all listeners take. */
const known = claimedFields
  .filter((name) => !/[_$]/.test(name) && !/^x-forwarded(?:-\*)?$/.test(name))
  .map((name) => name.replace('*', 'something'));

const tokenOf = (claims: object): string => {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const signed = `${part({ alg: 'HS256' })}.${part(claims)}`;
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
};
const good = tokenOf({ sub: 'ada', exp: Math.floor(Date.now() / 1000) + 600 });
const other = tokenOf({ sub: 'root', exp: 1 });

interface Application {
  readonly url: string;
  /** What it got, in order: request line, fields and body. */
  readonly seen: { line: string; fields: readonly string[]; body: string }[];
}

async function startApplication(t: Test): Promise<Application> {
  const seen: Application['seen'] = [];
  const backend = await startBackend(t, (request, response) => {
    let body = '';
    request.on('data', (chunk) => (body += String(chunk)));
    request.on('end', () => {
      seen.push({ line: `${request.method} ${request.url}`, fields: request.rawHeaders, body });
      response.setHeader('Access-Control-Allow-Origin', 'https://app.example');
      response.setHeader('Set-Cookie', 'session=1');
      response.end('SECRET CONTENT');
    });
  });
  return { url: backend.url, seen };
}

const head = (line: string, fields: readonly string[], body = ''): string =>
  `${line} HTTP/1.1\r\nHost: shop.example\r\n${fields.map((field) => `${field}\r\n`).join('')}\r\n${body}`;

for (const listener of listenerKinds) {
  /** The parser of uWebSockets refuses names with other punctuation than dashes. */
  const takesUnderscores = listener !== 'uws';
  t.test(`B2: a preflight carries nothing to a protected path, and no content back (${listener})`, async (t) => {
    for (const [name, gate] of Object.entries({ auth, challenge })) {
      const application = await startApplication(t);
      const sites = [{ name: 'shop', prefix: '/', upstream: application.url, protected: true }];
      const { ports } = await startPlane(t, listener, { sites, ...gate });
      const refusal = name === 'auth' ? 401 : 403;
      const strange = ['X-Command: run', ...identities.map((field) => `${field}: admin-of-all`)];
      const list = 'Access-Control-Request-Headers: content-type, x-mine';
      const passed = await sendRaw(ports.http, head('OPTIONS /authed?delete=1', [...preflight, list, ...strange]));
      t.equal(statusOf(passed.text), 200, name);
      t.match(passed.text, /access-control-allow-origin: https:\/\/app\.example/i);
      t.equal(bodyOf(passed.text), '', 'no content');
      t.notMatch(passed.text, /set-cookie|SECRET/i);
      t.equal(application.seen[0]?.line, 'OPTIONS /authed', 'without its query');
      t.notMatch(application.seen[0]?.fields.join('\n').toLowerCase(), /x-command|admin-of-all/);
      t.ok(application.seen[0]?.fields.includes('content-type, x-mine'));
      t.ok(application.seen[0]?.fields.includes('PUT'));
      const refused: Record<string, string> = {
        'a body': head('OPTIONS /authed', [...preflight, 'Content-Length: 3'], 'a=b'),
        'a chunked body': head(
          'OPTIONS /authed',
          [...preflight, 'Transfer-Encoding: chunked'],
          '3\r\na=b\r\n0\r\n\r\n',
        ),
        'a cookie': head('OPTIONS /authed', [...preflight, 'Cookie: session=1']),
        'another method': head('OPTIONS /authed', [...preflight, 'X-HTTP-Method-Override: DELETE']),
        'an empty origin': head('OPTIONS /authed', ['Origin:', preflight[1] as string]),
        'two origins in one': head('OPTIONS /authed', ['Origin: https://a, https://b', preflight[1] as string]),
        'an origin that is none': head('OPTIONS /authed', ['Origin: x', preflight[1] as string]),
        'an empty method': head('OPTIONS /authed', [preflight[0] as string, 'Access-Control-Request-Method:']),
        'a method that is no token': head('OPTIONS /authed', [
          preflight[0] as string,
          'Access-Control-Request-Method: PUT, GET',
        ]),
        'a list that is none': head('OPTIONS /authed', [
          ...preflight,
          'Access-Control-Request-Headers: user=admin&cmd=ls;id',
        ]),
        'two lists': head('OPTIONS /authed', [
          ...preflight,
          'Access-Control-Request-Headers: a',
          'Access-Control-Request-Headers: b',
        ]),
        'no origin': head('OPTIONS /authed', [preflight[1] as string]),
        'another verb': head('POST /authed', [...preflight, 'Content-Length: 0']),
      };
      if (takesUnderscores)
        refused['another method, underscores'] = head('OPTIONS /authed', [
          ...preflight,
          'X_Http_Method_Override: DELETE',
        ]);
      for (const [what, text] of Object.entries(refused))
        t.equal(statusOf((await sendRaw(ports.http, text)).text), refusal, `${name}: ${what}`);
      for (const field of preflight)
        t.equal(statusOf((await sendRaw(ports.http, head('OPTIONS /authed', [...preflight, field]))).text), 400, field);
      t.equal(application.seen.length, 1, 'nothing else arrived');
      const open = await sendRaw(ports.http, head('OPTIONS /open?a=b', preflight));
      t.equal(bodyOf(open.text), 'SECRET CONTENT', 'other paths are left alone');
      t.equal(application.seen[1]?.line, 'OPTIONS /open?a=b');
    }
    const application = await startApplication(t);
    const sites = [{ name: 'shop', prefix: '/', upstream: application.url, protected: true }];
    const { ports } = await startPlane(t, listener, { sites, ...auth, auth_preflight: 'refuse' });
    t.equal(statusOf((await sendRaw(ports.http, head('OPTIONS /authed', preflight))).text), 401, 'where it is set');
  });

  t.test(`who a client is, is said by trusted proxies only (${listener})`, async (t) => {
    for (const isTrusted of [false, true]) {
      const application = await startApplication(t);
      const sites = [{ name: 'shop', prefix: '/', upstream: application.url }];
      const trust = isTrusted ? { rl_trust_proxy: true, rl_trusted_proxies: ['127.0.0.0/8'] } : {};
      const { ports } = await startPlane(t, listener, { sites, ...trust });
      const all = [...identities, ...known.filter((name) => !identities.some((one) => one.toLowerCase() === name))];
      for (let from = 0; from < all.length; from += fieldsAtOnce) {
        const names = all.slice(from, from + fieldsAtOnce);
        const said = names.map((field) => `${field}: admin-of-all`);
        const kept = 'X-Auth-User: a-field-of-clients';
        t.equal(statusOf((await sendRaw(ports.http, head('GET /a', [...said, kept]))).text), 200);
        const fields = application.seen.at(-1)?.fields ?? [];
        const got = fields.flatMap((name, index) => (fields[index + 1] === 'admin-of-all' ? [name.toLowerCase()] : []));
        const wanted = isTrusted ? names.map((name) => name.toLowerCase()) : [];
        t.same(got, wanted, isTrusted ? 'of a trusted proxy' : 'of a stranger');
        t.ok(fields.includes('a-field-of-clients'));
      }
    }
  });

  t.test(`B3: of fields with one value there is one (${listener})`, async (t) => {
    const application = await startApplication(t);
    const sites = [{ name: 'shop', prefix: '/', upstream: application.url, protected: true }];
    const { ports } = await startPlane(t, listener, { sites, ...auth, auth_secret: secret });
    const get = async (...fields: string[]): Promise<number> =>
      statusOf((await sendRaw(ports.http, head('GET /authed', fields))).text);
    t.equal(await get(`Authorization: Bearer ${good}`), 200);
    const doubled: readonly [string, string][] = [
      [`Authorization: Bearer ${good}`, `Authorization: Bearer ${other}`],
      [`Authorization: Bearer ${good}`, `authorization: Bearer ${good}`],
      [`Authorization: Bearer ${good}`, 'Authorization:'],
      ['Authorization:', `Authorization: Bearer ${good}`],
      ['X-API-Key: a', 'x-api-key: b'],
      ['Content-Type: text/plain', 'Content-Type: application/json'],
      ['User-Agent: a', 'User-Agent: b'],
      ['Origin: https://a', 'Origin: https://b'],
      ['Host: other.example', 'X-A: b'],
    ];
    for (const fields of doubled) t.equal(await get(...fields), 400, fields.join(' · '));
    t.equal(await get(`Authorization: Bearer ${good}, Bearer ${other}`), 401, 'joined by a comma');
    t.equal(await get(`Authorization: Bearer ${good},${other}`), 401);
    t.equal(application.seen.length, 1);
    const punctuated = takesUnderscores ? ['X_API_Key: b', 'X.Api.Key: c', 'User_Agent: d'] : [];
    const spellings = ['X-API-Key: a', 'Connection: x-api-key, authorization', ...punctuated];
    t.equal(await get(`Authorization: Bearer ${good}`, ...spellings), 200);
    const fields = application.seen[1]?.fields ?? [];
    const named = fields.filter((_name, index) => index % 2 === 0).map((name) => name.toLowerCase());
    for (const name of ['authorization', 'x-api-key'])
      t.equal(named.filter((one) => one.replaceAll(/[^a-z]/g, '-') === name).length, 1, `one ${name}`);
    t.notOk(named.includes('user_agent'));
  });

  t.test(`B7: tokens end (${listener})`, async (t) => {
    const application = await startApplication(t);
    const sites = [{ name: 'shop', prefix: '/', upstream: application.url, protected: true }];
    const { ports } = await startPlane(t, listener, { sites, ...auth, auth_secret: secret });
    const get = (claims: object): Promise<string> =>
      sendRaw(ports.http, head('GET /authed', [`Authorization: Bearer ${tokenOf(claims)}`])).then(({ text }) => text);
    t.match(await get({ sub: 'ada' }), /error_description="the token was refused: no expiry"/);
    t.match(await get({ sub: 'ada', exp: Date.now() * 1000 }), /expiry too far ahead/);
    t.match(await get({ sub: 'ada', exp: '1' }), /malformed/);
  });
}
