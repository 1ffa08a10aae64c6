// A page that tries whatever leads out of the bounds of a scan: nothing of it leaves. What it asks for has the header
// of the run; a stop ends the browser, with all its processes, within a second.
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { createGuardedClient } from '#api/testing/servers/guarded-client';
import { pause, testMsMax, until } from '#api/testing/waiting';
import { Budget, Rate } from '../http/pace.js';
import { PoliteClient, runHeader } from '../http/polite-client.js';
import { Session } from '../http/session.js';
import { Talk } from '../http/talk.js';
import { formOfSent } from './sent.js';
import { Eyes, isHarmfulUse } from './eyes.js';
import { findChromium } from './process.js';

t.setTimeout(testMsMax);
const way = createGuardedClient(['127.0.0.0/8']);
t.teardown(() => way.close());
let sends = 0;
/** Counts what leaves, as it leaves. */
const countedWay: Pick<typeof way, 'send' | 'check' | 'isAllowListed'> = {
  check: async (...given) => way.check(...given),
  isAllowListed: (...given) => way.isAllowListed(...given),
  send: async (...given) => {
    sends++;
    return way.send(...given);
  },
};
const program = findChromium(null);
const skip = program === null ? 'there is no Chromium' : false;

async function serve(t: Test, answer: (request: IncomingMessage, reply: ServerResponse) => void) {
  const server: Server = createServer(answer);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function eyesFor(t: Test, origin: string, signal = new AbortController().signal, perSecond = 500) {
  const bounds = {
    origins: [origin],
    scopePaths: [],
    excludedPaths: ['/private'],
    methods: ['GET', 'POST'] as const,
    requestsMax: 400,
    secondsMax: 120,
    windows: [],
    perSecond,
  };
  const budget = new Budget(bounds);
  const client = new PoliteClient({
    way: countedWay,
    bounds,
    signal,
    runId: 'scan-7',
    now: Date.now,
    rate: new Rate(),
    budget,
  });
  const talk = new Talk(client, new Session(null));
  const eyes = new Eyes({ program, why: 'none', talk, origin, requestsMax: bounds.requestsMax, withWrites: true });
  t.teardown(() => eyes.close());
  return { eyes, talk };
}

const escapes = (other: string): string => `<!doctype html><body>
<img src="${other}/picture"><iframe src="${other}/frame"></iframe><iframe src="/inner"></iframe>
<link rel="prefetch" href="/private/prefetched"><link rel="dns-prefetch" href="//elsewhere.example">
<form id="out" action="${other}/form" method="post"></form>
<button id="bye" class="btnLogOut">&times;</button><button id="ok">Show</button>
<script>
  const tries = [
    () => fetch('${other}/fetch', { mode: 'no-cors' }), () => fetch('/private/fetched'), () => fetch('/%70rivate/x'),
    () => fetch('/things/1', { method: 'DELETE' }), () => fetch('/account/logout'),
    () => new WebSocket('${other}/socket'),
    () => navigator.sendBeacon('${other}/beacon', 'x'), () => window.open('${other}/window'),
    () => navigator.serviceWorker.register('/worker.js'), () => new EventSource('${other}/events'),
    () => new Worker(URL.createObjectURL(new Blob(["fetch('${other}/worker'); fetch('${other}'.replace(/.$/, '1'))"]))),
    () => { const one = document.createElement('script'); one.src = '${other}/script.js'; document.body.append(one); },
    () => fetch('/graphql', { method: 'POST', body: JSON.stringify({ query: 'mutation { deleteUser(id: 1) }' }) }),
    () => fetch('/data?page=1').then(() => document.body.append('shown')),
  ];
  for (const one of tries) new Promise((done) => done(one())).catch(() => 0);
  document.getElementById('bye').addEventListener('click', () => fetch('/by-the-icon'));
  document.getElementById('ok').addEventListener('click', () => {
    history.pushState(null, '', '/route/2');
    fetch('/save', { method: 'POST', headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ note: { text: 'a', tags: ['b'] }, count: 2 }) });
  });
  setTimeout(() => { location.href = '${other}/away'; }, 50);
</script>`;

t.test('nothing leaves the bounds, and what is asked has the header of the run', { skip }, async (t) => {
  const elsewhere: string[] = [];
  const other = await serve(t, (request, reply) => {
    elsewhere.push(request.url ?? '');
    reply.end();
  });
  const asked: { readonly what: string; readonly run: unknown }[] = [];
  const origin = await serve(t, (request, reply) => {
    asked.push({ what: `${request.method} ${request.url}`, run: request.headers[runHeader] });
    reply.setHeader('content-type', 'text/html');
    reply.end(request.url === '/' ? escapes(other) : '{}');
  });
  const { eyes, talk } = eyesFor(t, origin);
  const page = await talk.get(`${origin}/`);
  if (page === null) throw new Error('the page did not answer');
  const seen = await eyes.look(`${origin}/`, page);
  t.not(seen, null, eyes.whyNot ?? '');
  t.same(elsewhere, [], 'nothing out of scope');
  t.same([...new Set(asked.map(({ what }) => what))].sort(), ['GET /', 'GET /data?page=1', 'GET /inner', 'POST /save']);
  t.ok(
    asked.every(({ run }) => run === 'scan-7'),
    'each says whose it is',
  );
  t.ok(seen?.routes.includes(`${origin}/route/2`));
  t.ok(
    seen?.documents.some((one) => one.includes('shown')),
    'the page as its scripts made it',
  );
  const reasons = [...(seen?.leftOut ?? [])].map(([what, why]) => `${what.replace(origin, '')}: ${why}`);
  for (const wanted of ['GET /private/fetched: excluded', 'DELETE /things/1: method', 'GET /account/logout: would'])
    t.ok(
      reasons.some((one) => one.startsWith(wanted)),
      `${wanted}; said: ${reasons.join('; ')}`,
    );
  const save = seen?.sent.find(({ request }) => request.method === 'POST');
  const form = save === undefined ? null : formOfSent(save.request);
  t.match(form, { bodyKind: 'json', params: [{ name: 'note.text' }, { name: 'note.tags.0' }, { name: 'count' }] });
});

const processesOf = (home: string): number =>
  readdirSync('/proc').filter((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      return readFileSync(`/proc/${name}/cmdline`, 'latin1').includes(home);
    } catch {
      return false;
    }
  }).length;

