import t from 'tap';
import fc from 'fast-check';
import type { BodyLimits, BodyOutcome } from './body.js';
import { recommendedBodyLimits } from '../testing/body-limits.js';
import { createBodySink } from './empty-sink.js';
import { processXml } from './xml.js';

function parse(
  body: string | Buffer,
  limits: Partial<BodyLimits> = {},
): BodyOutcome & { text: string[]; attributes: string[]; args: string[][] } {
  const sink = createBodySink();
  const outcome = processXml(typeof body === 'string' ? Buffer.from(body) : body, 'text/xml', sink, {
    ...recommendedBodyLimits,
    ...limits,
  });
  const args = sink.argsPost.names.map((name, index) => [name, sink.argsPost.values[index] as string]);
  return { ...outcome, text: sink.xmlText, attributes: sink.xmlAttributes, args };
}

// [document, XML:/*, XML://@*], as libmodsecurity 3.0.9 answers.
const sound: readonly (readonly [string, string, readonly string[]])[] = [
  ['<r>u<s>v</s>w</r>', 'uvw', []],
  ['<r k="1" l=\'2\'><s m = "3">t</s></r>', 't', ['1', '2', '3']],
  ['<r>  <s> 1 </s>\n <t/> </r>', '   1 \n  ', []],
  ['<r><!--c-->u<?p d?><![CDATA[<v>]]>&lt;&#65;&#x42;&amp;&quot;&apos;&gt;</r>', 'u<v><AB&"\'>', []],
  ['<?xml version="1.0" encoding="UTF-8"?>\n<!--c--><r>1</r>\n<!--c--><?p?>', '1', []],
  ['\ufeff<r>u</r>', 'u', []],
  ['<r xmlns="n" xmlns:p="m" p:k="1">u</r>', 'u', ['1']],
  ['<p:r>1</p:r>', '1', []],
  ['<r>\r\nu\rv\tw</r>', '\nu\nv\tw', []],
  ['<r k="u\n\t&#10;v&lt;"/>', '', ['u  \nv<']],
  ['<r>&#x1F600;é</r>', '\xf0\x9f\x98\x80\xc3\xa9', []],
  ['<!DOCTYPE r [<!ELEMENT r (#PCDATA)><!-- "]> --><?p "]>?>]><r>1</r>', '1', []],
];

const broken = [
  '',
  ' ',
  'text',
  '<r>',
  '<r',
  '<r></s>',
  '</r>',
  '<r/><s/>',
  '<r/>u',
  'u<r/>',
  '<r>&u;</r>',
  '<r>&</r>',
  '<r>&#0;</r>',
  '<r>&#xD800;</r>',
  '<r>&#x110000;</r>',
  '<r>&#;</r>',
  '<r>&lt</r>',
  '<r k/>',
  '<r k=1/>',
  '<r k="1"l="2"/>',
  '<r k="1" k="2"/>',
  '<r k="<"/>',
  '<r k="1/>',
  '<r>]]></r>',
  ' <?xml version="1.0"?><r/>',
  '<r><?xml version="1.0"?></r>',
  '<r><!-- -- --></r>',
  '<r><![CDATA[</r>',
  '<![CDATA[u]]><r/>',
  '<r><!u></r>',
  '<1/>',
  '< r/>',
  '<r>\x01</r>',
  '<r/><!DOCTYPE r>',
  '<!DOCTYPE r><!DOCTYPE r><r/>',
  '<!DOCTYPE r [<r/>',
  '<!DOCTYPE r [ % ]><r/>',
  '<!DOCTYPE r [<!ENTITY e "boo"><!ATTLIST r k CDATA "&e;m">]><r/>',
  '<?xml version="1.0" xencoding="utf-8" encoding="utf-7"?><r/>',
  '<?xml version="encoding=\'utf-8\'" encoding="utf-7"?><r/>',
  '<?xml version="1.0" encoding="utf-8" encoding="utf-7"?><r/>',
  '<?xml version="1.0" encoding="utf-7"?><r/>',
  '<?xml version="1.0" encoding="utf-16"?><r/>',
  '<?xml version="1.0" encoding="ibm037"?><r/>',
];

t.test('sound documents', async (t) => {
  for (const [document, text, attributes] of sound)
    t.match(parse(document), { error: null, truncated: false, text: [text], attributes }, document);
});

t.test('broken documents are errors', async (t) => {
  for (const document of broken) t.not(parse(document).error, null, JSON.stringify(document));
  t.match(parse(Buffer.from('<r>\xe9</r>', 'latin1')).error, /UTF-8/);
  t.match(parse(Buffer.from('<r>u</r>', 'utf16le')).error, /ASCII/);
  t.same(parse('<r k="1">u<s>v').text, ['uv'], 'what was found stays');
});

t.test('single-byte encodings keep their bytes', async (t) => {
  t.match(parse(Buffer.from('<?xml version="1.0" encoding="ISO-8859-1"?><r>\xe9</r>', 'latin1')), {
    error: null,
    text: ['\xe9'],
  });
});

