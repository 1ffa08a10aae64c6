// XML that is called something else: what rules see of it, and what of it is an error.
import t from 'tap';
import { createBodySink } from '../empty-sink.js';
import { asNarrowText } from './wide-text.js';
import { beginsLikeXml, processXmlBesides } from './xml.js';

const limits = {
  argumentsMax: 100,
  jsonDepthMax: 10,
  noFilesBytesMax: 4096,
  uploadFilesMax: 10,
  argumentSeparator: '&',
};

function read(text: string, encoding: BufferEncoding = 'utf8') {
  const body = asNarrowText(Buffer.from(text, encoding));
  const sink = createBodySink();
  const outcome = beginsLikeXml(body) ? processXmlBesides(body, sink, limits) : null;
  return { ...outcome, shown: [...sink.xmlText, ...sink.xmlAttributes], external: sink.xmlExternal };
}

t.test('A9, A6: texts and attributes of what begins like XML, as an XML reader has them', async (t) => {
  const rows: readonly [string, readonly string[]][] = [
    ['<a>1&#39; OR &#x31;</a>', ["1' OR 1"]],
    ["\n <?xml version='1.0'?><a><b>it's</b><c>x' OR 1</c></a>", ["x' OR 1"]],
    ['<a><![CDATA[<b>]]></a>', ['<b>']],
    ['<a b="&lt;x"/>', ['<x']],
    ['<p>a page<br>is no XML</p>', ['a page']],
    ['<', []],
    ['a < b', []],
  ];
  for (const [text, expected] of rows)
    for (const encoding of ['utf8', 'utf16le'] as const)
      for (const mark of encoding === 'utf8' ? [''] : ['', '\ufeff']) {
        if (encoding === 'utf16le' && mark === '' && !text.startsWith('<')) continue;
        const got = read(mark + text, encoding);
        for (const one of expected) t.ok(got.shown.includes(one), `${encoding} ${text}: ${got.shown.join(' | ')}`);
        t.notOk(got.error, `${text} is no error`);
      }
});

t.test('A7: what it would fetch is known, and entities that it declares have to be readable', async (t) => {
  t.match(read('<!DOCTYPE a SYSTEM "http://h/x.dtd"><a/>').external, ['DOCTYPE SYSTEM http://h/x.dtd']);
  t.match(read('\ufeff<!DOCTYPE a SYSTEM "http://h/x.dtd"><a/>', 'utf16le').external, [
    'DOCTYPE SYSTEM http://h/x.dtd',
  ]);
  const svg = '"-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd"';
  t.same(read(`<!DOCTYPE svg PUBLIC ${svg}><svg/>`).external, [], 'a picture as it was saved');
  const w3 = '-//W3C//X';
  for (const other of [
    `<!DOCTYPE svg PUBLIC "${w3}" "http://h/x.dtd"><svg><a>${w3}</a><b>http://www.w3.org/</b></svg>`,
    `<!-- <!DOCTYPE svg PUBLIC ${svg}> --><!DOCTYPE svg PUBLIC "${w3}" "http://h/"><svg/>`,
    `<!DOCTYPE svg PUBLIC "${w3}" "http://h/" [<!ATTLIST a b CDATA "${w3}" c CDATA "http://www.w3.org/">]><svg/>`,
    `<!DOCTYPE svg PUBLIC "${w3}" "http://h/" [<!ENTITY b "${w3}"><!ENTITY c "http://www.w3.org/">]><svg/>`,
  ])
    t.equal(read(other).external.length, 1, other);
  t.ok(read('<!DOCTYPE a [<!ENTITY b "\' OR ">]><a>&b;1</a>').error, 'what an entity makes of a text is not known');
  t.notOk(read('<!DOCTYPE html><p>&nbsp;</p>').error, 'a page');
});

t.test('what is no text in UTF-16 or UTF-32 stays as it is', async (t) => {
  for (const hex of [
    '',
    '3c',
    'fffe',
    'feff',
    'fffe0000',
    '0000feff',
    'fffb9064',
    'fffe00d8',
    '00010000',
    '89504e47',
  ]) {
    const body = Buffer.from(hex, 'hex');
    t.equal(asNarrowText(body), body, hex);
  }
  t.equal(asNarrowText(Buffer.from('3c006100ff', 'hex')).toString(), '<a', 'half a unit at the end is none');
  t.equal(asNarrowText(Buffer.from('3c0000000000110000d80000', 'hex')).toString(), '<\ufffd\ufffd', 'no code points');
});
