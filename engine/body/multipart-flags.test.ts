// Which MULTIPART_* flags and which errors a body gives, row by row.
import t from 'tap';
import { disposition, end, field, multipartType, parse, part, sound } from '../testing/multipart.js';
import { multipartStrictError } from './multipart.js';

// [what, body, content type, flags that are set, error or null]
const strict = (flag: string): Record<string, string> => ({ ...sound, [flag]: '1', STRICT_ERROR: '1' });
const table: readonly (readonly [string, string, string, Record<string, string>, RegExp | null])[] = [
  ['empty body', '', multipartType, {}, null],
  ['sound', field + end, multipartType, sound, null],
  ['final boundary without newline', field + '--XX--', multipartType, {}, null],
  [
    'header name in another case',
    part('content-disposition: form-data; name="f"', 'u') + end,
    multipartType,
    sound,
    null,
  ],
  ['token instead of a quoted name', part(`${disposition}name=f`, 'u') + end, multipartType, sound, null],
  ['parameter after the boundary', field + end, `${multipartType}; charset=utf-8`, sound, null],
  ['boundary quoted', field + end, 'multipart/form-data; boundary="XX"', strict('BOUNDARY_QUOTED'), null],
  [
    'whitespace before the equals sign',
    field + end,
    'multipart/form-data; boundary =XX',
    strict('BOUNDARY_WHITESPACE'),
    null,
  ],
  ['no semicolon', field + end, 'multipart/form-data boundary=XX', strict('MISSING_SEMICOLON'), null],
  ['data before', `junk\r\n${field}${end}`, multipartType, strict('DATA_BEFORE'), null],
  ['data after', `${field}${end}junk`, multipartType, strict('DATA_AFTER'), null],
  [
    'folding',
    part('Content-Disposition: form-data;\r\n name="f"', 'u') + end,
    multipartType,
    strict('HEADER_FOLDING'),
    null,
  ],
  [
    'folding by other space',
    part('Content-Disposition: form-data;\r\n\fname="f"', 'u') + end,
    multipartType,
    { ...strict('HEADER_FOLDING'), INVALID_HEADER_FOLDING: '1' },
    null,
  ],
  ['LF', (field + end).replaceAll('\r', ''), multipartType, strict('LF_LINE'), null],
  ['CRLF and LF', field.replaceAll('\r', '') + end, multipartType, { ...strict('LF_LINE'), CRLF_LF_LINES: '1' }, null],
  ['single quotes', part(`${disposition}name='f'`, 'u') + end, multipartType, strict('INVALID_QUOTING'), null],
  ...['form-data ; name="f"', 'form-data; name ="f"', 'form-data; name="f"; filename=\t"x"'].map(
    (text) =>
      [
        `blank in ${text}`,
        part(`Content-Disposition: ${text}`, 'u') + end,
        multipartType,
        strict('INVALID_QUOTING'),
        null,
      ] as const,
  ),
  [
    'blank in front of a semicolon',
    part(`${disposition}name="f" ; filename="x"`, 'u') + end,
    multipartType,
    sound,
    null,
  ],
  [
    'foreign boundary last',
    `${field}--YY\r\nu\r\n`,
    multipartType,
    { UNMATCHED_BOUNDARY: '1' },
    /Final boundary missing/,
  ],
  [
    'foreign boundary, ours follows',
    part(`${disposition}name="f"`, 'u\r\n--YY\r\nv') + end,
    multipartType,
    sound,
    null,
  ],
  [
    'our boundary inside a line',
    part(`${disposition}name="f"`, 'u --XX v') + end,
    multipartType,
    { STRICT_ERROR: '1' },
    /inside a line/,
  ],
  [
    'our boundary behind a bare CR',
    part(`${disposition}name="f"; filename="x"`, `u\r--XX\r${disposition}name="g"\r\rv`) + end,
    multipartType,
    { STRICT_ERROR: '1' },
    /inside a line/,
  ],
  [
    'our boundary behind another',
    part(`${disposition}name="f"; filename="x"`, '--YY--XX') + end,
    multipartType,
    { UNMATCHED_BOUNDARY: '1', STRICT_ERROR: '1' },
    /inside a line/,
  ],
  [
    'our boundary in a header',
    part(`${disposition}name="f"; filename="--XX"`, 'u') + end,
    multipartType,
    { STRICT_ERROR: '1' },
    /inside a line/,
  ],
  [
    'LF in front of our boundary',
    `--XX\r\n${disposition}name="f"\r\n\r\nu\n${part(`${disposition}name="g"; filename="x"`, 'v')}${end}`,
    multipartType,
    { ...strict('LF_LINE'), CRLF_LF_LINES: '1' },
    null,
  ],
  [
    'multipart within a part',
    part(`${disposition}name="f"; filename="x"\r\nCONTENT-type:Multipart/mixed; boundary=YY`, '--YY--') + end,
    multipartType,
    { INVALID_PART: '1', STRICT_ERROR: '1' },
    /within a part/,
  ],
  ...[...' (),/:=?'].map(
    (special) =>
      [
        `"${special}" in a boundary without quotes`,
        field + end,
        `multipart/form-data; boundary=XX${special}Y`,
        { STRICT_ERROR: '1' },
        /not quoted/,
      ] as const,
  ),
  [
    'other marks in a boundary',
    "--'X+_-.X\r\n" + field.slice(6) + "--'X+_-.X--\r\n",
    "multipart/form-data; boundary='X+_-.X",
    sound,
    null,
  ],
  ['our boundary with a tail', `${field}--XXY\r\n${end}`, multipartType, { STRICT_ERROR: '1' }, /Invalid boundary/],
  [
    'whitespace in front of our boundary',
    `${field}-- XX\r\n${end}`,
    multipartType,
    { STRICT_ERROR: '1' },
    /whitespace/,
  ],
  [
    'quotes around our boundary',
    '--"XX"\r\n',
    'multipart/form-data; boundary="XX"',
    { BOUNDARY_QUOTED: '1', STRICT_ERROR: '1' },
    /quotes/,
  ],
  ['no final boundary', field, multipartType, {}, /Final boundary missing/],
  ['no boundary', 'u', multipartType, { DATA_BEFORE: '1', STRICT_ERROR: '1' }, /No boundaries/],
  [
    'no disposition',
    part('Content-Type: text/plain', 'u') + end,
    multipartType,
    { INVALID_PART: '1', STRICT_ERROR: '1' },
    /missing Content-Disposition/,
  ],
  [
    'no name',
    part('Content-Disposition: form-data', 'u') + end,
    multipartType,
    { INVALID_PART: '1', STRICT_ERROR: '1' },
    /missing name/,
  ],
  [
    'empty name',
    part(`${disposition}name=""`, 'u') + end,
    multipartType,
    { INVALID_PART: '1', STRICT_ERROR: '1' },
    /missing name/,
  ],
  [
    'attachment',
    part('Content-Disposition: attachment; name="f"', 'u') + end,
    multipartType,
    { INVALID_PART: '1', STRICT_ERROR: '1' },
    /not form-data/,
  ],
  [
    'duplicate name',
    part(`${disposition}name="f"; name="g"`, 'u') + end,
    multipartType,
    { INVALID_PART: '1', STRICT_ERROR: '1' },
    /duplicate name/,
  ],
  [
    'duplicate file name',
    part(`${disposition}name="f"; filename=""; filename="x"`, 'u') + end,
    multipartType,
    { INVALID_PART: '1', STRICT_ERROR: '1' },
    /duplicate filename/,
  ],
  [
    'unknown parameter',
    part(`${disposition}name="f"; x=1`, 'u') + end,
    multipartType,
    { INVALID_PART: '1', STRICT_ERROR: '1' },
    /unknown parameter x/,
  ],
  [
    'quote not closed',
    part(`${disposition}name="f`, 'u') + end,
    multipartType,
    { INVALID_PART: '1', STRICT_ERROR: '1' },
    /quote not closed/,
  ],
  [
    'junk behind a quote',
    part(`${disposition}name="f"x`, 'u') + end,
    multipartType,
    { INVALID_PART: '1', INVALID_QUOTING: '1', STRICT_ERROR: '1' },
    /semicolon/,
  ],
  [
    'lone filename*',
    part(`${disposition}name="f"; filename*=utf-8''x.txt`, 'u') + end,
    multipartType,
    { INVALID_PART: '1', STRICT_ERROR: '1' },
    /without filename/,
  ],
  ['NUL in a header', part(`${disposition}name="f\0"`, 'u') + end, multipartType, { STRICT_ERROR: '1' }, /Nul byte/],
  [
    'no colon',
    part(`${disposition}name="f"\r\nx`, 'u') + end,
    multipartType,
    { ...sound, STRICT_ERROR: '1' },
    /colon missing/,
  ],
  [
    'duplicate header',
    part(`${disposition}name="f"\r\n${disposition}name="g"`, 'u') + end,
    multipartType,
    { ...sound, STRICT_ERROR: '1' },
    /Duplicate part header/,
  ],
  [
    'boundary among the headers',
    `--XX\r\n${disposition}name="f"\r\n${end}`,
    multipartType,
    { INVALID_PART: '1', STRICT_ERROR: '1' },
    /inside the part headers/,
  ],
  [
    'boundary right behind the headers',
    `--XX\r\n${disposition}name="f"\r\n\r\n${end}`,
    multipartType,
    { INVALID_PART: '1', STRICT_ERROR: '1' },
    /no line between/,
  ],
  ['no boundary parameter', field + end, 'multipart/form-data', { STRICT_ERROR: '1' }, /Boundary not found/],
  ['two boundary parameters', field + end, `${multipartType}; boundary=YY`, { STRICT_ERROR: '1' }, /Multiple boundary/],
  ['Boundary', field + end, 'multipart/form-data; Boundary=XX', { STRICT_ERROR: '1' }, /case sensitivity/],
  [
    'parameter before the boundary',
    field + end,
    'multipart/form-data; charset=utf-8; boundary=XX',
    { STRICT_ERROR: '1' },
    /malformed/,
  ],
  ['half quoted boundary', field + end, 'multipart/form-data; boundary="XX', { STRICT_ERROR: '1' }, /quote/],
  [
    'boundary with odd characters',
    field + end,
    'multipart/form-data; boundary=X@X',
    { STRICT_ERROR: '1' },
    /characters/,
  ],
  ['empty boundary', field + end, 'multipart/form-data; boundary=', { STRICT_ERROR: '1' }, /empty/],
  ['another type', field + end, 'multipart/mixed; boundary=XX', { STRICT_ERROR: '1' }, /MIME/],
  ['long content type', field + end, `${multipartType}${'X'.repeat(1100)}`, { STRICT_ERROR: '1' }, /length/],
  [
    'long header',
    part(`${disposition}name="f"\r\nX: ${'u'.repeat(5000)}`, 'u') + end,
    multipartType,
    { STRICT_ERROR: '1' },
    /4096/,
  ],
];

t.test('flags and errors', async (t) => {
  for (const [what, body, contentType, raised, error] of table) {
    const got = parse(body, contentType);
    t.same(got.raised, raised, what);
    if (error === null) t.equal(got.error, null, what);
    else t.match(got.error, error, what);
    t.equal(
      got.sink.multipartFlags.get('MULTIPART_STRICT_ERROR'),
      multipartStrictError(got.sink.multipartFlags, raised['STRICT_ERROR'] === '1' && error !== null),
      `${what}: derivation`,
    );
  }
});
