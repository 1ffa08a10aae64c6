// The challenge as clients meet it: the page's own script solves it (run here in a bare context, and in a real browser
// where the machine has one), passes hold, tricks do not, and every kind of client gets a refusal that it understands.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { runInNewContext } from 'node:vm';
import t from 'tap';
import { drive, type Drive, type Driven } from '../../road/testing/drive.js';
import { gates } from '../index.js';
import { testGateWorker, type TestWorker } from '../testing/gate-worker.js';

t.setTimeout(Number(process.env['TAP_TIMEOUT'] ?? 900) * 1000);

const settings = {
  challenge_enabled: true,
  challenge_paths: ['/shop'],
  challenge_difficulty: 8,
  challenge_pass_sec: 600,
};
const browser = [
  'User-Agent',
  'Mozilla/5.0 (X11; Linux x86_64) Firefox/130.0',
  'Accept',
  'text/html,*/*',
  'Sec-Fetch-Dest',
  'document',
];

function visit(test: TestWorker, request: Partial<Drive> = {}): Driven {
  return drive({ gates, worker: test.worker, settings, uri: '/shop/cart?x=1', headers: browser, ...request });
}
const field = (driven: Driven, name: string): string => {
  const headers = driven.answer?.headers ?? [];
  return headers.includes(name) ? (headers[headers.indexOf(name) + 1] ?? '') : '';
};
const unescape = (text: string): string =>
  text.replaceAll('&amp;', '&').replaceAll('&#39;', "'").replaceAll('&quot;', '"');
const attribute = (page: string, name: string): string =>
  unescape(new RegExp(`${name}="([^"]*)"`).exec(page)?.[1] ?? '');

/** Runs the page's script as a browser would; where it goes then. */
function solve(page: string): string {
  let gone = '';
  const waiting: (() => void)[] = [];
  const main = { getAttribute: (name: string) => attribute(page, name) };
  const context = {
    document: { querySelector: () => main },
    location: { replace: (url: string) => (gone = url) },
    setTimeout: (work: () => void) => waiting.push(work),
  };
  runInNewContext(/<script>([^]*)<\/script>/.exec(page)?.[1] ?? '', context);
  while (gone === '') (waiting.shift() as () => void)();
  return gone;
}
const cookieOf = (driven: Driven): string => field(driven, 'Set-Cookie').split(';')[0] ?? '';

t.test('4: a browser solves it once, comes back where it wanted to go, and is not asked again', async (t) => {
  const test = testGateWorker();
  const asked = visit(test);
  t.equal(asked.answer?.status, 403);
  t.equal(field(asked, 'Content-Type'), 'text/html; charset=utf-8');
  t.match(field(asked, 'Content-Security-Policy'), /default-src 'none'.*script-src 'sha256-[^']+'; style-src 'sha256-/);
  t.ok(asked.answer?.headers.includes('no-store'));
  t.ok((asked.answer?.body.length ?? 0) < 6000, `${asked.answer?.body.length} bytes`);
  const solved = visit(test, { uri: solve(asked.answer?.body ?? '') });
  t.equal(solved.answer?.status, 303);
  t.equal(field(solved, 'Location'), '/shop/cart?x=1');
  t.match(field(solved, 'Set-Cookie'), /^gatehouse_pass=[^;]+; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax$/);
  t.strictSame(solved.events, [], 'a solved challenge is no event');
  const cookie = cookieOf(solved);
  const back = (over: Partial<Drive> = {}) =>
    visit(test, { headers: [...browser, 'Cookie', `a=b; ${cookie}`], ...over });
  t.ok(back().isForwarded);
  t.ok(visit(test, { uri: '/elsewhere' }).isForwarded, 'other paths are not challenged');
  t.notOk(visit(test, { headers: [...browser, 'Cookie', `${cookie}x`] }).isForwarded);
  t.notOk(back({ clientIp: '192.0.2.99' }).isForwarded, 'of another client');
  t.notOk(visit(test, { headers: ['User-Agent', 'curl', 'Cookie', cookie] }).isForwarded, 'of another program');
  const other = testGateWorker();
  t.ok(
    drive({ gates, worker: other.worker, settings, uri: '/shop', headers: [...browser, 'Cookie', cookie] }).isForwarded,
    'every node takes it',
  );
  test.pass(601_000);
  t.notOk(back().isForwarded, 'it ends');
});

