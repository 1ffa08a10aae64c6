// JSON that stands where nothing says so: in values, in parts of forms, in other encodings.
import t from 'tap';
import { type Exchange } from '../../testing/program.js';
import { valuesSeen } from '../../testing/seen-values.js';
import type { ControlIR } from '../../program/ir.js';

const form = ['Content-Type', 'application/x-www-form-urlencoded'];
const json = { kind: 'requestBodyProcessor', value: 'JSON' } as const;

/** Text in another Unicode encoding, as latin1. */
function wide(text: string, encoding: 'utf16le' | 'utf16be' | 'utf32le' | 'utf32be'): string {
  const unitBytes = encoding.startsWith('utf16') ? 2 : 4;
  const units = [...text].map((one) => {
    const bytes = Buffer.alloc(unitBytes);
    bytes.writeUIntBE(one.codePointAt(0) as number, 0, unitBytes);
    return encoding.endsWith('be') ? bytes : bytes.reverse();
  });
  return Buffer.concat(units).toString('latin1');
}

interface Row {
  readonly what: string;
  readonly request: Exchange;
  readonly controls?: readonly ControlIR[];
  readonly expected: readonly string[];
}

const rows: readonly Row[] = [
  {
    what: 'bytes that begin like JSON and are neither text nor a whole document give nothing',
    request: { headers: ['Content-Type', 'text/plain'], body: '{"a":"; cat x","b\xfe\x01\x02\x8f' },
    expected: ['reqbody_processor=', 'reqbody_error=0'],
  },
  {
    what: 'a whole document is read although a byte of it is no UTF-8 and another one a control character',
    request: { headers: ['Content-Type', 'text/plain'], body: '{"a":"; c\x01at x","b":"\xff"}\x02' },
    expected: ['args:json.a=; cat x', 'args:json.b=\xef\xbf\xbd', 'reqbody_processor=', 'reqbody_error=0'],
  },
  {
    what: 'text that begins like JSON is read as far as it goes',
    request: { headers: ['Content-Type', 'text/plain'], body: '{"a":"; cat x","b' },
    expected: ['args:json.a=; cat x', 'reqbody_processor=', 'reqbody_error=0'],
  },
  {
    what: 'A9: JSON in a field of a form, beside the field',
    request: { headers: form, body: 'f={"u":"it\'s","v":[{"w":"\' OR 1"}]}&g={x}&h=[1' },
    expected: [
      'args:f={"u":"it\'s","v":[{"w":"\' OR 1"}]}',
      'args:g={x}',
      'args:h=[1',
      "args:f.u=it's",
      "args:f.v.0.w=' OR 1",
      'reqbody_processor=URLENCODED',
      'reqbody_error=0',
    ],
  },
  {
    what: 'A9: JSON in a part of a form',
    request: {
      headers: ['Content-Type', 'multipart/form-data; boundary=x'],
      body: '--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n {"b":"\\u0027"}\r\n--x--\r\n',
    },
    expected: ['args:a= {"b":"\\u0027"}', "args:a.b='", 'reqbody_processor=MULTIPART', 'reqbody_error=0'],
  },
  {
    what: 'A9: JSON in a file that says what it is, and not in another',
    request: {
      headers: ['Content-Type', 'multipart/form-data; boundary=x'],
      body: ['application/JSON', 'application/vnd.a+json;charset=utf-8', 'text/plain']
        .map((type) => `Content-Type: ${type}\r\n\r\n{"b":"\\u0027"}\r\n--x`)
        .map((rest, index) => `Content-Disposition: form-data; name="f${index}"; filename="blob"\r\n${rest}`)
        .reduce((form, part) => `${form}\r\n${part}`, '--x')
        .concat('--\r\n'),
    },
    expected: ["args:f0.b='", "args:f1.b='", 'reqbody_processor=MULTIPART', 'reqbody_error=0'],
  },
  {
    what: 'A7: XML with entities of its own in a part of a form',
    request: {
      headers: ['Content-Type', 'multipart/form-data; boundary=x'],
      body:
        '--x\r\nContent-Disposition: form-data; name="f"; filename="a"\r\nContent-Type: text/xml\r\n\r\n' +
        '<!DOCTYPE a [<!ENTITY e "b">]><a>&e;</a>\r\n--x--\r\n',
    },
    expected: ['reqbody_processor=MULTIPART', 'reqbody_error=1'],
  },
  {
    what: 'A9: JSON in a string of JSON, and in a string of that',
    request: {
      headers: ['Content-Type', 'application/json'],
      body: JSON.stringify({ a: JSON.stringify({ b: JSON.stringify(['c']) }) }),
    },
    controls: [json],
    expected: ['args:json.a={"b":"[\\"c\\"]"}', 'args:json.a.b.0=c', 'reqbody_processor=JSON', 'reqbody_error=0'],
  },
  {
    what: 'A9: JSON in the query',
    request: { uri: '/?filter=%7B%22a%22:%22%5Cu0041%22%7D' },
    expected: ['args:filter={"a":"\\u0041"}', 'args:filter.a=A', 'reqbody_processor=', 'reqbody_error=0'],
  },
  ...(['utf16le', 'utf16be', 'utf32le', 'utf32be'] as const).flatMap((encoding) =>
    ['', '\ufeff'].map((mark) => ({
      what: `A9: without a type, in ${encoding}${mark === '' ? '' : ' with its mark'}`,
      request: { headers: [], body: wide(`${mark}{"a":"\u00fc"}`, encoding) },
      expected: ['args:json.a=\xc3\xbc', 'reqbody_processor=', 'reqbody_error=0'],
    })),
  ),
];

for (const { what, request, controls, expected } of rows)
  t.test(what, async (t) => {
    const { seen } = valuesSeen(['ARGS', 'REQBODY_PROCESSOR', 'REQBODY_ERROR'], request, controls);
    t.same([...seen].sort(), [...expected].sort());
  });

t.test('A6: JSON as a text of XML', async (t) => {
  const xml = ['Content-Type', 'text/xml'];
  const processor = [{ kind: 'requestBodyProcessor', value: 'XML' }] as const;
  const cases: readonly (readonly [string, readonly string[]])[] = [
    [`<a><b>{"u":"it's"}</b><c>{"v":["x' OR 1"]}</c></a>`, ["it's", "x' OR 1"]],
    ['<a><![CDATA[{"v":"x\\u0027 OR 1"}]]></a>', ["x' OR 1"]],
    ['<a>{&quot;v&quot;:&quot;x&#39; OR 1&quot;}</a>', ["x' OR 1"]],
    [`<a>{"v":"{\\"w\\":\\"x' OR 1\\"}"}</a>`, ["x' OR 1"]],
    ['<a>{v</a>', ['{v']],
  ];
  for (const [body, expected] of cases) {
    const { result } = valuesSeen(['XML'], { headers: xml, body }, processor);
    for (const text of expected) t.ok(result.transaction.body.xmlText.includes(text), `${body}: ${text}`);
  }
  const many = `<a>${'<b>{"x":1,"y":2}</b>'.repeat(2000)}</a>`;
  const { result } = valuesSeen(['XML'], { headers: xml, body: many }, processor, { argumentsMax: 100 });
  t.ok(result.transaction.body.xmlText.length <= 2001 + 50, 'half of the arguments that may be');
});
