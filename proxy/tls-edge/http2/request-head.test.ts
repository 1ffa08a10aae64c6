// The own check of request heads, which the wire does not reach where the library refuses first (smuggling.test.ts).
import t from 'tap';
import { leftOut, post, pseudo, refused, withFields } from '../testing/smuggling-cases.js';
import { readHttp2Head } from './request-head.js';
import { http2Fields } from './response-fields.js';

const limits = { uriBytesMax: 8192, headerBytesMax: 32_768, headerFieldsMax: 128 };
const read = (fields: readonly (readonly [string, string])[], isWhole = true) =>
  readHttp2Head(fields.flat(), isWhole, limits);
/** Only the body tells that these lie. */
const lies = /^a Content-Length that is too|Content-Length of 0/;

t.test('TLS: heads that HTTP/1.1 could not carry are refused without the help of the library', async (t) => {
  for (const { what, fields, body } of [...refused, ...leftOut])
    if (!lies.test(what)) t.ok(read(fields, body === undefined).refusal !== null, what);
});

t.test('TLS: a head is the one that HTTP/1.1 would have', async (t) => {
  const head = read(withFields(['cookie', 'a=1'], ['x-own', ' a\t'], ['cookie', 'b=2']));
  t.strictSame(head, {
    method: 'GET',
    uri: '/',
    headers: ['host', 'shop', 'cookie', 'a=1; b=2', 'x-own', 'a'],
    framing: { kind: 'none' },
    refusal: null,
    isExpectant: false,
  });
  t.strictSame(read(post(), false).framing, { kind: 'chunked' });
  t.strictSame(read(post(['content-length', '7']), false).framing, { kind: 'length', bytes: 7 });
  t.strictSame(read(post(['content-length', '0']), false).framing, { kind: 'none' });
  t.equal(read(post(['expect', '100-continue']), false).isExpectant, true);
  t.match(read(pseudo({ ':path': `/${'a'.repeat(9000)}` })).refusal, { status: 414 });
  const many = Array.from({ length: 200 }, (_, index) => [`x-${index}`, 'a'] as const);
  t.match(read(withFields(...many)).refusal, { status: 431 });
  t.match(read(withFields(['x', 'a'.repeat(40_000)])).refusal, { status: 431 });
});

t.test('TLS: issue 22 B4: the same field again and again is no longer head', async (t) => {
  const long = 'a'.repeat(2000);
  const crumbs = Array.from({ length: 120 }, (_, index) => ['cookie', `name${index}=${'v'.repeat(60)}`] as const);
  const times = (field: readonly [string, string], count: number) => Array.from({ length: count }, () => field);
  for (const [what, fields, status] of [
    ['cookies that are all different', crumbs, null],
    ['a long field', [['x-token', 'a'.repeat(20_000)]], null],
    [
      'the same in two fields',
      [
        ['x-a', long],
        ['x-b', long],
        ['x-c', long],
      ],
      null,
    ],
    ['short ones again', [['x-a', long], ['x-b', long], ...times(['x-forwarded-for', '192.0.2.1'], 30)], null],
    ['little of the same', times(['x-a', 'b'], 100), null],
    ['a long cookie again', times(['cookie', `a=${long}`], 3), 431],
    ['many short cookies again', [...times(['cookie', 'a=1'], 90), ['x-a', long], ['x-b', long], ['x-c', 'a']], null],
    ['a long field again', times(['x-a', long], 3), 431],
    ['two by turns', [...times(['x-a', long], 2), ...times(['x-b', long], 2)], 431],
  ] as const) {
    const { refusal } = read(withFields(...(fields as readonly (readonly [string, string])[])));
    t.equal(refusal?.status ?? null, status, what);
  }
});

t.test('TLS: fields of responses keep their values, and lose what HTTP/2 has not', async (t) => {
  const flat = [
    'Set-Cookie',
    'a=1',
    'set-cookie',
    'b=2',
    'Connection',
    'x',
    'Content-Language',
    'de',
    'content-language',
    'en',
  ];
  t.strictSame(
    { ...http2Fields([...flat, 'Keep-Alive', 't', 'X', 'y', ':status', '1']) },
    {
      'set-cookie': ['a=1', 'b=2'],
      'content-language': 'de, en',
      x: 'y',
    },
  );
});