t.test('4: answers that do not count: replayed, of others, expired, unsolved, forged', async (t) => {
  const test = testGateWorker();
  const page = visit(test).answer?.body ?? '';
  const uri = solve(page);
  const refused = (driven: Driven): boolean => driven.answer?.status === 403 && field(driven, 'Set-Cookie') === '';
  t.ok(refused(visit(test, { uri, clientIp: '192.0.2.99' })), 'of another address');
  t.ok(refused(visit(test, { uri, headers: ['Host', 'other.example', ...browser.slice(2)] })), 'of another browser');
  t.ok(refused(visit(test, { uri: uri.replace(/&n=\d+/, '&n=1') })), 'not solved');
  t.ok(refused(visit(test, { uri: uri.replace(/&n=\d+/, '') })));
  t.ok(refused(visit(test, { uri: uri.replace('.8.', '.0.') })), 'made easier');
  t.ok(refused(visit(test, { uri: uri.replace('?t=', '?t=x') })), 'forged');
  t.equal(visit(test, { uri }).answer?.status, 303);
  t.ok(refused(visit(test, { uri })), 'replayed');
  const late = solve(visit(test).answer?.body ?? '');
  test.pass(300_000);
  t.ok(refused(visit(test, { uri: late })), 'expired');
});

t.test('4: without scripts it takes some seconds, and not fewer', async (t) => {
  const test = testGateWorker();
  const page = visit(test).answer?.body ?? '';
  const [, seconds, url = ''] = /<noscript><meta http-equiv="refresh" content="(\d+);url=([^"]+)">/.exec(page) ?? [];
  t.equal(seconds, '6');
  t.equal(visit(test, { uri: unescape(url) }).answer?.status, 403, 'too early');
  test.pass(5000);
  t.equal(visit(test, { uri: unescape(url) }).answer?.status, 303);
  t.match(page, /<html lang="en">[^]*<title>[^<]+<\/title>[^]*<h1>[^]*role="status"/, 'it says what happens');
});

t.test('4: it leads nowhere but back to this site', async (t) => {
  for (const target of [
    '//evil.example',
    '/\\evil.example',
    'https://evil.example',
    '/x\r\nSet-Cookie: a=b',
    '\\\\evil',
    '',
    '/\t/evil.example',
    '/.gatehouse/challenge?t=1',
    'javascript:alert(1)',
  ]) {
    const test = testGateWorker();
    const uri = solve(visit(test).answer?.body ?? '').replace(/&r=[^&]*/, `&r=${encodeURIComponent(target)}`);
    const location = field(visit(test, { uri }), 'Location');
    t.match(location, /^\/$|^\/%09\/evil|^\/x/, `${JSON.stringify(target)} → ${location}`);
    t.notMatch(location, /[\r\n\t\\]/);
  }
  const test = testGateWorker();
  const uri = solve(visit(test).answer?.body ?? '').replace(/&r=[^&]*/, '&r=%2Fa%3Fq%3D%3Cb%3E%26c%C3%A9');
  t.equal(field(visit(test, { uri }), 'Location'), '/a?q=<b>&c%C3%A9');
  const page = visit(test, { uri: '/shop/"><script>alert(1)</script>' }).answer?.body ?? '';
  t.equal(page.split('<script>').length, 2, 'what was asked for is no markup');
});

