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
  t.same(parse('<r k="1">u<s>v').text, ['uv', 'u', 'v'], 'what was found stays');
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
      // An entity's text is handed over in place of its reference, which is at least as long. The whole text comes
      // first, then each node of several, and a declaration's literals: no byte is handed over more than twice.
      const [whole = '', ...parts] = text;
      return whole.length + attributes.join('').length <= body.length && parts.join('').length <= body.length;
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

t.test('A6: each text is a value of its own, as an application reads it', async (t) => {
  const rows: readonly (readonly [string, readonly string[]])[] = [
    ["<r><a>it's</a><b>1 OR 1=1</b></r>", ["it's1 OR 1=1", "it's", '1 OR 1=1']],
    ["<r><a>'</a><b>1' <!-- ' -->OR<?p '?> <![CDATA['1'='1]]></b></r>", ["'1' OR '1'='1", "'", "1' OR '1'='1"]],
    ["<r><q>1' OR <i>'1'='1</i></q><z>'</z></r>", ["1' OR '1'='1'", "1' OR", "'1'='1", "1' OR '1'='1", "'"]],
    ['<r>\n  <a> x </a>\n  <b> x </b>\n</r>', ['\n   x \n   x \n', 'x']],
    ['<r>u</r>', ['u']],
    ['<r/>', ['']],
    ['<r>&#x3c;b<s/>&gt;</r>', ['<b>', '<b', '>']],
  ];
  for (const [document, text] of rows) t.same(parse(document).text, text, document);
  t.match(parse(`<r>${Array.from({ length: 10_001 }, (_, at) => `<a>${at}</a>`).join('')}</r>`, {}), {
    error: /too many texts/,
    truncated: true,
  });
  t.equal(parse(`<r>${'<a>same</a>'.repeat(20_000)}</r>`).error, null, 'the same text again is no other value');
  const nested = `${'<a>x'.repeat(250)}${'y'.repeat(60_000)}${'</a>'.repeat(250)}`;
  t.match(parse(nested), { error: /too many texts/, truncated: true }, 'nested mixed content has a budget');
});

t.test('A7: what a document would have fetched is known', async (t) => {
  const external = (document: string): string[] => {
    const sink = createBodySink();
    processXml(Buffer.from(document), 'text/xml', sink, recommendedBodyLimits);
    return sink.xmlExternal;
  };
  const include = 'http://www.w3.org/2001/XInclude';
  for (const document of [
    '<!DOCTYPE r SYSTEM "http://e.example/x.dtd"><r/>',
    "<!DOCTYPE r SYSTEM\n'x.dtd' []><r/>",
    '<!DOCTYPE r PUBLIC "-//A//B" "http://e.example/x.dtd"><r/>',
    '<!DOCTYPE r [<!ENTITY e SYSTEM "file:///etc/passwd">]><r/>',
    '<!DOCTYPE r [<!ENTITY e PUBLIC "-//A" "http://e.example/">]><r/>',
    '<!DOCTYPE r [<!ENTITY % p "x">]><r/>',
    '<!DOCTYPE r [<!ENTITY % p SYSTEM "http://e.example/"> %p;]><r/>',
    '<!DOCTYPE r [<!NOTATION n SYSTEM "http://e.example/">]><r/>',
    `<r xmlns:xi="${include}"><xi:include href="/etc/passwd" parse="text"/></r>`,
    `<r><include xmlns=' ${include.replace('X', '&#88;')}' href="x"/></r>`,
    `<!DOCTYPE r [<!ATTLIST r xmlns CDATA "${include}">]><r/>`,
    '<!DOCTYPE r [<!ATTLIST r xsi:noNamespaceSchemaLocation CDATA "http://e.example/x.xsd">]><r/>',
    '<r xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="urn:a http://e.example/a.xsd"/>',
    '<r q:schemaLocation="urn:a a.xsd urn:b //e.example/b.xsd"/>',
    '<r xsi:noNamespaceSchemaLocation="file:///x.xsd"/>',
    '<r xsi:noNamespaceSchemaLocation="\\\\host\\x.xsd"/>',
    '<xs:import schemaLocation="https://e.example/a.xsd"/>',
    '<?xml-stylesheet type="text/xsl" href="http://e.example/x.xsl"?><r/>',
    '<?xml-stylesheet href="x.xsl"?><r/>',
    '<?xml-model href="http://e.example/x.rng"?><r/>',
  ])
    t.not(external(document).length, 0, document);
  for (const document of [
    '<r xmlns="http://www.w3.org/2005/Atom" href="http://e.example/"/>',
    '<!DOCTYPE r><r/>',
    '<!DOCTYPE r [<!ENTITY e "SYSTEM"><!-- SYSTEM "x" --><!ELEMENT r ANY>]><r/>',
    '<r xsi:schemaLocation="http://e.example/ns local.xsd"/>',
    '<r xsi:noNamespaceSchemaLocation="local.xsd"/>',
    '<?xml-stylesheet href="#style"?><r/>',
    '<?xml-other href="http://e.example/"?><r/>',
    '<r><include href="http://e.example/"/></r>',
  ])
    t.same(external(document), [], document);
});
