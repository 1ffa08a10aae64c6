// What applications and APIs send besides forms and JSON, with the real rules at their defaults (U2); compressed
// request bodies (U3); and sites with rules of their own out of one artifact, on every listener.
import { request } from 'node:http';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import t from 'tap';
import type { DataPlaneOptions } from '../main/data-plane.js';
import { auditLines, configOf, listenerKinds, startBackend, startPlane, testMsMax, until } from './harness.js';
import { realArtifact, realEngine, withoutRules } from './real-rules.js';
import type { ListenerKind } from '../listeners/index.js';

type Fields = Readonly<Record<string, string>>;

interface Answer {
  readonly status: number;
  readonly body: string;
}

function send(port: number, method: string, path: string, fields: Fields, body: Buffer | null): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = {
      host: 'shop.example',
      'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) Firefox/132.0',
      accept: '*/*',
      ...(body === null ? {} : { 'content-length': body.length }),
      ...fields,
    };
    const sent = request({ host: '127.0.0.1', port, agent: false, method, path, headers }, (reply) => {
      let text = '';
      reply.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
      reply.on('end', () => resolve({ status: reply.statusCode ?? 0, body: text }));
    });
    sent.on('error', reject);
    if (fields['expect'] !== undefined) {
      sent.on('continue', () => sent.end(body));
      sent.flushHeaders();
    } else sent.end(body ?? undefined);
  });
}

/** Answers with what it got: the coding and the bytes in hexadecimal. */
const echo = (t: Parameters<typeof startBackend>[0]) =>
  startBackend(t, (incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const coding = String(incoming.headers['content-encoding'] ?? 'none');
      response.end(`${coding} ${Buffer.concat(chunks).toString('hex')}`);
    });
  });