t.test('a stop ends the browser within a second', { skip }, async (t) => {
  let count = 0;
  const before = sends;
  const origin = await serve(t, (_, reply) => {
    count++;
    setTimeout(() => {
      reply.setHeader('content-type', 'text/html');
      reply.end(
        '<script>let n = 0; setInterval(() => fetch("/poll" + String.fromCharCode(97 + n++ % 26)), 5)</script>',
      );
    }, 20);
  });
  const stop = new AbortController();
  const { eyes, talk } = eyesFor(t, origin, stop.signal);
  const page = await talk.get(`${origin}/`);
  if (page === null) throw new Error('the page did not answer');
  const looking = eyes.look(`${origin}/`, page).catch((error: unknown) => error);
  await until('the page asks', async () => count > 5);
  const name = eyes.home;
  t.ok(processesOf(name) > 0);
  const at = performance.now();
  stop.abort();
  const sent = sends;
  await looking;
  await until('its processes are gone', async () => processesOf(name) === 0);
  t.ok(performance.now() - at < 1000, `${Math.round(performance.now() - at)} ms`);
  // on a busy machine what had left before the stop comes in later
  await pause(300);
  t.equal(sends, sent, 'nothing is asked afterwards');
  t.ok(count <= sent - before, `${count} came in of ${sent - before}`);
});

t.test('what is used is chosen by all that it says of itself', async (t) => {
  for (const words of [
    'Log out',
    'btnLogout',
    'icon-trash',
    'delete-user',
    'Konto löschen',
    'x /account/close',
    'Leave',
  ])
    t.ok(isHarmfulUse(words), words);
  for (const words of ['Show', 'Leave a comment', 'dropdown-menu', 'Next', 'Deleted scenes', 'Add to cart'])
    t.notOk(isHarmfulUse(words), words);
});

t.test('where there is none, it says so', async (t) => {
  t.equal(findChromium('none'), null);
  t.equal(findChromium('/nowhere/chromium'), null);
  t.equal(findChromium(null, '/nowhere'), null);
});

t.test('a page that writes to its console without end, or never rests, is left', { skip }, async (t) => {
  const loud = "setInterval(() => { for (let n = 0; n < 20; n++) console.log('x'.repeat(1e6), document); }, 1)";
  const busy = "document.getElementById('a').onclick = () => { for (;;) alert('x'.repeat(1000)); }";
  const origin = await serve(t, (request, reply) => {
    reply.setHeader('content-type', 'text/html');
    const script = request.url === '/loud' ? loud : request.url === '/busy' ? busy : '';
    reply.end(`<!doctype html><body><button id="a" onclick="ghabcdefgh()">a</button><script>${script}</script>`);
  });
  const { eyes, talk } = eyesFor(t, origin);
  const get = async (path: string) => {
    const page = await talk.get(origin + path);
    if (page === null) throw new Error('the page did not answer');
    return page;
  };
  const read = JSON.parse;
  let letters = 0;
  t.intercept(JSON, 'parse', {
    value: (text: string): unknown => {
      letters += text.length;
      return read(text);
    },
  });
  t.not(await eyes.look(`${origin}/loud`, await get('/loud')), null, eyes.whyNot ?? '');
  t.ok(letters < 1_000_000, `what it wrote is not read: ${letters} letters`);
  const began = performance.now();
  await eyes.look(`${origin}/busy`, await get('/busy'));
  t.ok(performance.now() - began < 40_000);
  t.equal(eyes.whyNot, null);
  t.equal(await eyes.runs(await get('/'), 'ghabcdefgh'), true, 'and the next page is opened');
});

t.test('what a browser left whose control plane was killed is removed', { skip }, async (t) => {
  const left = join(tmpdir(), 'gatehouse-browser-99999999-left');
  mkdirSync(join(left, 'profile'), { recursive: true });
  const origin = await serve(t, (_, reply) => reply.end('<p>a</p>'));
  const { eyes, talk } = eyesFor(t, origin);
  const page = await talk.get(`${origin}/`);
  if (page === null) throw new Error('the page did not answer');
  await eyes.look(`${origin}/`, page);
  t.notOk(existsSync(left));
  t.ok(existsSync(eyes.home), 'its own is there');
});
