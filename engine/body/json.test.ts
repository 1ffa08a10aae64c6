import t from 'tap';
import fc from 'fast-check';
import type { BodyLimits, BodyOutcome } from './body.js';
import { recommendedBodyLimits } from '../testing/body-limits.js';
import { createBodySink } from './empty-sink.js';
import { processJson } from './json.js';
import { repeatedBytesMax } from './repeated.js';

const wide: BodyLimits = { ...recommendedBodyLimits, argumentsMax: 1e9, jsonDepthMax: 1e9 };
function parse(
  body: string | Buffer,
  limits: Partial<BodyLimits> = {},
  contentType = 'application/json',
): BodyOutcome & { pairs: string[][] } {
  const sink = createBodySink();
  const bytes = typeof body === 'string' ? Buffer.from(body, 'utf8') : body;
  const outcome = processJson(bytes, contentType, sink, { ...wide, ...limits });
  return { ...outcome, pairs: sink.argsPost.names.map((name, index) => [name, sink.argsPost.values[index] as string]) };
}

// Names and values as libmodsecurity 3.0.9 gives them, but for the spelling of array indexes and empty containers.
const sound: readonly (readonly [string, readonly (readonly [string, string])[]])[] = [
  ['', []],
  ['{}', []],
  [
    '[[],{}]',
    [
      ['json.0', ''],
      ['json.1', ''],
    ],
  ],
  [
    '{"k":{"$ne":{}},"l":[[]]}',
    [
      ['json.k.$ne', ''],
      ['json.l.0', ''],
    ],
  ],
  ['"u"', [['json', 'u']]],
  ['12', [['json', '12']]],
  ['null', [['json', '']]],
  [' {"k":1} \r\n\t', [['json.k', '1']]],
  [
    '{"k":{"l":[1,2,{"m":"u"}]}}',
    [
      ['json.k.l.0', '1'],
      ['json.k.l.1', '2'],
      ['json.k.l.2.m', 'u'],
    ],
  ],
  [
    '[[1,[2]],3]',
    [
      ['json.0.0', '1'],
      ['json.0.1.0', '2'],
      ['json.1', '3'],
    ],
  ],
  [
    '{"k":null,"l":true,"m":false,"n":""}',
    [
      ['json.k', ''],
      ['json.l', 'true'],
      ['json.m', 'false'],
      ['json.n', ''],
    ],
  ],
  [
    '{"k":-0,"l":1.50e+3,"m":123456789012345678901234567890}',
    [
      ['json.k', '-0'],
      ['json.l', '1.50e+3'],
      ['json.m', '123456789012345678901234567890'],
    ],
  ],
  ['{"":1}', [['json.empty-key', '1']]],
  [
    '{"k.l":1,"k":{"l":2},"k":3}',
    [
      ['json.k.l', '1'],
      ['json.k.l', '2'],
      ['json.k', '3'],
    ],
  ],
  ['{"k":"\\u00e9\\ud83d\\ude00\\u0000\\n\\/\\"\\\\"}', [['json.k', '\xc3\xa9\xf0\x9f\x98\x80\0\n/"\\']]],
  ['{"\\u006b":"é"}', [['json.k', '\xc3\xa9']]],
  [
    '{"k":"\\ud800","l":"\\ud800x","m":"\\udc00"}',
    [
      ['json.k', '?'],
      ['json.l', '?x'],
      ['json.m', '\xed\xb0\x80'],
    ],
  ],
];

const broken: readonly (string | Buffer)[] = [
  ' ',
  '{',
  '}',
  '[',
  ']',
  '[1',
  '{"k"',
  '{"k":',
  '{"k":1',
  '{"k":1,}',
  '[1,]',
  '[,1]',
  '[1 2]',
  '{"k" 1}',
  '{1:2}',
  '{"k":1]',
  '[1}',
  '{} x',
  '{}{}',
  '01',
  '-',
  '1.',
  '.5',
  '1e',
  '+1',
  '0x10',
  'NaN',
  'Infinity',
  'tru',
  'nul',
  "{'k':1}",
  '/*c*/{}',
  '{}//c',
  '"u',
  '"\n"',
  '"\\q"',
  '"\\u12g4"',
  '"\\u12"',
  '\ufeff{}',
  Buffer.from('"\xff"', 'latin1'),
  Buffer.from('"\xc3"', 'latin1'),
  Buffer.from('"\\n\xe9"', 'latin1'),
  Buffer.from('{}', 'utf16le'),
  Buffer.from('"\0"'),
  ...[
    '\xc0\xa7',
    '\xc1\xbf',
    '\xe0\x80\xa7',
    '\xe0\x9f\xbf',
    '\xf0\x80\x80\xa7',
    '\xf0\x8f\xbf\xbf',
    '\\n\xc0\xa7',
  ].map((overlong) => Buffer.from(`"${overlong}"`, 'latin1')),
];

t.test('sound documents', async (t) => {
  for (const [text, pairs] of sound) t.match(parse(text), { error: null, truncated: false, pairs }, text);
});

t.test('broken documents are errors', async (t) => {
  for (const body of broken) t.not(parse(body).error, null, JSON.stringify(body.toString('latin1')));
});

