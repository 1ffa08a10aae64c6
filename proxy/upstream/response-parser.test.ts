import fc from 'fast-check';
import t from 'tap';
import { ProxyError } from '../contract/errors.js';
import type { UpstreamHead } from './response-head.js';
import { ResponseParser } from './response-parser.js';

fc.configureGlobal({ seed: Number(process.env['SEED'] ?? 20_261_121) });

interface Heard {
  interim: UpstreamHead[];
  heads: UpstreamHead[];
  trailers: (readonly string[] | null)[];
  body: string;
  ends: boolean[];
  used: number;
}

function parse(pieces: readonly Buffer[], method = 'GET', isClosed = false): Heard {
  const heard: Heard = { interim: [], heads: [], trailers: [], body: '', ends: [], used: 0 };
  const parser = new ResponseParser({
    onInterim: (head) => heard.interim.push(head),
    onHead: (head) => heard.heads.push(head),
    onData: (chunk) => {
      heard.body += chunk.toString('latin1');
    },
    onEnd: (reusable, trailers) => {
      heard.ends.push(reusable);
      heard.trailers.push(trailers);
    },
  });
  parser.begin(method);
  for (const piece of pieces) {
    // A copy that is overwritten afterwards: borrowed bytes must not be kept.
    const borrowed = Buffer.from(piece);
    heard.used += parser.push(borrowed);
    borrowed.fill(0x21);
  }
  if (isClosed) parser.finish();
  return heard;
}

const bytes = (text: string): Buffer => Buffer.from(text, 'latin1');

t.test('responses that are accepted', async (t) => {
  const cases: readonly {
    why: string;
    wire: string;
    method?: string;
    closes?: boolean;
    status: number;
    body: string;
    reusable: boolean | null;
  }[] = [
    {
      why: 'a length',
      wire: 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello',
      status: 200,
      body: 'hello',
      reusable: true,
    },
    {
      why: 'a length of zero',
      wire: 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n',
      status: 200,
      body: '',
      reusable: true,
    },
    {
      why: 'no reason phrase',
      wire: 'HTTP/1.1 404\r\nContent-Length: 0\r\n\r\n',
      status: 404,
      body: '',
      reusable: true,
    },
    {
      why: 'chunks with extension and trailers',
      wire:
        'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n' +
        '5;x=1\r\nhello\r\n1\r\n!\r\n0\r\nX-Sum: 1\r\nX-More: 2\r\n\r\n',
      status: 200,
      body: 'hello!',
      reusable: true,
    },
    {
      why: 'until the connection closes',
      wire: 'HTTP/1.1 200 OK\r\n\r\nall of it',
      closes: true,
      status: 200,
      body: 'all of it',
      reusable: false,
    },
    {
      why: 'HEAD with a length',
      wire: 'HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n',
      method: 'HEAD',
      status: 200,
      body: '',
      reusable: true,
    },
    {
      why: 'HEAD, chunked',
      wire: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n',
      method: 'HEAD',
      status: 200,
      body: '',
      reusable: true,
    },
    { why: '204', wire: 'HTTP/1.1 204 No Content\r\n\r\n', status: 204, body: '', reusable: true },
    {
      why: '204 that announces nothing',
      wire: 'HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n',
      status: 204,
      body: '',
      reusable: true,
    },
    {
      why: '204 that announces a body, which may still come',
      wire: 'HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n',
      status: 204,
      body: '',
      reusable: false,
    },
    {
      why: '204 that announces chunks',
      wire: 'HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n',
      status: 204,
      body: '',
      reusable: false,
    },
    {
      why: '304 that announces chunks',
      wire: 'HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n',
      status: 304,
      body: '',
      reusable: false,
    },
    {
      why: '304 with the length of what it stands for',
      wire: 'HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n',
      status: 304,
      body: '',
      reusable: true,
    },
    {
      why: 'interim responses first',
      wire:
        'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n' +
        'HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx',
      status: 200,
      body: 'x',
      reusable: true,
    },
    {
      why: 'Connection: close',
      wire: 'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx',
      status: 200,
      body: 'x',
      reusable: false,
    },
    {
      why: 'HTTP/1.0 keeps no connection',
      wire: 'HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx',
      status: 200,
      body: 'x',
      reusable: false,
    },
    {
      why: 'HTTP/1.0 with keep-alive',
      wire: 'HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\nx',
      status: 200,
      body: 'x',
      reusable: true,
    },
    {
      why: 'the same length twice',
      wire: 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx',
      status: 200,
      body: 'x',
      reusable: true,
    },
    {
      why: '101 opens a tunnel',
      wire: 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\nraw bytes',
      status: 101,
      body: 'raw bytes',
      reusable: null,
    },
    {
      why: 'bytes ≥ 0x80 stay bytes',
      wire: 'HTTP/1.1 200 OK\r\nX-A: \xe9\xff\r\nContent-Length: 2\r\n\r\n\xe9\xff',
      status: 200,
      body: '\xe9\xff',
      reusable: true,
    },
  ];
  for (const { why, wire, method, closes, status, body, reusable } of cases) {
    for (const pieces of [[bytes(wire)], [...bytes(wire)].map((byte) => Buffer.from([byte]))]) {
      const heard = parse(pieces, method ?? 'GET', closes ?? false);
      t.equal(heard.heads.length, 1, `${why}: one head`);
      t.equal(heard.heads[0]?.status, status, why);
      t.equal(heard.body, body, why);
      t.strictSame(heard.ends, reusable === null ? [] : [reusable], `${why}: its end`);
    }
  }
});

