import t from 'tap';
import fc from 'fast-check';
import { disposition, end, field, multipartType, parse, part, sound } from '../testing/multipart.js';
import { filesCombinedSize } from './multipart.js';
import { otherReadings } from './other-readings.js';

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
  t.match(parse(field + field + field + end, multipartType, { argumentsMax: 2 }), {
    error: null,
    truncated: true,
    fields: [
      ['f', 'u'],
      ['f', 'u'],
    ],
  });
  const file = part(`${disposition}name="g"; filename="n"`, 'u');
  const files = parse(file + file + file + end, multipartType, { uploadFilesMax: 2 });
  t.match(files, { error: /file limit exceeded 2/, raised: { FILE_LIMIT_EXCEEDED: '1', STRICT_ERROR: '1' } });
  t.equal(files.sink.files.size, 3);
  t.match(
    parse(part(`${disposition}name="f"`, 'u'.repeat(100)) + end, multipartType, { noFilesBytesMax: 100 }).error,
    /excluding files/,
  );
  t.equal(
    parse(part(`${disposition}name="g"; filename="n"`, 'u'.repeat(100)) + end, multipartType, { noFilesBytesMax: 100 })
      .error,
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
        fc.constantFrom(multipartType, 'multipart/form-data; boundary="XX"'),
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

t.test('U15: a control byte in the name of a part header is an error, and the header is shown', async (t) => {
  for (const byte of ['\x01', '\x0b', '\x1f', '\x7f']) {
    for (const header of [`Content-${byte}Type: text/plain`, `${byte}X-A: b`, `X-A${byte}: b`]) {
      // White space in front of a line folds it, which is another error.
      if (header.startsWith('\x0b')) continue;
      const got = parse(part(`${disposition}name="f"\r\n${header}`, 'u') + end);
      t.match(got.error, /control byte in its name/, JSON.stringify(header));
      t.equal(got.raised['STRICT_ERROR'], '1');
      t.ok(got.sink.multipartPartHeaders.values.includes(header));
    }
  }
  t.equal(parse(part(`${disposition}name="f"\r\nX-A: \x01`, 'u') + end).error, null, 'in its value it is none');
});
