// A16: every reader of a request takes time in proportion to what it reads, whatever that is: through the doors, as a
// data plane uses them, with rules that only choose the body processor.
import t from 'tap';
import { createMemoryStore, isPlainPath, readingsOf } from '#engine';
import { createInterpreter } from '#engine/compile';
import { programOf } from './testing/rule-text.js';
import { findSlow, type Reader } from './testing/time-bound.js';

const seed = Number(process.env['SEED'] ?? 20_261_121);

const inspector = createInterpreter(
  programOf(`SecRuleEngine On
SecRequestBodyAccess On
SecRequestBodyNoFilesLimit 1048576
SecRule REQUEST_HEADERS:X-Reader "@streq JSON" "id:1,phase:1,pass,nolog,ctl:requestBodyProcessor=JSON"
SecRule REQUEST_HEADERS:X-Reader "@streq XML" "id:2,phase:1,pass,nolog,ctl:requestBodyProcessor=XML"
SecRule REQUEST_HEADERS:X-Reader "@streq XML" "id:3,phase:1,pass,nolog,ctl:parseXmlIntoArgs=On"
`),
);

function exchange(uri: string, headers: readonly string[], body: string | null): void {
  const head = {
    method: 'POST',
    uri,
    protocol: 'HTTP/1.1',
    headers: ['Host', 'h', ...headers],
    clientIp: '192.0.2.7',
    clientPort: 1,
    serverIp: '192.0.2.80',
    serverPort: 80,
  };
  const transaction = inspector.begin(head, { uniqueId: 'x', nowMs: 0, store: createMemoryStore() });
  inspector.requestHeaders(transaction);
  inspector.requestBody(transaction, body === null ? null : Buffer.from(body, 'latin1'));
  inspector.finish(transaction);
}

const multipart = 'multipart/form-data; boundary=XX';
const disposition = 'Content-Disposition: form-data; name="f"';

