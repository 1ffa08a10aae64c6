// 24: what the rules block is not let through for want of signs: attacks of our own writing, by classes and variants:
// operators of document databases, unions with comments, islands of data, split attributes. Honest texts pass.
import t from 'tap';
import { createMemoryStore, type Inspector, type OpinionMode } from '#engine';
import { createInterpreter } from '#engine/compile';
import { requireSettings } from '#settings';
import { compileProgram } from '../../compile-program.js';
import { formatDiagnostics } from '../../diagnostics/format.js';
import { diskReader } from '../../disk/disk-reader.js';
import { findCrsOf, withoutVersion4 } from '../../testing/core-rules.js';
import { loadCoreRuleSet } from '../crs.js';
import { renderPolicy, resolvePolicy } from '../policy.js';

const each = (lists: readonly (readonly string[])[], make: (...parts: string[]) => string): string[] =>
  lists
    .reduce<string[][]>((made, list) => made.flatMap((parts) => list.map((one) => [...parts, one])), [[]])
    .map((parts) => make(...parts));

const operators = ['$where', '$or', '$and', '$nor', '$ne', '$gt', '$regex', '$in', '$expr'];
const documents: readonly ((operator: string) => string)[] = [
  (operator) => `{'a':1, '${operator}':1}`,
  (operator) => `true, ${operator}: '1 == 1'`,
  (operator) => `', ${operator}: '1 == 1`,
  (operator) => `x, ${operator}: [ {}, {'a':'a'} ]`,
  (operator) => `, ${operator}: [ {}, { 'a':'a`,
  (operator) => `{"a":{"${operator}":""}}`,
  (operator) => `{${operator}: function() { return true; }}`,
];
const gaps = [' ', '/**/', '/*x*/', '/*!00000*/', '\t', '--x\n', '#y\n', ' #aa\\n ', '/**//**/'];
const attributes = [
  [' ', '='],
  ['/', '='],
  ['\n', '\n='],
  ['\x0c', '\x0c='],
  ['" ', '= '],
  ["\" a='b' ", '='],
] as const;

const attacks: Readonly<Record<string, readonly string[]>> = {
  'operators of document databases': documents.flatMap((make) => operators.map(make)),
  'unions with comments': gaps.flatMap((gap) => [
    `1${gap}union${gap}select${gap}1,2,3`,
    `1'${gap}union${gap}all${gap}select${gap}null,null--`,
    `-1)${gap}uNiOn${gap}sElEcT${gap}@@version,2#`,
    `1${gap}union${gap}distinctrow${gap}select${gap}1`,
  ]),
  'islands of data': [
    '<xml id="a"><b>c</b></xml>',
    '<xml SRC="a.xml" ID=I></xml>',
    '<SPAN DATASRC=#I DATAFLD=C DATAFORMATAS=HTML></SPAN>',
    '<span datasrc="#xss" datafld="b" dataformatas="html"></span>',
    '<marquee datasrc=#a datafld=b>',
    '<XML ID=I><X><C><![CDATA[<IMG SRC="javas]]><![CDATA[cript:a">]]>',
  ],
  'split attributes': [
    ...each(
      [
        ['img src=x', 'svg', 'input autofocus', 'x'],
        ['onerror', 'onload', 'onfocus'],
      ],
      (tag, event) => `${tag} ${event}`,
    ).flatMap((pair) =>
      attributes.map(([before, after]) => `<${pair.replace(/ (on\w+)$/, `${before}$1${after}`)}x()>`),
    ),
    '"autof<x>ocus o<x>nfocus=alert<x>(1)//',
    '<svg o<b>nload=prompt<b>(1)>',
    ...each(
      [
        ['\n', '\t', '&#10;', '&Tab;', '\r\n'],
        ['a href=', 'iframe src=', 'object data='],
      ],
      (gap, tag) => `<${tag}"${[...'javascript'].join(gap)}:alert(1)">`,
    ),
  ],
  'small queries': [
    '1 order by 10',
    '1 or 1 like 1',
    '1 in (select 1)',
    "' or ''='",
    '1 xor 1',
    "'^'1",
    'select version()',
  ],
};

/** Honest texts with the same words: the rules may block them, the second opinion lets them go on. */
const honest = [
  'query ($where: UserFilter, $or: [Filter!], $in: [ID!]) { users(where: $where) { id } }',
  'the union may select a new chair in May',
  'we order by 10 each morning',
  'a data source and its fields',
];

function createInspector(): Inspector {
  const loaded = loadCoreRuleSet(findCrsOf('4') as string, diskReader);
  if (loaded.crs === null) throw new Error(formatDiagnostics(loaded.diagnostics));
  const { policy } = resolvePolicy(requireSettings({ second_opinion: 'enforce' }), loaded.crs);
  const { program } = compileProgram(policy === null ? [] : renderPolicy(policy), { reader: diskReader });
  if (program === null) throw new Error('the policy does not compile');
  return createInterpreter(program);
}

function isBlocked(inspector: Inspector, text: string, secondOpinion: OpinionMode | null): boolean {
  const head = {
    ...{ method: 'GET', uri: `/s?q=${encodeURIComponent(text)}`, protocol: 'HTTP/1.1' },
    headers: ['Host', 'shop.example', 'User-Agent', 'Mozilla/5.0', 'Accept', '*/*'],
    ...{ clientIp: '192.0.2.1', clientPort: 1, serverIp: '192.0.2.2', serverPort: 80 },
  };
  const transaction = inspector.begin(head, { uniqueId: 'x', nowMs: 0, store: createMemoryStore(), secondOpinion });
  if (inspector.requestHeaders(transaction) === null) inspector.requestBody(transaction, null);
  return inspector.finish(transaction).kind === 'block';
}

t.test('24: nothing that the rules block of these is let through', { skip: withoutVersion4 }, async (t) => {
  const inspector = createInspector();
  for (const [name, texts] of Object.entries(attacks)) {
    const blocked = texts.filter((text) => isBlocked(inspector, text, null));
    t.ok(blocked.length * 2 > texts.length, `${name}: the rules block ${blocked.length} of ${texts.length}`);
    t.same(
      blocked.filter((text) => !isBlocked(inspector, text, 'enforce')),
      [],
      name,
    );
  }
  for (const text of honest) t.notOk(isBlocked(inspector, text, 'enforce'), text);
});