const injection = "1' UNION SELECT password FROM users-- -";
const json = (value: string): string => JSON.stringify({ user: { id: value } });
const protobuf = Buffer.from([0x08, 0x96, 0x01, 0x12, 0x05, 0x68, 0x65, 0x6c, 0x6c, 0x6f]);
const cbor = Buffer.from([0xa1, 0x62, 0x69, 0x64, 0x18, 0x2a]);
const grpcWeb = Buffer.concat([Buffer.from([0, 0, 0, 0, protobuf.length]), protobuf]);
const png = Buffer.concat([Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'), Buffer.alloc(3000, 0x5a)]);

const harmless: readonly [type: string, body: string | Buffer][] = [
  ['text/plain', 'A note, with "quotes", it\'s nothing (really); 3 < 4.'],
  ['text/plain; charset=utf-8', 'Grüße'],
  ['text/csv', 'id,name,city\n1,"O\'Brien, Ann",Cork\n2,Bob,"New York"\n'],
  ['application/octet-stream', Buffer.from(Array.from({ length: 4096 }, (_, index) => (index * 167) & 0xff))],
  ['application/octet-stream', 'plain words'],
  ['image/png', png],
  ['image/jpeg', Buffer.concat([Buffer.from('ffd8ffe000104a464946', 'hex'), Buffer.alloc(200, 0x81)])],
  ['application/x-protobuf', protobuf],
  ['application/protobuf', protobuf],
  ['application/grpc-web+proto', grpcWeb],
  ['application/grpc-web', grpcWeb],
  ['application/cbor', cbor],
  ['application/json', json('7')],
];
const attacks: readonly [name: string, type: string, body: string][] = [
  ['text', 'text/plain', injection],
  ['a form that says it is text', 'text/plain', `id=${encodeURIComponent(injection)}`],
  ['JSON that says it is text', 'text/plain;charset=UTF-8', json(injection)],
  ['JSON with escapes that says it is text', 'text/plain', json(injection).replaceAll("'", '\\u0027')],
  ['a script in a table', 'text/csv', 'id,name\n1,<script>alert(document.cookie)</script>\n'],
  ['JSON that says it is bytes', 'application/octet-stream', json(injection)],
  ['JSON that says it is a picture, and goes on', 'image/png', `${json(injection)}\u0000\u0001`],
  ['markdown', 'text/markdown', '[x](javascript:alert(document.cookie))<img src=x onerror=alert(1)>'],
];

const rows = <T>(count: number, row: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => row(index));
const nothing = null;
/** As repetitive as what applications send is, 10 to 40 times and more. */
const honest: readonly [name: string, type: string, body: string][] = [
  [
    'telemetry with much that is null',
    'application/json',
    JSON.stringify({ rows: rows(60, (id) => ({ id, at: 1_764_200_000 + id * 60, heat: nothing, state: 'ok' })) }),
  ],
  [
    'a note of zeros',
    'text/plain',
    rows(20_000, () => '0,0')
      .join('\n')
      .slice(0, 12_000),
  ],
  ['a sparse table', 'text/csv', rows(5000, (id) => `${id},,,,,,,0,0,0,,,`).join('\n')],
  ['a log', 'text/plain', rows(4000, (id) => `2026-11-27 02:${id % 60} INFO health check ${id} fine`).join('\n')],
];

async function planeOf(t: Parameters<typeof startPlane>[0], kind: ListenerKind, settings: object) {
  const backend = await echo(t);
  const sites = (settings as { sites?: (url: string) => object[] }).sites ?? ((url) => [usual(url)]);
  const whole = { timeouts: { drain_ms: 300 }, ...settings, sites: sites(backend.url) };
  const options = realEngine(await realArtifact(whole), configOf(whole)) as Partial<DataPlaneOptions>;
  return startPlane(t, kind, {}, options);
}
const usual = (url: string): object => ({ name: 'all', prefix: '/', upstream: url, protected: true });

t.setTimeout(testMsMax);
t.test('bodies of APIs', { skip: withoutRules }, async (t) => {
  for (const kind of listenerKinds) {
    await t.test(`${kind}: defaults`, async (t) => {
      const plane = await planeOf(t, kind, {});
      const post = (type: string, body: string | Buffer, more: Fields = {}): Promise<Answer> =>
        send(plane.ports.http, 'POST', '/in', { 'content-type': type, ...more }, Buffer.from(body));
      for (const [type, body] of harmless) {
        const answer = await post(type, body);
        t.equal(answer.status, 200, `U2: ${type} passes`);
        t.equal(answer.body, `none ${Buffer.from(body).toString('hex')}`, `U2: ${type} arrives as it was sent`);
      }
      for (const [name, type, body] of attacks) t.equal((await post(type, body)).status, 403, `U2: seen in ${name}`);
      if (kind === 'node')
        t.equal((await post('text/plain', 'x'.repeat(5000), { expect: '100-continue' })).status, 200, 'U2: Expect');

      const form = 'application/x-www-form-urlencoded';
      const codings = { gzip: gzipSync, 'x-gzip': gzipSync, deflate: deflateSync, br: brotliCompressSync } as const;
      for (const [coding, code] of Object.entries(codings)) {
        for (const [type, good, bad] of [
          [form, 'id=7', `id=${encodeURIComponent(injection)}`],
          ['application/json', json('7'), json(injection)],
          ['text/plain', 'a note', injection],
        ] as const) {
          const coded = code(good);
          const passed = await post(type, coded, { 'content-encoding': coding });
          t.equal(passed.status, 200, `U3: ${coding} of ${type} passes`);
          t.equal(passed.body, `${coding} ${coded.toString('hex')}`, `U3: ${coding} of ${type} arrives as it was sent`);
          t.equal((await post(type, code(bad), { 'content-encoding': coding })).status, 403, `U3: seen in ${coding}`);
        }
      }
      const notes = Array.from({ length: 4000 }, (_none, index) => `an+ordinary+note+${index}+`).join('');
      const large = gzipSync(`note=${notes}&id=${encodeURIComponent(injection)}`);
      t.equal((await post(form, large, { 'content-encoding': 'gzip' })).status, 403, 'U3: on the other thread, too');
      for (const [name, type, text] of honest)
        for (const [coding, code] of Object.entries(codings))
          t.equal((await post(type, code(text), { 'content-encoding': coding })).status, 200, `B4: ${name}, ${coding}`);
      t.equal((await post(form, 'id=7', { 'content-encoding': 'gzip' })).status, 400, 'U3: wrong data');
      const cut = gzipSync('id=7').subarray(0, 15);
      t.equal((await post(form, cut, { 'content-encoding': 'gzip' })).status, 400, 'U3: cut off');
      const bomb = gzipSync(Buffer.alloc(40_000_000, 0x41));
      t.equal((await post('text/plain', bomb, { 'content-encoding': 'gzip' })).status, 413, 'U3: a bomb');
      t.equal((await post(form, 'id=7', { 'content-encoding': 'zstd' })).status, 415, 'U3: a coding that is not read');
      const nested = gzipSync(gzipSync(gzipSync('id=7')));
      t.equal(
        (await post(form, nested, { 'content-encoding': 'gzip, gzip, gzip' })).status,
        413,
        'U3: too many layers',
      );
    });

    await t.test(`${kind}: U3: without the category protocol, in detection, and refused by settings`, async (t) => {
      const loose = await planeOf(t, kind, {
        categories: { protocol: { enabled: false } },
        limits: { request_codings_max: 1 },
        sites: (url: string) => [usual(url), { ...usual(url), name: 'see', prefix: '/see', mode: 'DetectionOnly' }],
      });
      const post = (path: string, body: Buffer, coding: string): Promise<Answer> =>
        send(
          loose.ports.http,
          'POST',
          path,
          { 'content-type': 'application/x-www-form-urlencoded', 'content-encoding': coding },
          body,
        );
      const bad = Buffer.from(`id=${encodeURIComponent(injection)}`);
      t.equal((await post('/', gzipSync(bad), 'gzip')).status, 403, 'an attack is read');
      t.equal((await post('/', bad, 'gzip')).status, 400, 'wrong data is no way through');
      t.equal((await post('/', bad, 'zstd')).status, 415);
      t.equal((await post('/', gzipSync(gzipSync(bad)), 'gzip, gzip')).status, 413, 'the setting counts');
      t.equal((await post('/see', bad, 'gzip')).status, 200, 'DetectionOnly withholds the refusal');
      t.equal((await post('/see', gzipSync(bad), 'gzip')).status, 200);
      interface Line {
        readonly gatehouse: { readonly verdict: string; readonly site: string };
      }
      await until(
        async () => (await auditLines<Line>(loose)).filter((line) => line.gatehouse.site === 'see').length > 1,
      );
      const seen = (await auditLines<Line>(loose)).filter((line) => line.gatehouse.site === 'see');
      t.same(new Set(seen.map(({ gatehouse }) => gatehouse.verdict)), new Set(['flag']), 'and records both');
    });

    await t.test(
      `${kind}: sites of one artifact have their own levels, thresholds, categories and limits`,
      async (t) => {
        const plane = await planeOf(t, kind, {
          sites: (url: string) => {
            const site = (name: string, over: object): object => ({ ...usual(url), name, prefix: `/${name}`, ...over });
            return [
              usual(url),
              site('strict', { paranoia_level: 3 }),
              site('lax', { inbound_threshold: 100 }),
              site('nosql', { categories: { sqli: { enabled: false } } }),
              site('dav', { allowed_methods: ['GET', 'PURGE'], allowed_content_types: ['text/plain'] }),
              site('guard', { restricted_headers: ['x-token', 'expect'], restricted_extensions: ['.bak'] }),
              site('small', { request_body_limit_bytes: 2000 }),
              { ...site('host', { paranoia_level: 3 }), prefix: '/', host: 'strict.example' },
            ];
          },
          custom_rules: [
            { id: 1_000_000, name: 'n', variable: 'ARGS', operator: 'contains', value: 'zebra', sites: ['lax'] },
            {
              id: 1_000_001,
              name: 'set-up',
              kind: 'raw',
              seclang: 'SecAction "id:1000001,phase:1,pass,nolog,setvar:\'tx.allowed_methods=GET POST LINK\'"',
              sites: ['strict'],
            },
          ],
        });
        const ask = async (method: string, path: string, fields: Fields = {}, body: string | null = null) =>
          (await send(plane.ports.http, method, path, fields, body === null ? null : Buffer.from(body))).status;
        const attack = encodeURIComponent(injection);
        const odd = encodeURIComponent("'''''''"); // seen from level 2 or 3 on
        const form = { 'content-type': 'application/x-www-form-urlencoded' };
        const rows: readonly [expected: number, method: string, path: string, fields?: Fields, body?: string][] = [
          [403, 'GET', `/?q=${attack}`],
          [403, 'GET', `/strict?q=${attack}`],
          [200, 'GET', `/lax?q=${attack}`],
          [200, 'GET', `/?q=${odd}`],
          [403, 'GET', `/strict?q=${odd}`],
          [403, 'GET', `/?q=${odd}`, { host: 'strict.example' }],
          [403, 'GET', `/STRICT?q=${odd}`], // another server may take it for /strict
          [200, 'GET', `/STRICTLY?q=${odd}`],
          [403, 'GET', `/LAX?q=${attack}`],
          [403, 'GET', '/lax?q=a+zebra'],
          [200, 'GET', '/?q=a+zebra'],
          [200, 'GET', '/nosql?q=1%27%20UNION%20SELECT%20a'],
          [403, 'GET', '/nosql?q=%3Cscript%3Ealert(1)%3C/script%3E'],
          [403, 'PUT', '/dav', form, 'a=1'],
          [200, 'PUT', '/', form, 'a=1'],
          [403, 'POST', '/dav', { 'content-type': 'application/json' }, '{}'],
          [403, 'GET', '/guard', { 'x-token': '1' }],
          [200, 'GET', '/', { 'x-token': '1' }],
          [403, 'GET', '/guard/a.bak'],
          [403, 'DELETE', '/strict'],
          [200, 'DELETE', '/'],
          [413, 'POST', '/small', form, `a=${'b'.repeat(2500)}`],
          [200, 'POST', '/', form, `a=${'b'.repeat(2500)}`],
          [403, 'POST', '/strict', form, `note=${'an+ordinary+note+'.repeat(4000)}&q=${odd}`],
          [200, 'POST', '/', form, `note=${'an+ordinary+note+'.repeat(4000)}&q=${odd}`],
        ];
        for (const [expected, method, path, fields, body] of rows)
          t.equal(
            await ask(method, path, fields, body),
            expected,
            `${method} ${path.slice(0, 60)} ${JSON.stringify(fields ?? {})}, ${body?.length ?? 0} bytes`,
          );
      },
    );
  }
});