t.test('entities are never expanded, their declarations are shown', async (t) => {
  const declared = parse('<!DOCTYPE r [<!ENTITY e "boom"><!ENTITY f SYSTEM "file:///etc/x">]><r>u</r>');
  t.match(declared, { error: null, text: ['u', 'boom', 'file:///etc/x'] });
  t.match(parse('<!DOCTYPE r [<!ENTITY e "boom">]><r k="&e;"/>').error, /entity/);
  t.match(parse('<!DOCTYPE r [<!ENTITY % p SYSTEM "http://x/">%p;]><r/>').error, /parameter entity/);
  const entity = (index: number): string => `<!ENTITY e${index + 1} "${`&e${index};`.repeat(10)}">`;
  const entities = Array.from({ length: 10 }, (_, index) => entity(index)).join('');
  const laughs = `<!DOCTYPE r [${entities}]><r>&e9;</r>`;
  const outcome = parse(laughs);
  t.match(outcome.error, /entity/);
  t.ok(outcome.text.join('').length < laughs.length);
});

t.test('what else a document type brings along is shown', async (t) => {
  t.match(parse('<!DOCTYPE r SYSTEM "file:///etc/x"><r>1</r>'), { error: null, text: ['1', 'file:///etc/x'] });
  t.match(parse('<!DOCTYPE r PUBLIC "-//p" \'http://x/\' [<!NOTATION n SYSTEM "file:///etc/y">]><r>1</r>'), {
    error: null,
    text: ['1', 'http://x/', 'file:///etc/y'],
  });
  t.match(
    parse(
      '<!DOCTYPE r [<!ENTITY e "boom"><!ATTLIST r k CDATA "u&#39;>\nv" l (m|n) #FIXED \'m\'><!ELEMENT r ANY>]><r ' +
        'o="w">1</r>',
    ),
    {
      error: null,
      text: ['1', 'boom', 'u&#39;>\nv', 'm'],
      attributes: ["u'> v", 'm', 'w'],
    },
  );
});

t.test('limits', async (t) => {
  const deep = (levels: number): string => `${'<r>'.repeat(levels)}u${'</r>'.repeat(levels)}`;
  t.match(parse(deep(256)), { error: null, text: ['u'] });
  t.match(parse(deep(257)), { error: /256 nested/, truncated: true });
  t.match(parse(`<r>${'<s k="1"/>'.repeat(10_001)}</r>`), { error: /10000 attributes/, truncated: true });
  t.match(parse(`<!DOCTYPE r [<!--${'c'.repeat(70_000)}--><!ENTITY e "u">]><r/>`), {
    error: /too long/,
    truncated: true,
  });
});

t.test('leaf elements as arguments', async (t) => {
  t.same(parse('<r><s>u<![CDATA[v]]></s><t/>w<s k="1">x</s></r>', { parseXmlIntoArgs: true }).args, [
    ['xml.r.s', 'uv'],
    ['xml.r.t', ''],
    ['xml.r.s', 'x'],
  ]);
  t.match(parse('<r><s/><s/></r>', { parseXmlIntoArgs: true, argumentsMax: 1 }), {
    error: /too many/,
    truncated: true,
  });
});

t.test('properties', async (t) => {
  const seed = Number(process.env['SEED'] ?? 20_261_121);
  t.comment(`seed ${seed}`);
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array)),
    fc
      .array(
        fc.constantFrom(
          '<',
          '>',
          '/',
          'r',
          '<r>',
          '</r>',
          '&lt;',
          '&',
          ';',
          '"',
          "'",
          '=',
          ' k="',
          '<!--',
          '-->',
          '<![CDATA[',
          ']]>',
          '<!DOCTYPE',
          '[',
          ']',
          '<!ENTITY',
          '<?',
          '?>',
          '\n',
        ),
        { maxLength: 40 },
      )
      .map((parts) => Buffer.from(parts.join(''))),
  );
  fc.assert(
    fc.property(bytes, (body) => {
      const { text, attributes } = parse(body);
      // An entity's text is handed over in place of its reference, which is at least as long.
      return text.join('').length + attributes.join('').length <= body.length;
    }),
    { seed, numRuns: 3000 },
  );
  const escape = (value: string): string => value.replace(/[&<>"\r\n\t]/g, (found) => `&#${found.charCodeAt(0)};`);
  const word = fc.string({ unit: fc.constantFrom(...'ab&<>"\'\n\r\t ]é;#'), maxLength: 12 });
  fc.assert(
    fc.property(word, word, word, (first, second, attribute) => {
      const got = parse(`<r k="${escape(attribute)}">${escape(first)}<s>${escape(second)}</s></r>`);
      const latin1 = (value: string): string => Buffer.from(value).toString('latin1');
      return got.error === null && got.text[0] === latin1(first + second) && got.attributes[0] === latin1(attribute);
    }),
    { seed, numRuns: 500 },
  );
  t.pass('held');
});
