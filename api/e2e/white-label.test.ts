// An installation under another name: what users, browsers, visitors of protected sites and other systems get of the
// running servers does not have ours. Words that programs are configured by (commands, variables, names of metrics and
// headers between parts) are no names of a product: docs/branding.md lists them, and this test holds the list.
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { startHost, withoutHost } from '../testing/processes/host.js';
import { testMsMax, until } from '../testing/waiting.js';

t.setTimeout(testMsMax);

const password = 'Quiet-river-stone-41';
const chosen = 'Loud-brook-pebble-52';

/** Each as it may stand in a text; what is left of our name after they are taken out is a finding. */
const technical: readonly RegExp[] = [
  /\bgatehouse_[a-z_]+/g, // metrics and cookies of the console
  /\bgatehouse\.[a-z][\w.-]*/g, // keys of a browser's storage, attributes of spans, schemas
  /\bgatehouse\/[a-z][\w-]*/g, // tags of rules
  /\bx-gatehouse-[a-z]+/gi, // between console and API
  /\burn:gatehouse:[\w:{}$.-]+/g, // types of problems
  /\bgatehouse-[a-z][\w-]*/g, // scanners, packages and services by name, formats
  /\bGATEHOUSE_[A-Z_]+/g, // variables
  /`gatehouse(?: [^`]*)?`/g, // commands
  /\bgatehouse (?:up|backup|restore|node|scan|gate|health|version|rules|licence|harden|capacity|explain|demo-data)\b/g,
  /\b(?:bin|etc|lib|opt|log)\/gatehouse\b/g, // paths
  /\bstarted by gatehouse\b/g, // the command
  /"gatehouse"(?=,"threagile")/g, // a format of documents, by name
  /\bgatehouse:[0-9a-f]{8}/g, // keys by which a receiver knows an alert again
];

function ownNameIn(text: string): string[] {
  const rest = technical.reduce((left, form) => left.replaceAll(form, ''), text);
  return [...rest.matchAll(/.{0,60}gatehouse.{0,60}/gi)].map(([found]) => found);
}

function holds(t: Test, what: string, text: string): void {
  t.ok(text.length > 0, `${what} is not empty`);
  t.same(ownNameIn(text).slice(0, 5), [], what);
}

t.test('a text with our name is found', async (t) => {
  for (const text of ['<title>Gatehouse</title>', 'Server: gatehouse', 'by gatehouse 1.0', 'GATEHOUSE'])
    t.equal(ownNameIn(text).length, 1, text);
  t.same(ownNameIn('run `gatehouse backup key`, then set GATEHOUSE_TOKEN'), []);
});

/** Another system: keeps what it is sent, head and body. */
async function startReceiver(t: Test) {
  const calls: string[] = [];
  const server = createServer((request, answer) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const head = request.rawHeaders.join('\n');
      calls.push(`${request.method} ${request.url}\n${head}\n\n${Buffer.concat(chunks).toString()}`);
      answer.end('{}');
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => void server.close());
  return { calls, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook` };
}

t.test('served and sent under another name', { skip: withoutHost() }, async (t) => {
  const receiver = await startReceiver(t);
  const host = await startHost(t, password, {
    APP_BRAND: 'Acme Shield',
    APP_BRAND_SUB: 'Edge',
    APP_TAGLINE: 'Guards what is ours',
    OUTBOUND_ALLOW: '127.0.0.1',
  });
  const get = async (url: string, init: RequestInit = {}) => {
    const reply = await fetch(url, { redirect: 'manual', ...init });
    const head = [...reply.headers].map(([name, value]) => `${name}: ${value}`).join('\n');
    return { status: reply.status, head, text: await reply.text() };
  };
  const api = `http://127.0.0.1:${host.ports.API_PORT}`;
  const site = `http://127.0.0.1:${host.ports.WAF_PORT}`;
  const ui = `http://127.0.0.1:${host.ports.UI_PORT}`;
  let token = '';
  const call = (method: string, path: string, body?: object) =>
    get(api + path, {
      method,
      headers: {
        ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const logIn = async (secret: string) => {
    const reply = await call('POST', '/api/login', { email: 'admin@gatehouse.local', password: secret });
    token = (JSON.parse(reply.text) as { token: string }).token;
  };
  await logIn(password);
  await call('POST', '/api/account/password', { current: password, password: chosen });
  await logIn(chosen);

  await t.test('a visitor of a protected site', async (t) => {
    for (const [path, status] of [
      ['/', 200],
      ['/?id=1%27%20OR%20%271%27=%271', 403],
    ] as const) {
      const reply = await get(site + path);
      t.equal(reply.status, status, path);
      holds(t, `${path}: head`, reply.head);
      if (reply.text !== '') holds(t, `${path}: page`, reply.text);
    }
    const body = { network: '127.0.0.1', action: 'challenge', expires_in_seconds: 600, reason: 'test', force: true };
    t.ok((await call('POST', '/api/bans', body)).status < 300);
    await until('it is asked for', async () => (await get(`${site}/`)).text.includes('challenge'));
    const page = await get(`${site}/`, { headers: { accept: 'text/html' } });
    holds(t, 'challenge: head', page.head);
    holds(t, 'challenge: page', page.text);
  });

  await t.test('a browser', async (t) => {
    const page = await get(`${ui}/`);
    t.match(page.text, '<title>Acme Shield');
    holds(t, 'console: head', page.head);
    holds(t, 'console: page', page.text);
    const assets = new Set([...page.text.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, path]) => path ?? ''));
    const scripts = /"\.?\/((?:assets\/)?[\w.-]+\.js)"/g;
    for (const path of assets)
      for (const [, more = ''] of (await get(ui + path)).text.matchAll(scripts))
        assets.add(`/${path.includes('assets/') ? more.replace(/^(?!assets)/, 'assets/') : more}`);
    t.ok(assets.size > 2, [...assets].join());
    for (const path of assets) {
      const reply = await get(ui + path);
      holds(t, `${path}: head`, reply.head);
      if (/\.(?:js|css|svg|webmanifest|json)$/.test(path)) holds(t, path, reply.text);
    }
  });

  await t.test('who reads the documentation of the API', async (t) => {
    for (const path of ['/docs', '/openapi.json', '/api/v1/docs', '/api/v1/openapi.json']) {
      const reply = await call('GET', path);
      if (reply.status === 404) continue;
      holds(t, `${path}: head`, reply.head);
      holds(t, path, reply.text);
      if (path.endsWith('.json')) t.match((JSON.parse(reply.text) as { info: object }).info, { title: /Acme Shield/ });
    }
    holds(t, 'an error', (await call('GET', '/api/v1/nothing')).text);
  });

  await t.test('another system', async (t) => {
    const sent = await call('POST', '/api/alerts/test', { type: 'webhook', target: receiver.url });
    t.equal(receiver.calls.length, 1, sent.text);
    t.match(receiver.calls[0], /user-agent\nAcme-Shield\n/i);
    for (const one of receiver.calls) holds(t, 'what it was sent', one);
  });
});
