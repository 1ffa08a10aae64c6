// The road with real sockets: what reaches the application, what the client gets, and who decides.
import { gzipSync } from 'node:zlib';
import t from 'tap';
import {
  admin,
  auditLines,
  listenerKinds,
  metricsWith,
  startBackend,
  startPlane,
  testMsMax,
  until,
  workersOf,
} from './harness.js';
import { bodyOf, sendRaw, statusOf } from './raw-client.js';

t.setTimeout(testMsMax);

/** As much of a line of the audit log as these tests look at. */
interface Line {
  readonly transaction: { readonly unique_id: string; readonly client_ip: string };
  readonly gatehouse: { readonly verdict: string };
}

const post = (body: string, extra = ''): string =>
  `POST /form HTTP/1.1\r\nHost: shop.example\r\nContent-Length: ${body.length}\r\n${extra}\r\n${body}`;
const get = (path: string, extra = ''): string => `GET ${path} HTTP/1.1\r\nHost: shop.example\r\n${extra}\r\n`;

for (const kind of listenerKinds) {
  t.test(`${kind}: what is inspected is what is forwarded`, async (t) => {
    const seen: { head: string[]; url: string; body: string }[] = [];
    const backend = await startBackend(t, (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        seen.push({ head: request.rawHeaders, url: request.url ?? '', body: Buffer.concat(chunks).toString('latin1') });
        response.setHeader('Set-Cookie', ['a=1', 'b=2']);
        response.setHeader('X-Request-Id', 'of the application');
        response.end(request.method === 'HEAD' ? undefined : 'hello');
      });
    });
    const plane = await startPlane(t, kind, {
      sites: [
        { name: 'shop', prefix: '/', upstream: backend.url, protected: true },
        { name: 'free', prefix: '/free', upstream: backend.url, protected: false },
      ],
    });
    const { http } = plane.ports;

    const reply = await sendRaw(
      http,
      get(
        '/a%20b/?q=%C3%9C&x=../y',
        'Connection: X-Strip, X-Forwarded-For\r\nX-Strip: 1\r\nX-Forwarded-For: 6.6.6.6\r\nX-Keep: v\xc3\xa9x\r\n',
      ),
    );
    t.equal(statusOf(reply.text), 200);
    t.equal(bodyOf(reply.text), 'hello');
    t.equal((reply.text.match(/set-cookie: /gi) ?? []).length, 2);
    t.equal((reply.text.match(/\r\ndate: /gi) ?? []).length, 1);
    const id = /\r\nX-Request-Id: (\w{26})\r\n/i.exec(reply.text)?.[1];
    t.ok(id, 'the reply carries the request id, ours');
    const [first] = seen;
    t.equal(first?.url, '/a%20b/?q=%C3%9C&x=../y');
    const fields = new Map(
      (first?.head ?? []).flatMap((name, index, all) =>
        index % 2 === 0 ? [[name.toLowerCase(), all[index + 1] ?? '']] : [],
      ),
    );
    t.equal(fields.get('x-request-id'), id);
    t.equal(fields.get('x-forwarded-for'), '127.0.0.1');
    t.equal(fields.get('host'), 'shop.example');
    t.equal(fields.get('x-keep'), 'v\xc3\xa9x');
    t.notOk(fields.has('x-strip'));

    t.equal(statusOf((await sendRaw(http, post('name=\xe9\x00\xff&q=1'))).text), 200);
    t.equal(seen.at(-1)?.body, 'name=\xe9\x00\xff&q=1');
    t.equal(
      statusOf(
        (
          await sendRaw(
            http,
            `POST /c HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n4\r\ndefg\r\n0\r\n\r\n`,
          )
        ).text,
      ),
      200,
    );
    t.equal(seen.at(-1)?.body, 'abcdefg');
    t.ok(
      seen.at(-1)?.head.some((value, index, all) => value === '7' && all[index - 1] === 'Content-Length'),
      'an inspected body goes on with its length',
    );
    t.equal(
      statusOf(
        (
          await sendRaw(
            http,
            `POST /free HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n4\r\ndefg\r\n0\r\n\r\n`,
          )
        ).text,
      ),
      200,
    );
    t.equal(seen.at(-1)?.body, 'abcdefg', 'an unprotected one as it came');
    t.equal(bodyOf((await sendRaw(http, `HEAD /x HTTP/1.1\r\nHost: a\r\n\r\n`)).text), '');

    const count = seen.length;
    t.equal(statusOf((await sendRaw(http, get('/?q=EVIL'))).text), 403);
    t.equal(statusOf((await sendRaw(http, post('q=EVIL'))).text), 403);
    t.equal(
      statusOf((await sendRaw(http, get('/free/../x?q=EVIL'))).text),
      403,
      'no way round through the unprotected site',
    );
    t.equal(
      statusOf((await sendRaw(http, get('/free/%2e%2e/free?q=EVIL'))).text),
      403,
      'nor by writing its path in a strange way',
    );
    t.equal(
      statusOf(
        (await sendRaw(http, `POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd`)).text,
      ),
      400,
    );
    t.equal(seen.length, count, 'none of these reached the application');
    t.equal(statusOf((await sendRaw(http, get('/free?q=EVIL'))).text), 200);
  });

  t.test(`${kind}: pages, the audit log, the admin interface`, async (t) => {
    const backend = await startBackend(t, (_request, response) => response.end('ok'));
    const plane = await startPlane(t, kind, {
      sites: [{ name: 'shop', prefix: '/', upstream: backend.url, protected: true }],
    });
    const { http } = plane.ports;
    const html = (await sendRaw(http, get('/?q=EVIL', 'Accept: text/html\r\n'))).text;
    t.match(html, /content-type: text\/html/i);
    const problem = JSON.parse(bodyOf((await sendRaw(http, get('/?q=EVIL', 'Accept: application/json\r\n'))).text)) as {
      status: number;
      instance: string;
    };
    t.equal(problem.status, 403);
    const found = async (): Promise<Line | undefined> =>
      (await auditLines<Line>(plane)).find(({ transaction }) => transaction.unique_id === problem.instance);
    t.ok(await until(async () => (await found()) !== undefined), 'the id of the page finds the event');
    t.match(await found(), {
      transaction: {
        client_ip: '127.0.0.1',
        request: { method: 'GET', uri: '/?q=EVIL' },
        response: { http_code: 403 },
      },
      gatehouse: { verdict: 'block', site: 'shop', generation: 1 },
    });

    if (kind !== 'uws') {
      const { text } = await sendRaw(http, 'no request at all\r\n\r\n');
      const unreadable = JSON.parse(bodyOf(text)) as { status: number; instance: string };
      t.match(unreadable, { status: 400, instance: /^.{8}/ }, 'what is refused by the parser itself gets its page');
      t.match(text, `X-Request-Id: ${unreadable.instance}\r\n`);
      const counted = 'waap_refused_total{status="400"} 1';
      t.match(await metricsWith(plane, counted), counted);
    }

    t.equal((await admin(plane, '/status', { token: 'wrong' })).status, 401);
    t.equal((await admin(plane, '/healthz', { token: 'wrong' })).status, 200);
    t.ok(await until(async () => (await workersOf(plane)).every(({ generation }) => generation === 1)));
    t.match(await (await admin(plane, '/status')).json(), {
      generation: 1,
      listener: kind,
      workers: [{ state: 'ready', generation: 1 }],
    });
    const blocked = 'waap_requests_total{site="shop",action="blocked"} 2';
    t.match(await metricsWith(plane, blocked), blocked);
    t.equal((await admin(plane, '/generation', { method: 'PUT', body: 'not json' })).status, 400);
    t.equal((await admin(plane, '/nothing')).status, 404);
  });

  t.test(`${kind}: modes, and what happens when inspection fails`, async (t) => {
    const backend = await startBackend(t, (_request, response) => response.end('ok'));
    const site = (name: string, changes: object): object => ({
      name,
      prefix: `/${name}`,
      upstream: backend.url,
      protected: true,
      ...changes,
    });
    const plane = await startPlane(
      t,
      kind,
      { sites: [site('watch', { mode: 'DetectionOnly' }), site('open', { fail_mode: 'open' }), site('closed', {})] },
      { plan: { throwsInPhase: 2 } },
    );
    const ask = async (text: string): Promise<number> => statusOf((await sendRaw(plane.ports.http, text)).text);
    t.equal(await ask(get('/watch?q=EVIL')), 200);
    t.equal(await ask(get('/closed?q=EVIL')), 403);
    const boom = (path: string): string => `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nboom`;
    t.equal(await ask(boom('/open')), 200);
    t.equal(await ask(boom('/closed')), 503);
    t.equal(await ask(get('/elsewhere')), 404);
    const verdicts = async (): Promise<string[]> =>
      (await auditLines<Line>(plane)).map(({ gatehouse }) => gatehouse.verdict);
    t.ok(await until(async () => (await verdicts()).length === 4));
    t.strictSame(await verdicts(), ['flag', 'block', 'engine-error', 'engine-error'], 'each of them is recorded');

    const bare = await startPlane(
      t,
      kind,
      { sites: [site('open', { fail_mode: 'open' }), site('closed', {})] },
      { plan: null },
    );
    t.equal(statusOf((await sendRaw(bare.ports.http, get('/closed'))).text), 503, 'protected without rules');
    t.equal(statusOf((await sendRaw(bare.ports.http, get('/open'))).text), 200);
  });

  t.test(`${kind}: redirect and drop`, async (t) => {
    const backend = await startBackend(t, (_request, response) => response.end('ok'));
    const sites = [{ name: 'shop', prefix: '/', upstream: backend.url, protected: true }];
    const redirecting = await startPlane(t, kind, { sites }, { plan: { action: 'redirect' } });
    const reply = (await sendRaw(redirecting.ports.http, get('/?q=EVIL'))).text;
    t.equal(statusOf(reply), 302);
    t.match(reply, /\r\nLocation: https:\/\/example\.com\/blocked\r\n/i);
    const breaking = await startPlane(
      t,
      kind,
      { sites },
      { plan: { action: 'redirect', location: 'https://example.com/\r\nSet-Cookie: a=b' } },
    );
    t.equal(
      statusOf((await sendRaw(breaking.ports.http, get('/?q=EVIL'))).text),
      403,
      'a location with a line break is not sent',
    );
    const dropping = await startPlane(t, kind, { sites }, { plan: { action: 'drop' } });
    t.strictSame(await sendRaw(dropping.ports.http, get('/?q=EVIL')), { text: '', isClosed: true });
  });

  t.test(`${kind}: responses are inspected decoded and relayed as they came`, async (t) => {
    const backend = await startBackend(t, (request, response) => {
      const isBad = request.url?.includes('bad') === true;
      const text = `<p>${isBad ? 'LEAK of a secret' : 'fine'}</p>${'x'.repeat(2000)}`;
      response.setHeader('Content-Type', request.url?.includes('image') === true ? 'image/png' : 'text/html');
      if (request.url?.includes('gzip') === true) {
        response.setHeader('Content-Encoding', 'gzip');
        response.end(gzipSync(text));
      } else if (request.url?.includes('chunked') === true) {
        response.write(text.slice(0, 10));
        setTimeout(() => response.end(text.slice(10)), 10);
      } else response.end(text);
    });
    const plane = await startPlane(
      t,
      kind,
      {
        sites: [{ name: 'shop', prefix: '/', upstream: backend.url, protected: true }],
        limits: { response_body_bytes_max: 4000 },
      },
      { plan: { seesResponses: true, responseNeedle: 'LEAK' } },
    );
    for (const path of ['/plain', '/chunked', '/gzip']) {
      const fine = (await sendRaw(plane.ports.http, get(path))).text;
      t.equal(statusOf(fine), 200, path);
      const body = Buffer.from(bodyOf(fine), 'latin1');
      if (path === '/gzip') t.ok(body.equals(gzipSync(`<p>fine</p>${'x'.repeat(2000)}`)), 'the very bytes');
      else t.match(bodyOf(fine), '<p>fine</p>');
      const bad = (await sendRaw(plane.ports.http, get(`${path}-bad`))).text;
      t.equal(statusOf(bad), 403, `${path}: a leak is stopped`);
      t.notMatch(bad, 'LEAK');
    }
    t.equal(statusOf((await sendRaw(plane.ports.http, get('/image-bad'))).text), 200, 'other types are not held');
  });

  t.test(`${kind}: limits and broken upstreams`, async (t) => {
    const backend = await startBackend(t, (request, response) => {
      if (request.url === '/slow') return;
      if (request.url === '/half') {
        response.writeHead(200, { 'Content-Length': 100 });
        response.write('half');
        setTimeout(() => response.destroy(), 30);
        return;
      }
      if (request.url === '/deaf') {
        request.socket.pause();
        return;
      }
      let bytes = 0;
      request.on('data', (chunk: Buffer) => (bytes += chunk.length));
      request.on('end', () => response.end(String(bytes)));
    });
    const limits = { request_body_bytes_max: 1024 };
    const timeouts = { drain_ms: 300 };
    const sites = [
      { name: 'shop', prefix: '/', upstream: backend.url, protected: true },
      { name: 'gone', prefix: '/gone', upstream: 'http://127.0.0.1:9', protected: true },
      { name: 'deaf', prefix: '/deaf', upstream: backend.url, protected: false },
    ];
    const plane = await startPlane(t, kind, { sites, limits, timeouts });
    // Short times only where they are to pass: a machine that stands still for a moment must not look like a slow
    // client.
    const hasty = await startPlane(t, kind, {
      sites,
      timeouts: { ...timeouts, upstream_head_ms: 300, client_body_idle_ms: 300 },
    });
    const ask = async (text: string | string[], of = plane): Promise<number> =>
      statusOf((await sendRaw(of.ports.http, text)).text);
    t.equal(await ask(post('x'.repeat(2000))), 413, 'a body whose length is beyond the limit');
    t.equal(
      await ask([
        `POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n200\r\n${'x'.repeat(512)}\r\n`,
        `300\r\n${'x'.repeat(768)}\r\n0\r\n\r\n`,
      ]),
      413,
      'one in chunks that comes beyond it',
    );
    t.equal(await ask(get('/gone')), 502, 'an upstream that is not there');
    t.equal(await ask(get('/slow'), hasty), 504, 'one that does not answer');
    t.equal(
      await ask(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc`, hasty),
      408,
      'a body that stands still',
    );
    const patient = await startPlane(t, kind, { sites, timeouts: { ...timeouts, client_body_idle_ms: 2000 } });
    t.equal(
      await ask(`POST /deaf HTTP/1.1\r\nHost: a\r\nContent-Length: 30000000\r\n\r\n${'x'.repeat(25_000_000)}`, patient),
      504,
      'an upstream that takes no more of it',
    );
    const half = await sendRaw(plane.ports.http, get('/half'));
    t.match(half, { isClosed: true, text: /half$/ }, 'a response cut off upstream is cut off here');
    const partial = await startPlane(t, kind, { sites, limits: { ...limits, request_body_over_limit: 'partial' } });
    t.equal(
      bodyOf((await sendRaw(partial.ports.http, post('x'.repeat(5000)))).text),
      '5000',
      'partial: the whole body arrives',
    );
    t.equal(
      bodyOf(
        (
          await sendRaw(partial.ports.http, [
            `POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n300\r\n${'x'.repeat(768)}\r\n`,
            `300\r\n${'x'.repeat(768)}\r\n`,
            `300\r\n${'x'.repeat(768)}\r\n0\r\n\r\n`,
          ])
        ).text,
      ),
      '2304',
      'partial: and one in chunks',
    );
    t.equal(
      statusOf((await sendRaw(partial.ports.http, post(`EVIL${'x'.repeat(5000)}`))).text),
      403,
      'partial: what is inspected of it is refused',
    );
  });

  t.test(`${kind}: behind a trusted proxy the client is somebody else`, async (t) => {
    let forwarded = '';
    const backend = await startBackend(t, (request, response) => {
      forwarded = String(request.headers['x-forwarded-for']);
      response.end('ok');
    });
    const plane = await startPlane(t, kind, {
      rl_trust_proxy: true,
      rl_trusted_proxies: ['127.0.0.0/8', '10.0.0.0/8'],
      sites: [{ name: 'shop', prefix: '/', upstream: backend.url, protected: true }],
    });
    await sendRaw(plane.ports.http, get('/', 'X-Forwarded-For: 6.6.6.6, 203.0.113.9, 10.1.1.1\r\n'));
    t.equal(forwarded, '6.6.6.6, 203.0.113.9, 10.1.1.1, 127.0.0.1');
    await sendRaw(plane.ports.http, get('/?EVIL', 'X-Forwarded-For: 6.6.6.6, 203.0.113.9, 10.1.1.1\r\n'));
    t.ok(
      await until(async () =>
        (await auditLines<Line>(plane)).some(({ transaction }) => transaction.client_ip === '203.0.113.9'),
      ),
    );
    await sendRaw(plane.ports.http, get('/?EVIL', 'X-Forwarded-For: 6.6.6.6\r\nX-Forwarded-For: 203.0.113.10\r\n'));
    t.ok(await until(async () => (await auditLines<Line>(plane)).length === 2));
    t.equal(
      (await auditLines<Line>(plane)).at(-1)?.transaction.client_ip,
      '203.0.113.10',
      'the field that the proxy added stands behind that of the client',
    );
  });
}