t.test('the shortest and longest sequences of UTF-8', async (t) => {
  for (const bytes of [
    '\xc2\x80',
    '\xdf\xbf',
    '\xe0\xa0\x80',
    '\xef\xbf\xbf',
    '\xf0\x90\x80\x80',
    '\xf4\x8f\xbf\xbf',
  ]) {
    for (const text of [bytes, `\\"${bytes}`])
      t.match(
        parse(Buffer.from(`"${text}"`, 'latin1')),
        { error: null, pairs: [['json', text.replace('\\', '')]] },
        text,
      );
  }
});

t.test('a sequence of documents', async (t) => {
  const type = 'Application/X-NDJSON; charset=utf-8';
  t.match(parse('{"k":1}\n{"k":[2]}\r\n"u"\n', {}, type), {
    error: null,
    pairs: [
      ['json.k', '1'],
      ['json.k.0', '2'],
      ['json', 'u'],
    ],
  });
  t.match(parse('{"k":1}\n{"k":', {}, type), { error: /premature end/, pairs: [['json.k', '1']] });
  t.match(parse('1\n2\n3\n', { argumentsMax: 2 }, type), { error: /more than 2 arguments/, truncated: true });
  t.match(parse('[]\n[]').error, /trailing garbage/, 'only where the media type says so');
});

t.test('what stood before an error stays', async (t) => {
  t.same(parse('{"k":1,"l":}').pairs, [['json.k', '1']]);
});

t.test('the array prefix of ModSecurity v3', async (t) => {
  t.same(parse('{"k":[[1]]}', { jsonArrayPrefix: 'array_' }).pairs, [['json.k.array_0.array_0', '1']]);
});

t.test('limits', async (t) => {
  t.equal(parse('{"k":{"l":{"m":1}}}', { jsonDepthMax: 3 }).error, null);
  t.match(parse('{"k":{"l":{"m":1}}}', { jsonDepthMax: 2 }), { error: /depth limit of 2/, truncated: true });
  t.equal(parse('[1,2]', { argumentsMax: 2 }).error, null);
  t.match(parse('[1,2,3]', { argumentsMax: 2 }), {
    error: /more than 2 arguments/,
    truncated: true,
    pairs: [
      ['json.0', '1'],
      ['json.1', '2'],
    ],
  });
});

t.test('deep and wide bodies are bounded', async (t) => {
  t.equal(parse('['.repeat(10_000) + ']'.repeat(10_000)).error, null, '10,000 deep');
  const wideBody = `{${Array.from({ length: 100_000 }, (_, index) => `"k${index}":"v"`).join(',')}}`;
  t.equal(parse(wideBody).pairs.length, 100_000);
  const longNames = `{"${'k'.repeat(200_000)}":[${'1,'.repeat(1000)}1]}`;
  const outcome = parse(longNames);
  t.match(outcome, { error: /names too long/, truncated: true });
  const named = outcome.pairs.reduce((sum, [name]) => sum + (name as string).length, 0);
  t.ok(named <= repeatedBytesMax(longNames.length), `${named} bytes of names`);
});

/** The same flattening over the tree that JSON.parse builds. */
function flatten(value: unknown, name: string, into: string[][]): void {
  if (name !== 'json' && (JSON.stringify(value) === '[]' || JSON.stringify(value) === '{}')) into.push([name, '']);
  if (Array.isArray(value)) value.forEach((item, index) => flatten(item, `${name}.${index}`, into));
  else if (value !== null && typeof value === 'object')
    for (const [key, item] of Object.entries(value))
      flatten(item, `${name}.${key === '' ? 'empty-key' : Buffer.from(key).toString('latin1')}`, into);
  else
    into.push([
      name,
      value === null ? '' : typeof value === 'string' ? Buffer.from(value).toString('latin1') : JSON.stringify(value),
    ]);
}

t.test('properties', async (t) => {
  const seed = Number(process.env['SEED'] ?? 20_261_121);
  t.comment(`seed ${seed}`);
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5, stringUnit: 'binary' }), fc.constantFrom(0, 2), (value, indent) => {
      const text = JSON.stringify(value, null, indent);
      const expected: string[][] = [];
      flatten(JSON.parse(text), 'json', expected);
      const got = parse(text);
      return got.error === null && JSON.stringify(got.pairs) === JSON.stringify(expected);
    }),
    { seed, numRuns: 500 },
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.uint8Array({ maxLength: 200 }),
        fc
          .string({ unit: fc.constantFrom(...'{}[]",:\\u01eEtrue-. \n'), maxLength: 60 })
          .map((text) => Buffer.from(text)),
      ),
      (bytes) => {
        const body = Buffer.from(bytes);
        let isJson = true;
        try {
          JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body));
        } catch (error) {
          if (!(error instanceof SyntaxError) && !(error instanceof TypeError)) throw error;
          isJson = false;
        }
        const got = parse(body);
        // Everything that JSON.parse accepts is accepted; nothing else is, but for UTF-8 that is only structurally
        // sound.
        return (
          body.length === 0 ||
          isJson === (got.error === null) ||
          (got.error === null && body.some((byte) => byte >= 0x80))
        );
      },
    ),
    { seed, numRuns: 2000 },
  );
  t.pass('held');
});
