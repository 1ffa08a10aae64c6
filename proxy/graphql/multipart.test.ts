// 24: GraphQL in parts of a form, and the limits of tokens, directives, variables, operations and repeated root fields.
import t from 'tap';
import type { RequestHead } from '#engine';
import { dataPlaneDefaults } from '#settings';
import type { GraphqlConfig } from './endpoints.js';
import { documentsInParts } from './multipart.js';
import { graphqlStep } from './step.js';

const { graphqlLimits, graphqlPaths } = dataPlaneDefaults();
const on: GraphqlConfig = { graphqlProtect: true, graphqlLimits, graphqlPaths };
const introspection = 1_006_510;
const limits = 1_006_511;

function post(body: string, type: string, uri = '/graphql', config = on) {
  const head: RequestHead = {
    ...{
      method: 'POST',
      uri,
      protocol: 'HTTP/1.1',
      clientIp: '192.0.2.1',
      clientPort: 1,
      serverIp: '',
      serverPort: 80,
    },
    headers: ['Content-Type', type],
  };
  const step = graphqlStep(config, { name: 'shop', prefix: '' }, head, true);
  const bytes = Buffer.from(body, 'utf8');
  const seen = step?.seenBody(bytes, true) ?? bytes;
  return { seen: seen.toString('utf8'), id: step?.decide()?.rule?.id ?? null, operation: step?.operation ?? null };
}

interface Part {
  readonly name: string;
  readonly value: string;
  readonly file?: string;
}
function form(parts: readonly Part[], { line = '\r\n', boundary = 'XyZ-7' } = {}): string {
  const written = parts.map(({ name, value, file }) => {
    const fileName = file === undefined ? '' : `; filename="${file}"`;
    return `--${boundary}${line}Content-Disposition: form-data; name="${name}"${fileName}${line}${line}${value}${line}`;
  });
  return `${written.join('')}--${boundary}--${line}`;
}
const type = 'multipart/form-data; boundary=XyZ-7';
const upload = (query: string): Part[] => [
  { name: 'operations', value: JSON.stringify({ query, variables: { file: null } }) },
  { name: 'map', value: '{"0":["variables.file"]}' },
  { name: '0', value: 'cat /etc/passwd; {__schema{types}}', file: 'notes.txt' },
];

t.test('24: operations of uploads are read as GraphQL', async (t) => {
  const honest = 'mutation Add($file: Upload!) { add(file: $file, note: "one") { id } }';
  const { seen, id, operation } = post(form(upload(honest)), type);
  t.equal(id, null);
  t.equal(operation, 'mutation:Add');
  t.notMatch(seen, /mutation/, 'rules see texts in the place of the document');
  t.match(seen, /name="operations"\r\n\r\n\{"query":"one","variables":\{"file":null\}\}\r\n/);
  t.match(seen, 'cat /etc/passwd; {__schema{types}}', 'files stay as they came');
  for (const [name, body] of [
    ['as uploads write it', form(upload('{ __schema { types { name } } }'))],
    ['with line feeds', form(upload('{ __schema { types { name } } }'), { line: '\n' })],
    [
      'in a list',
      form([{ name: 'operations', value: JSON.stringify([{ query: '{a}' }, { query: '{__type(name:"A"){name}}' }]) }]),
    ],
    ['as a part', form([{ name: 'query', value: '{ __schema { types { name } } }' }])],
    ['with escapes', form([{ name: 'operations', value: '{"query":"{ __sch\\u0065ma { types { name } } }"}' }])],
  ] as const) {
    t.equal(post(body, type).id, introspection, name);
    if (body.includes('"query"')) t.equal(post(body, type, '/upload').id, introspection, `${name}, elsewhere`);
  }
  t.equal(post(form(upload('{ __typename }')), type).id, null);
  t.equal(
    post(form(upload('{ __schema { types { name } } }')), 'multipart/form-data; boundary="XyZ-7"').id,
    introspection,
  );
});

t.test('24: other forms are none', async (t) => {
  const cases: readonly [string, string][] = [
    [form([{ name: 'query', value: 'red lamps' }]), type],
    [form([{ name: 'note', value: '{"query":"{a}"}' }]), type],
    [form(upload('{a}')), 'multipart/form-data'],
    [form(upload('{a}')), 'multipart/form-data; boundary=other'],
    ['', type],
    ['--XyZ-7', type],
    ['--XyZ-7\r\nContent-Disposition: form-data; name="operations"', type],
  ];
  for (const [body, given] of cases) {
    const { seen, id } = post(body, given, '/contact');
    t.equal(seen, body);
    t.equal(id, null, body.slice(0, 60));
  }
  const long = `--XyZ-7\r\n${'--XyZ-7\r\n'.repeat(20_000)}`;
  const began = process.cpuUsage().user;
  t.equal(documentsInParts(long, type), null);
  t.ok(process.cpuUsage().user - began < 200_000, 'bounded');
});

t.test('24: limits of a document', async (t) => {
  const small = {
    ...graphqlLimits,
    ...{ tokensMax: 20, directivesMax: 2, variablesMax: 2, variablesDepthMax: 3, operationsMax: 2, rootRepeatsMax: 3 },
  };
  const config: GraphqlConfig = { ...on, graphqlLimits: small };
  const deep = (levels: number): unknown =>
    levels === 0 ? 1 : levels % 2 === 0 ? [deep(levels - 1)] : { a: deep(levels - 1) };
  const cases: readonly [name: string, query: string, variables: object, isOver: boolean][] = [
    ['20 tokens', `{${'a '.repeat(3)}b{${'c '.repeat(12)}}}`, {}, false],
    ['21 tokens', `{${'a '.repeat(3)}b{${'c '.repeat(13)}}}`, {}, true],
    ['comments are none', `{a} #${'b '.repeat(50)}`, {}, false],
    ['two directives', '{a @x b @y}', {}, false],
    ['three directives', '{a @x @x @x}', {}, true],
    ['of a fragment spread twice', '{...F ...F} fragment F on Q{b @x @y}', {}, true],
    ['of an operation', 'query @x @y @z {a}', {}, true],
    ['two variables', 'query($a:A $b:B){a}', {}, false],
    ['three variables', 'query($a:A $b:B $c:C){a}', {}, true],
    ['variables of three levels', '{a}', { a: deep(3) }, false],
    ['variables of four levels', '{a}', { a: deep(4) }, true],
    ['two operations', 'query A{a} query B{b}', {}, false],
    ['three operations', 'query A{a} query B{b} query C{c}', {}, true],
    ['a field of the root three times', '{a a a b{c c c c}}', {}, false],
    ['a field of the root four times', '{x:a y:a z:a a}', {}, true],
    ['by way of fragments', '{...F ...F} fragment F on Q{a ...on Q{a}}', {}, true],
  ];
  for (const [name, query, variables, isOver] of cases)
    t.equal(
      post(JSON.stringify({ query, variables }), 'application/json', '/graphql', config).id,
      isOver ? limits : null,
      name,
    );
  const bomb = Array.from({ length: 30 }, (_, at) => `fragment F${at} on Q{...F${at + 1} ...F${at + 1}}`).join(' ');
  const wide = {
    ...on,
    graphqlLimits: { ...graphqlLimits, aliasesMax: 5000, directivesMax: 5000, costMax: 1e9, depthMax: 100 },
  };
  t.equal(
    post(JSON.stringify({ query: `{...F0} ${bomb} fragment F30 on Q{a}` }), 'application/json', '/graphql', wide).id,
    limits,
    'two to the thirtieth is reported at once',
  );
});