const readers: readonly Reader[] = [
  {
    name: 'JSON',
    pieces: [
      '{"a":',
      '[',
      ']',
      '}',
      '"',
      '\\u0027',
      '"a\\\\",',
      '1,',
      '{"":1},',
      'null',
      '-0.1e5,',
      ' ',
      '{"a":{},"b":',
      '\xc3',
    ],
    read: (text) => exchange('/', ['X-Reader', 'JSON'], text),
  },
  {
    name: 'JSON under another type',
    pieces: ['{"a":', '["', '\\"[', '{}', '\n', '"[[1],\\"2\\"]",', '],', '=', '&', '%7b', '"{\\"a\\":1}",'],
    read: (text) => exchange('/', ['Content-Type', 'application/x-www-form-urlencoded'], `{"x":[${text}`),
  },
  {
    name: 'JSON within values',
    pieces: ['&a=', '{"a":', '["', '\\"[', '{}', '"[[1],\\"2\\"]",', '],', '%7b', '%22', '}', '[[', '"{\\"a\\":1}",'],
    read: (text) => exchange(`/?q={"a":"${text}"}`, ['Content-Type', 'application/x-www-form-urlencoded'], `f=${text}`),
  },
  {
    name: 'XML under another type',
    pieces: ['<a>', '</a>', '<a b="c">', '&#39;', '&', '<!--', '-->', '<![CDATA[', ']]>', 'x', '<!ENTITY b "', '\0'],
    read: (text) => exchange('/', ['Content-Type', 'text/plain'], `<r>${text}`),
  },
  {
    name: 'XML',
    pieces: [
      ...[
        '<a>',
        '</a>',
        '<a b="c">',
        '<b/>',
        'x',
        '&amp;',
        '&',
        '&#x3c;',
        '<!--',
        '-->',
        '<![CDATA[',
        ']]>',
        '<?p',
        '?>',
      ],
      ...[
        '<!DOCTYPE a [',
        '<!ENTITY b "c">',
        '%p;',
        ' xmlns:x="y"',
        '"',
        ']',
        ' b="1"',
        ' SYSTEM "x"',
        '\r\n',
        '<a>x</a>',
      ],
    ],
    read: (text) => exchange('/', ['X-Reader', 'XML'], `<r>${text}`),
  },
  {
    name: 'the prolog of XML',
    pieces: [
      '<!DOCTYPE a [',
      '<!ENTITY b "',
      '">',
      '<!--',
      '-->',
      '%',
      ' SYSTEM ',
      "'",
      '<?',
      '?>',
      ' PUBLIC ',
      '<!ATTLIST ',
      ' ',
    ],
    read: (text) => exchange('/', ['X-Reader', 'XML'], text),
  },
  {
    name: 'multipart',
    pieces: [
      ...[
        '--XX\r\n',
        '--XX',
        '--XX--',
        '\r\n',
        '\n',
        `${disposition}\r\n\r\n`,
        `${disposition}; filename="a"\r\n\r\n`,
        ' x\r\n',
      ],
      ...['X-A: b\r\n', ':', '\0', '--', `--XX\r\n${disposition}\r\n\r\nv\r\n`, 'X'],
    ],
    read: (text) => exchange('/', ['Content-Type', multipart], text),
  },
  {
    name: 'Content-Disposition',
    pieces: [
      'name="',
      '"',
      '\\"',
      '\\',
      '; ',
      'filename=',
      "filename*=utf-8''",
      '=?utf-8?q?',
      '?=',
      '=?',
      '=2F',
      "'",
      '=',
      ' ',
      '%41',
      '?=',
    ],
    bytesMax: 4096,
    read: (text) =>
      exchange('/', ['Content-Type', multipart], `--XX\r\nContent-Disposition: form-data; ${text}\r\n\r\nv\r\n--XX--`),
  },
  {
    name: 'the boundary',
    pieces: ['boundary', 'boundary=', 'Boundary=', ';', ' ', '"', '=', 'X', ',', '\t'],
    read: (text) => exchange('/', ['Content-Type', `multipart/form-data; ${text}`], '--X--'),
  },
  {
    name: 'form',
    pieces: ['a=1&', '&', '=', '%', '%4', '%41', '+', 'a', '%25', '{', ';'],
    read: (text) => exchange('/', ['Content-Type', 'application/x-www-form-urlencoded'], text),
  },
  {
    name: 'GraphQL',
    pieces: ['{a', '}', '\\u0041', '\\u{', '\\u{0000000', '}', '"', '\\', '#', '{"query":"'],
    read: (text) => exchange('/', ['Content-Type', 'application/graphql'], text),
  },
  {
    name: 'query',
    pieces: ['a=1&', '&', '=', '%', '%41', '+', '?', '#', '/', '..'],
    read: (text) => exchange(`/?${text}`, [], null),
  },
  {
    name: 'cookies',
    pieces: [
      ...[
        'a=b; ',
        '"',
        '\\"',
        '\\073',
        ';',
        '=',
        '%3B',
        '%25',
        'j:{"a":',
        's:',
        '.',
        'eyJ',
        '--',
        '["',
        ' ',
        '\xa0',
        '%7b',
      ],
      ...['a%3Db%3B', 'W', '!', 'a="\\073"; ', 'eyJhIjoxfQ.', 'j:[', 'a=%5b%22; '],
    ],
    read: (text) => exchange('/', ['Cookie', text], null),
  },
  {
    name: 'a long cookie',
    pieces: [
      '%7b',
      '%22',
      'a%3Db%3B',
      'eyJhIjoxfQ.',
      '["a",',
      '{"a":',
      'eyJ.',
      's%3A',
      'j%3A',
      'a%253D',
      '%255b',
      '1%2C',
      '\\',
    ],
    read: (text) => exchange('/', ['Cookie', `a=${text}`], null),
  },
  {
    name: 'readings of a path',
    pieces: [
      '/',
      '..',
      '%2e',
      ';',
      '%5c',
      '\\',
      '%25',
      '%u002e',
      '%c0%ae',
      '\xc0\xae',
      '\xef\xbc\x8e',
      '%00',
      '.',
      ' ',
      '%2f',
      'a',
      '//',
    ],
    bytesMax: 16_384,
    read: (text) => isPlainPath(text) || readingsOf(`/${text}`),
  },
];

for (const reader of readers)
  t.test(`A16: ${reader.name} is read in time`, async (t) => {
    const { tried, slow } = findSlow(reader, seed);
    t.same(slow, [], `${tried} texts with seed ${seed}`);
  });
