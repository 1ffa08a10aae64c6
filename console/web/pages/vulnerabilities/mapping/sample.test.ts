import t from 'tap';
import { readSample } from './sample.js';

const report = JSON.stringify({
  tool: 'house checker',
  results: {
    items: [
      {
        what: { name: 'Open port', id: 7 },
        links: ['https://example.org/a', 'https://example.org/b'],
        places: [{ file: 'a.ts' }],
        gone: null,
      },
    ],
    files: ['a.ts'],
  },
});

t.test('names of JSON are dotted paths of the first row, each with its value', async (t) => {
  t.same(readSample(report, 'json', ' results.items '), {
    names: [
      { name: 'what.name', value: 'Open port' },
      { name: 'what.id', value: '7' },
      { name: 'links', value: 'https://example.org/a, https://example.org/b' },
      { name: 'places.0.file', value: 'a.ts' },
      { name: 'gone', value: 'null' },
    ],
    lists: ['results.items'],
  });
  t.same(readSample('[{"a":1}]', 'json', ''), { names: [{ name: 'a', value: '1' }], lists: [''] });
});

t.test('what is no list of rows is told, with the lists that there are', async (t) => {
  t.same(readSample(report, 'json', ''), { problem: 'no-list', lists: ['results.items'] });
  t.same(readSample(report, 'json', 'results.none'), { problem: 'no-list', lists: ['results.items'] });
  t.match(readSample('{', 'json', ''), { problem: 'no-json', detail: /./ });
  t.same(readSample('[]', 'json', ''), { names: [], lists: [] });
});

const heads: readonly (readonly [text: string, names: readonly string[], values: readonly string[]])[] = [
  ['Title,Level\nOpen port,2', ['Title', 'Level'], ['Open port', '2']],
  ['\ufeffTitle;"Level; ours"\r\n"a ""b"" c";2\r\n', ['Title', 'Level; ours'], ['a "b" c', '2']],
  ['Title\tLevel', ['Title', 'Level'], ['', '']],
  ['Title,,Level\na,b,c', ['Title', 'Level'], ['a', 'c']],
];

t.test('names of CSV are its head line', async (t) => {
  for (const [text, names, values] of heads)
    t.same(readSample(text, 'csv', 'heeded.of.json'), {
      names: names.map((name, at) => ({ name, value: values[at] })),
      lists: [],
    });
  t.same(readSample('\n', 'csv', ''), { problem: 'no-head' });
});
