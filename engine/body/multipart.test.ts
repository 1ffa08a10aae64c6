import t from 'tap';
import fc from 'fast-check';
import type { BodyLimits, BodyOutcome, BodySink } from './body.js';
import { recommendedBodyLimits } from '../testing/body-limits.js';
import { createBodySink } from './empty-sink.js';
import { filesCombinedSize, multipartStrictError, processMultipart } from './multipart.js';
import { otherReadings } from './other-readings.js';

type Result = BodyOutcome & { sink: BodySink; raised: Record<string, string>; fields: string[][] };
const type = 'multipart/form-data; boundary=XX';
function parse(body: string, contentType = type, limits: Partial<BodyLimits> = {}): Result {
  const sink = createBodySink();
  const outcome = processMultipart(Buffer.from(body, 'latin1'), contentType, sink, {
    ...recommendedBodyLimits,
    ...limits,
  });
  const raised = Object.fromEntries(
    [...sink.multipartFlags]
      .filter(([, value]) => value !== '0')
      .map(([name, value]) => [name.slice('MULTIPART_'.length), value]),
  );
  return {
    ...outcome,
    sink,
    raised,
    fields: sink.argsPost.names.map((name, index) => [name, sink.argsPost.values[index] as string]),
  };
}
const disposition = 'Content-Disposition: form-data; ';
const part = (header: string, content: string): string => `--XX\r\n${header}\r\n\r\n${content}\r\n`;
const field = part(`${disposition}name="f"`, 'u');
const end = '--XX--\r\n';
/** Flags of every sound body of more than one boundary line. */
const sound = { UNMATCHED_BOUNDARY: '2' };

t.test('fields and files', async (t) => {
  const got = parse(
    part(`${disposition}name="f"`, 'u') +
      part(`${disposition}name="g"; filename="n.txt"\r\nContent-Type:  text/plain `, 'line\r\nline\n') +
      part(`${disposition}name="h"; filename=""`, '') +
      end,
  );
  t.match(got, { error: null, truncated: false, raised: sound });
  t.same(
    got.fields,
    [
      ['f', 'u'],
      ['h', ''],
    ],
    'a file control left empty is a field',
  );
  t.same([got.sink.files.names, got.sink.files.values], [['g'], ['n.txt']]);
  t.same([got.sink.filesNames.names, got.sink.filesNames.values], [['g'], ['g']]);
  t.same(got.sink.filesSizes.values, ['11']);
  t.equal(filesCombinedSize(got.sink), 11);
  t.same(got.sink.multipartName.values, ['f', 'g', 'h']);
  t.same(got.sink.multipartFilename.values, ['n.txt', '']);
  t.same(got.sink.multipartPartHeaders.names, ['f', 'g', 'g', 'h']);
  t.same(got.sink.multipartPartHeaders.values[2], 'Content-Type:  text/plain ');
});

t.test('line ends of a field stay, the one before the boundary goes', async (t) => {
  t.same(parse(part(`${disposition}name="f"`, 'u\r\nv\nw\r\n') + end).fields, [['f', 'u\r\nv\nw\r\n']]);
  t.same(parse(part(`${disposition}name="f"`, '') + end).fields, [['f', '']]);
});