t.test('interim responses and trailers, split anywhere', async (t) => {
  const wire = bytes(
    'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n' +
      '1\r\nx\r\n0\r\nX-Sum:  \xe9 \r\nX-Empty:\r\n\r\n',
  );
  for (let at = 1; at < wire.length; at += 1) {
    const heard = parse([wire.subarray(0, at), wire.subarray(at)]);
    t.match(heard.interim, [{ status: 103, headers: ['Link', '</a>'] }]);
    t.strictSame(heard.trailers, [['X-Sum', '\xe9', 'X-Empty', '']], `cut at ${at}`);
  }
  t.strictSame(parse([bytes('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n')]).trailers, [null]);
});

t.test('what follows the end is not used', async (t) => {
  const wire = 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx';
  const heard = parse([bytes(`${wire}HTTP/1.1 200 OK\r\n\r\n`)]);
  t.equal(heard.used, wire.length);
});

t.test('responses that two readers could read differently are refused', async (t) => {
  const heads: readonly string[] = [
    'HTTP/2 200 OK',
    'HTTP/1.1  200 OK',
    'HTTP/1.1 20 OK',
    'HTTP/1.1 2000 OK',
    'ICY 200 OK',
    'HTTP/1.1 200 O\x00K',
    'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked',
    'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6',
    'HTTP/1.1 200 OK\r\nContent-Length: 5, 5',
    'HTTP/1.1 200 OK\r\nContent-Length: +5',
    'HTTP/1.1 200 OK\r\nContent-Length: ',
    'HTTP/1.1 200 OK\r\nContent-Length: 0x5',
    'HTTP/1.1 200 OK\r\nContent-Length: 9999999999999999',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, identity',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: \x0bchunked',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked',
    'HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked',
    'HTTP/1.1 200 OK\r\nX-A : 1',
    'HTTP/1.1 200 OK\r\n: 1',
    'HTTP/1.1 200 OK\r\nX A: 1',
    'HTTP/1.1 200 OK\r\nX-A: 1\r\n folded: yes',
    'HTTP/1.1 200 OK\r\nX-A: a\nX-B: b',
    'HTTP/1.1 200 OK\r\nX-A: a\rX-B: b',
    'HTTP/1.1 200 OK\r\nX-A: a\x00b',
    'HTTP/1.1 200 OK\r\nno colon here',
    `HTTP/1.1 200 OK\r\nX-A: ${'a'.repeat(70_000)}`,
    `HTTP/1.1 200 OK${'\r\nX-A: 1'.repeat(300)}`,
  ];
  for (const head of heads)
    t.throws(
      () => parse([bytes(`${head}\r\n\r\n`)]),
      { code: 'PXY_UPSTREAM_MALFORMED' },
      JSON.stringify(head.slice(0, 80)),
    );
  const chunked = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';
  for (const body of [
    'zz\r\n',
    '\r\n',
    '5\nhello\r\n',
    '5\r\nhelloXX',
    '5\r\nhello\n0\r\n',
    '0x5\r\nhello\r\n',
    '-1\r\n',
    '5 5\rX',
    `${'1'.repeat(20)}\r\n`,
    `5;${'x'.repeat(2000)}\r\n`,
    '0\r\nX: 1\n\r\n',
    '0\r\nX 1\r\n\r\n',
    '0\r\nX: 1\r\n folded\r\n\r\n',
    '0\r\n: 1\r\n\r\n',
    '0\r\nX: \x01\r\n\r\n',
    `0\r\n${'X: y\r\n'.repeat(4000)}`,
  ]) {
    t.throws(
      () => parse([bytes(chunked + body)]),
      { code: 'PXY_UPSTREAM_MALFORMED' },
      JSON.stringify(body.slice(0, 60)),
    );
  }
  t.throws(() => parse([bytes('HTTP/1.1 100 Continue\r\n\r\n'.repeat(20))]), ProxyError, 'endless interim responses');
});

