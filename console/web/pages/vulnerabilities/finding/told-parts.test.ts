import t from 'tap';
import { codeLines, fixOf } from './told-parts.js';

t.test('code is numbered from the line that the tool named', (t) => {
  const numbered: [name: string, location: unknown, lines: readonly (readonly [number | null, string])[]][] = [
    ['one line', { line: 7, snippet: '  eval(x)' }, [[7, '  eval(x)']]],
    [
      'several',
      { line: 9, snippet: 'a\r\n  b\n\nc\n' },
      [
        [9, 'a'],
        [10, '  b'],
        [11, ''],
        [12, 'c'],
      ],
    ],
    ['begins with empty lines', { line: 9, snippet: '\n \nc' }, [[11, 'c']]],
    [
      'code around the line',
      { line: 9, snippet_line: 8, snippet: 'a\nb' },
      [
        [8, 'a'],
        [9, 'b'],
      ],
    ],
    [
      'no line',
      { snippet: 'a\nb' },
      [
        [null, 'a'],
        [null, 'b'],
      ],
    ],
    ['a line that is none', { line: 0, snippet: 'a' }, [[null, 'a']]],
    ['no code', { line: 3 }, []],
    ['only white space', { line: 3, snippet: ' \n\t' }, []],
    ['code that is no text', { line: 3, snippet: ['a'] }, []],
    ['no place', null, []],
  ];
  for (const [name, location, lines] of numbered)
    t.same(
      codeLines(location).map(({ number, text }) => [number, text]),
      lines,
      name,
    );
  t.end();
});

t.test('what the tool advises', (t) => {
  t.same(fixOf({ state: 'fixed_available', version: ' 1.2.3 ', text: 'Bind parameters.\n' }), {
    version: '1.2.3',
    words: 'Bind parameters.',
  });
  for (const none of [null, undefined, {}, { version: 3, text: null }, 'text'])
    t.same(fixOf(none), { version: '', words: '' });
  t.end();
});