// [what, body, content type, flags that are set, error or null]
const strict = (flag: string): Record<string, string> => ({ ...sound, [flag]: '1', STRICT_ERROR: '1' });
const table: readonly (readonly [string, string, string, Record<string, string>, RegExp | null])[] = [
  ['empty body', '', type, {}, null],
  ['sound', field + end, type, sound, null],
  ['final boundary without newline', field + '--XX--', type, {}, null],
  ['header name in another case', part('content-disposition: form-data; name="f"', 'u') + end, type, sound, null],
  ['token instead of a quoted name', part(`${disposition}name=f`, 'u') + end, type, sound, null],
  ['parameter after the boundary', field + end, `${type}; charset=utf-8`, sound, null],
  ['boundary quoted', field + end, 'multipart/form-data; boundary="XX"', strict('BOUNDARY_QUOTED'), null],
  [
    'whitespace before the equals sign',
    field + end,
    'multipart/form-data; boundary =XX',
    strict('BOUNDARY_WHITESPACE'),
    null,
  ],
  ['no semicolon', field + end, 'multipart/form-data boundary=XX', strict('MISSING_SEMICOLON'), null],
  ['data before', `junk\r\n${field}${end}`, type, strict('DATA_BEFORE'), null],
  ['data after', `${field}${end}junk`, type, strict('DATA_AFTER'), null],
  ['folding', part('Content-Disposition: form-data;\r\n name="f"', 'u') + end, type, strict('HEADER_FOLDING'), null],
  [
    'folding by other space',
    part('Content-Disposition: form-data;\r\n\fname="f"', 'u') + end,
    type,
    { ...strict('HEADER_FOLDING'), INVALID_HEADER_FOLDING: '1' },
    null,
  ],
  ['LF', (field + end).replaceAll('\r', ''), type, strict('LF_LINE'), null],
  ['CRLF and LF', field.replaceAll('\r', '') + end, type, { ...strict('LF_LINE'), CRLF_LF_LINES: '1' }, null],
  ['single quotes', part(`${disposition}name='f'`, 'u') + end, type, strict('INVALID_QUOTING'), null],
  ...['form-data ; name="f"', 'form-data; name ="f"', 'form-data; name="f"; filename=\t"x"'].map(
    (text) =>
      [
        `blank in ${text}`,
        part(`Content-Disposition: ${text}`, 'u') + end,
        type,
        strict('INVALID_QUOTING'),
        null,
      ] as const,
  ),
  ['blank in front of a semicolon', part(`${disposition}name="f" ; filename="x"`, 'u') + end, type, sound, null],
  ['foreign boundary last', `${field}--YY\r\nu\r\n`, type, { UNMATCHED_BOUNDARY: '1' }, /Final boundary missing/],
  ['foreign boundary, ours follows', part(`${disposition}name="f"`, 'u\r\n--YY\r\nv') + end, type, sound, null],
  [
    'our boundary inside a line',
    part(`${disposition}name="f"`, 'u --XX v') + end,
    type,
    { STRICT_ERROR: '1' },
    /inside a line/,
  ],
  [
    'our boundary behind a bare CR',
    part(`${disposition}name="f"; filename="x"`, `u\r--XX\r${disposition}name="g"\r\rv`) + end,
    type,
    { STRICT_ERROR: '1' },
    /inside a line/,
  ],
  [
    'our boundary behind another',
    part(`${disposition}name="f"; filename="x"`, '--YY--XX') + end,
    type,
    { UNMATCHED_BOUNDARY: '1', STRICT_ERROR: '1' },
    /inside a line/,
  ],
  [
    'our boundary in a header',
    part(`${disposition}name="f"; filename="--XX"`, 'u') + end,
    type,
    { STRICT_ERROR: '1' },
    /inside a line/,
  ],
  [
    'LF in front of our boundary',
    `--XX\r\n${disposition}name="f"\r\n\r\nu\n${part(`${disposition}name="g"; filename="x"`, 'v')}${end}`,
    type,
    { ...strict('LF_LINE'), CRLF_LF_LINES: '1' },
    null,
  ],
  [
    'multipart within a part',
    part(`${disposition}name="f"; filename="x"\r\nCONTENT-type:Multipart/mixed; boundary=YY`, '--YY--') + end,
    type,
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
  ['our boundary with a tail', `${field}--XXY\r\n${end}`, type, { STRICT_ERROR: '1' }, /Invalid boundary/],
  ['whitespace in front of our boundary', `${field}-- XX\r\n${end}`, type, { STRICT_ERROR: '1' }, /whitespace/],
  [
    'quotes around our boundary',
    '--"XX"\r\n',
    'multipart/form-data; boundary="XX"',
    { BOUNDARY_QUOTED: '1', STRICT_ERROR: '1' },
    /quotes/,
  ],
  ['no final boundary', field, type, {}, /Final boundary missing/],
  ['no boundary', 'u', type, { DATA_BEFORE: '1', STRICT_ERROR: '1' }, /No boundaries/],
  [
    'no disposition',
    part('Content-Type: text/plain', 'u') + end,
    type,
    { INVALID_PART: '1', STRICT_ERROR: '1' },
    /missing Content-Disposition/,
  ],
  [
    'no name',
    part('Content-Disposition: form-data', 'u') + end,
    type,
    { INVALID_PART: '1', STRICT_ERROR: '1' },
    /missing name/,
  ],
  [
    'empty name',
    part(`${disposition}name=""`, 'u') + end,
    type,
    { INVALID_PART: '1', STRICT_ERROR: '1' },
    /missing name/,
  ],
  [
    'attachment',
    part('Content-Disposition: attachment; name="f"', 'u') + end,
    type,
    { INVALID_PART: '1', STRICT_ERROR: '1' },
    /not form-data/,
  ],
  [
    'duplicate name',
    part(`${disposition}name="f"; name="g"`, 'u') + end,
    type,
    { INVALID_PART: '1', STRICT_ERROR: '1' },
    /duplicate name/,
  ],
  [
    'duplicate file name',
    part(`${disposition}name="f"; filename=""; filename="x"`, 'u') + end,
    type,
    { INVALID_PART: '1', STRICT_ERROR: '1' },
    /duplicate filename/,
  ],
  [
    'unknown parameter',
    part(`${disposition}name="f"; x=1`, 'u') + end,
    type,
    { INVALID_PART: '1', STRICT_ERROR: '1' },
    /unknown parameter x/,
  ],
  [
    'quote not closed',
    part(`${disposition}name="f`, 'u') + end,
    type,
    { INVALID_PART: '1', STRICT_ERROR: '1' },
    /quote not closed/,
  ],
  [
    'junk behind a quote',
    part(`${disposition}name="f"x`, 'u') + end,
    type,
    { INVALID_PART: '1', INVALID_QUOTING: '1', STRICT_ERROR: '1' },
    /semicolon/,
  ],
  [
    'lone filename*',
    part(`${disposition}name="f"; filename*=utf-8''x.txt`, 'u') + end,
    type,
    { INVALID_PART: '1', STRICT_ERROR: '1' },
    /without filename/,
  ],
  ['NUL in a header', part(`${disposition}name="f\0"`, 'u') + end, type, { STRICT_ERROR: '1' }, /Nul byte/],
  ['no colon', part(`${disposition}name="f"\r\nx`, 'u') + end, type, { ...sound, STRICT_ERROR: '1' }, /colon missing/],
  [
    'duplicate header',
    part(`${disposition}name="f"\r\n${disposition}name="g"`, 'u') + end,
    type,
    { ...sound, STRICT_ERROR: '1' },
    /Duplicate part header/,
  ],
  [
    'boundary among the headers',
    `--XX\r\n${disposition}name="f"\r\n${end}`,
    type,
    { INVALID_PART: '1', STRICT_ERROR: '1' },
    /inside the part headers/,
  ],
  [
    'boundary right behind the headers',
    `--XX\r\n${disposition}name="f"\r\n\r\n${end}`,
    type,
    { INVALID_PART: '1', STRICT_ERROR: '1' },
    /no line between/,
  ],
  ['no boundary parameter', field + end, 'multipart/form-data', { STRICT_ERROR: '1' }, /Boundary not found/],
  ['two boundary parameters', field + end, `${type}; boundary=YY`, { STRICT_ERROR: '1' }, /Multiple boundary/],
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
  ['long content type', field + end, `${type}${'X'.repeat(1100)}`, { STRICT_ERROR: '1' }, /length/],
  [
    'long header',
    part(`${disposition}name="f"\r\nX: ${'u'.repeat(5000)}`, 'u') + end,
    type,
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

t.test('names', async (t) => {
  t.same(
    parse(part(`${disposition}name="f\\"g\\\\h\\i"`, 'u') + end).fields,
    [
      ['f"g\\h\\i', 'u'],
      ['f"ghi', ''],
    ],
    'a name with backslashes once more as Rack reads it',
  );
  t.match(parse(part(`${disposition}name="f'g"`, 'u') + end), { raised: sound, fields: [["f'g", 'u']] });
  const both = parse(part(`${disposition}name="f"; filename="u.txt"; filename*=utf-8''u%2ephp`, 'u') + end);
  t.same(both.sink.files.values, ['u.txt', 'u.php'], 'both names of a file are inspected');
  t.same(parse(part(`${disposition}name="f"; filename="u.txt"; filename*=utf-8''u.txt`, 'u') + end).sink.files.values, [
    'u.txt',
  ]);
  const files = (name: string): string[] => [
    ...parse(part(`${disposition}name="f"; filename="${name}"`, 'u') + end).sink.files.values,
  ];
  t.same(files('..\\/u'), ['..\\/u', '../u'], 'Rack');
  t.same(
    files('=?UTF-8?B?Li4v?= \t=?us-ascii?q?a=2F_b?=c'),
    ['=?UTF-8?B?Li4v?= \t=?us-ascii?q?a=2F_b?=c', '../a/ bc'],
    'Tomcat',
  );
  t.same(files('=?utf-8?x?u?='), ['=?utf-8?x?u?=']);
  t.match(parse(part(`${disposition}name="=?ibm037?B?fQ==?="`, 'u') + end), {
    error: /encoded word/,
    raised: { INVALID_PART: '1' },
  });
});

t.test('limits', async (t) => {
  t.match(parse(field + field + field + end, type, { argumentsMax: 2 }), {
    error: null,
    truncated: true,
    fields: [
      ['f', 'u'],
      ['f', 'u'],
    ],
  });
  const file = part(`${disposition}name="g"; filename="n"`, 'u');
  const files = parse(file + file + file + end, type, { uploadFilesMax: 2 });
  t.match(files, { error: /file limit exceeded 2/, raised: { FILE_LIMIT_EXCEEDED: '1', STRICT_ERROR: '1' } });
  t.equal(files.sink.files.size, 3);
  t.match(
    parse(part(`${disposition}name="f"`, 'u'.repeat(100)) + end, type, { noFilesBytesMax: 100 }).error,
    /excluding files/,
  );
  t.equal(
    parse(part(`${disposition}name="g"; filename="n"`, 'u'.repeat(100)) + end, type, { noFilesBytesMax: 100 }).error,
    null,
  );
  t.match(
    parse(`--XX\r\n${Array.from({ length: 65 }, (_, index) => `X${index}: u\r\n`).join('')}\r\n`).error,
    /More than 64 headers/,
  );
});

t.test('properties', async (t) => {
  const seed = Number(process.env['SEED'] ?? 20_261_121);
  t.comment(`seed ${seed}`);
  const bytes = fc.uint8Array({ maxLength: 60 }).map((array) => Buffer.from(array).toString('latin1'));
  // Content may hold anything but a line that begins with two hyphens.
  const content = fc
    .oneof(bytes, fc.string({ unit: fc.constantFrom('\r', '\n', 'u', '\0', '\xff'), maxLength: 20 }))
    .map((text) => text.replaceAll('-', '+'));
  const name = fc.string({ unit: fc.constantFrom(...'ab[]"\\ ;=\xe9'), minLength: 1, maxLength: 12 });
  const others = (text: string): readonly string[] => otherReadings(text) ?? [];
  const quoted = (text: string): string => `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
  fc.assert(
    fc.property(fc.array(fc.tuple(name, fc.option(name), content), { minLength: 1, maxLength: 6 }), (parts) => {
      const body =
        parts
          .map(([field, file, text]) =>
            part(`${disposition}name=${quoted(field)}${file === null ? '' : `; filename=${quoted(file)}`}`, text),
          )
          .join('') + end;
      const got = parse(body);
      const { files, filesSizes } = got.sink;
      return (
        got.error === null &&
        JSON.stringify(got.raised) === JSON.stringify(sound) &&
        JSON.stringify(got.fields) ===
          JSON.stringify(
            parts
              .filter(([, file]) => file === null)
              .flatMap(([field, , text]) => [[field, text], ...others(field).map((other) => [other, ''])]),
          ) &&
        JSON.stringify(files.values.map((value, index) => [files.names[index], value])) ===
          JSON.stringify(
            parts.flatMap(([field, file]) =>
              file === null ? [] : [file, ...others(file)].map((value) => [field, value]),
            ),
          ) &&
        JSON.stringify(filesSizes.values) ===
          JSON.stringify(parts.flatMap(([, file, text]) => (file === null ? [] : [String(text.length)])))
      );
    }),
    { seed, numRuns: 500 },
  );
  const pieces = fc
    .array(
      fc.constantFrom(
        '--XX',
        '--',
        '\r\n',
        '\n',
        '\r',
        disposition,
        'Content-Disposition:',
        'form-data',
        ';',
        ' ',
        '\t',
        'name=',
        'filename=',
        'filename*=',
        '"',
        "'",
        'u',
        ':',
        '\0',
        '--YY',
        field,
        end,
      ),
      { maxLength: 30 },
    )
    .map((found) => found.join(''));
  fc.assert(
    fc.property(
      fc.oneof(bytes, pieces),
      fc.oneof(
        fc.constantFrom(type, 'multipart/form-data; boundary="XX"'),
        bytes.map((text) => `multipart/form-data${text}`),
      ),
      (body, contentType) => {
        const { sink, fields } = parse(body, contentType);
        const size = [fields.flat(), sink.files.values, sink.multipartName.values, sink.multipartPartHeaders.values]
          .flat()
          .join('').length;
        return sink.multipartFlags.size === 14 && size <= body.length * 4;
      },
    ),
    { seed, numRuns: 3000 },
  );
  t.pass('held');
});