t.test('any valid response, split anywhere, is read the same', async (t) => {
  const body = fc.uint8Array({ maxLength: 600 }).map((array) => Buffer.from(array).toString('latin1'));
  const field = fc.tuple(fc.stringMatching(/^X-[A-Za-z0-9-]{1,12}$/), fc.stringMatching(/^[!-~]{0,30}$/));
  const response = fc.record({
    status: fc.integer({ min: 200, max: 599 }).filter((status) => status !== 204 && status !== 304),
    fields: fc.array(field, { maxLength: 6 }),
    body,
    cuts: fc.array(fc.nat(600), { maxLength: 5 }),
    isChunked: fc.boolean(),
  });
  let ran = 0;
  fc.assert(
    fc.property(
      response,
      fc.array(fc.nat(1500), { maxLength: 12 }),
      ({ status, fields, body: text, cuts, isChunked }, splits) => {
        ran += 1;
        const lines = fields.map(([name, value]) => `${name}: ${value}\r\n`);
        const head = `HTTP/1.1 ${status} Some Reason\r\n${lines.join('')}`;
        let wire: string;
        if (isChunked) {
          const marks = [...new Set([0, ...cuts.map((cut) => Math.min(cut, text.length)), text.length])].sort(
            (a, b) => a - b,
          );
          let chunks = '';
          for (let index = 1; index < marks.length; index += 1) {
            const part = text.slice(marks[index - 1], marks[index]);
            chunks += `${part.length.toString(16)}\r\n${part}\r\n`;
          }
          wire = `${head}Transfer-Encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`;
        } else wire = `${head}Content-Length: ${text.length}\r\n\r\n${text}`;
        const at = [...new Set([0, ...splits.map((split) => Math.min(split, wire.length)), wire.length])].sort(
          (a, b) => a - b,
        );
        const pieces = at.slice(1).map((end, index) => bytes(wire.slice(at[index], end)));
        const heard = parse(pieces);
        return (
          heard.heads.length === 1 &&
          heard.heads[0]?.status === status &&
          heard.body === text &&
          heard.ends.length === 1 &&
          heard.ends[0] === true &&
          heard.used === wire.length &&
          heard.heads[0].headers.length === (fields.length + 1) * 2
        );
      },
    ),
    { numRuns: 400 },
  );
  t.equal(ran, 400);
});