t.test('4: twelve kinds of clients get what they understand', async (t) => {
  const agent = ['User-Agent', 'x/1'];
  const json = ['Accept', 'application/json'];
  const kinds: Record<string, readonly [Partial<Drive>, number, RegExp]> = {
    'browser navigation': [{ headers: browser }, 403, /^text\/html/],
    'old browser without fetch metadata': [{ headers: ['Accept', 'text/html;q=0.9'] }, 403, /^text\/html/],
    'browser form': [{ method: 'POST', headers: browser }, 403, /^text\/html/],
    frame: [{ headers: ['Accept', 'text/html', 'Sec-Fetch-Dest', 'iframe'] }, 403, /^text\/html/],
    'fetch of a page': [
      { headers: ['Accept', '*/*', 'Sec-Fetch-Dest', 'empty', 'Sec-Fetch-Mode', 'cors'] },
      403,
      /problem\+json/,
    ],
    XHR: [{ headers: ['Accept', 'text/html, */*', 'X-Requested-With', 'XMLHttpRequest'] }, 403, /problem\+json/],
    'API client': [{ headers: [...agent, ...json] }, 403, /problem\+json/],
    curl: [{ headers: ['User-Agent', 'curl/8', 'Accept', '*/*'] }, 403, /problem\+json/],
    'event source': [{ headers: ['Accept', 'text/event-stream', 'Sec-Fetch-Dest', 'empty'] }, 403, /problem\+json/],
    'image of a page': [{ headers: ['Accept', 'image/*', 'Sec-Fetch-Dest', 'image'] }, 403, /^text\/plain/],
    WebSocket: [{ headers: ['Upgrade', 'websocket', 'Connection', 'Upgrade'] }, 403, /^text\/plain/],
    gRPC: [
      { method: 'POST', headers: ['Content-Type', 'application/grpc+proto', 'TE', 'trailers'] },
      200,
      /^application\/grpc$/,
    ],
    'gRPC-web': [
      { method: 'POST', headers: ['Content-Type', 'application/grpc-web-text'] },
      200,
      /^application\/grpc$/,
    ],
  };
  for (const [name, [request, status, type]] of Object.entries(kinds)) {
    const driven = visit(testGateWorker(), request);
    t.equal(driven.answer?.status, status, name);
    t.match(field(driven, 'Content-Type'), type, name);
    if (type.source.includes('problem'))
      t.match(
        JSON.parse(driven.answer?.body ?? ''),
        { status: 403, challenge_url: '/.gatehouse/challenge?r=%2Fshop%2Fcart%3Fx%3D1' },
        name,
      );
    if (name.startsWith('gRPC')) t.equal(field(driven, 'grpc-status'), '7');
  }
  const preflight = ['Origin', 'https://a', 'Access-Control-Request-Method', 'PUT'];
  t.ok(visit(testGateWorker(), { method: 'OPTIONS', headers: preflight }).isForwarded, 'a preflight goes through');
  t.match(visit(testGateWorker(), { method: 'POST', headers: browser }).answer?.body, 'send it once more');
});

t.test('4: off by default; with it, only protected sites and modes that enforce', async (t) => {
  t.ok(visit(testGateWorker(), { settings: {} }).isForwarded);
  t.ok(visit(testGateWorker(), { site: { protected: false } }).isForwarded);
  t.ok(visit(testGateWorker(), { site: { mode: 'DetectionOnly' } }).isForwarded);
  for (const uri of ['/SHOP', '//shop', '/x/../shop', '/%73hop'])
    t.notOk(visit(testGateWorker(), { uri }).isForwarded, uri);
  t.ok(visit(testGateWorker(), { uri: '/shopping' }).isForwarded);
});

const chromium = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) =>
  existsSync(path),
);

t.test(
  '4: a real Chromium passes once',
  { skip: chromium === undefined ? 'no Chromium on this machine' : false },
  async (t) => {
    const test = testGateWorker();
    let pages = 0;
    const server = createServer((request, response) => {
      const headers = request.rawHeaders;
      const driven = visit(test, { uri: request.url ?? '/', headers });
      if (driven.answer === null) {
        pages += 1;
        response.end('<p id="through">through</p>');
        return;
      }
      response.statusCode = driven.answer.status;
      for (let at = 0; at < driven.answer.headers.length; at += 2)
        response.appendHeader(driven.answer.headers[at] as string, driven.answer.headers[at + 1] as string);
      response.end(driven.answer.body);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.teardown(() => server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/shop`;
    const flags = ['--headless=new', '--no-sandbox', '--disable-gpu', '--virtual-time-budget=20000', '--dump-dom', url];
    const shown = await new Promise<string>((resolve, reject) => {
      execFile(chromium ?? '', flags, (error, stdout) => (error === null ? resolve(stdout) : reject(error)));
    });
    t.match(shown, 'id="through"');
    t.ok(pages >= 1);
  },
);
