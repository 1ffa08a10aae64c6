// Arbitrary small rule sets and requests made of few names and few texts, so that rules meet values, each other's
// variables and each other's removals often. Everything is text: what fails prints as rules that anybody can run.
import fc from 'fast-check';
import type { ShortRequest } from './rule-text.js';

type Text = fc.Arbitrary<string>;
const oneOf = (...texts: string[]): Text => fc.constantFrom(...texts);

const txNames = ['n', 'p', 'pl', 'd_a', 'd_b', 'list'] as const;
const words = ['evil', 'EVIL', 'x', 'y', 'a', '0', '1', '2', '10', '-1', ''] as const;

const requestTargets = [
  'ARGS',
  'ARGS',
  'ARGS',
  'ARGS:a',
  'ARGS:/^f/',
  'ARGS|!ARGS:a',
  'ARGS_GET',
  'ARGS_POST',
  'ARGS_NAMES',
  'ARGS_GET_NAMES',
  'ARGS_POST_NAMES',
  'REQUEST_HEADERS',
  'REQUEST_HEADERS|!REQUEST_HEADERS:Cookie',
  'REQUEST_HEADERS:User-Agent',
  'REQUEST_HEADERS:X-Test',
  'REQUEST_HEADERS:/^x-/',
  'REQUEST_HEADERS:Cookie',
  'REQUEST_HEADERS_NAMES',
  'REQUEST_COOKIES',
  'REQUEST_COOKIES:c',
  'REQUEST_COOKIES|!REQUEST_COOKIES:/^c/',
  'REQUEST_COOKIES_NAMES',
  'REQUEST_URI',
  'REQUEST_URI_RAW',
  'REQUEST_FILENAME',
  'REQUEST_BASENAME',
  'QUERY_STRING',
  'REQUEST_LINE',
  'REQUEST_METHOD',
  'REQUEST_BODY',
  'REQUEST_PROTOCOL',
  'ARGS_COMBINED_SIZE',
  'REMOTE_ADDR',
  'REQBODY_PROCESSOR',
  'REQUEST_METHOD',
  'REQUEST_METHOD|REQUEST_HEADERS:X-Test',
  'REQUEST_HEADERS:X-Test|REQUEST_HEADERS:User-Agent',
  '&REQUEST_HEADERS:User-Agent',
  '&REQUEST_HEADERS:x-other',
  'REQUEST_HEADERS:x-other',
  '&ARGS',
  '&ARGS:a',
  '&ARGS_POST',
  '&REQUEST_HEADERS:X-Test',
  '&REQUEST_COOKIES',
  'XML:/*',
  'FILES',
  'MULTIPART_PART_HEADERS',
  'HIGHEST_SEVERITY',
  'ARGS_GET_NAMES|REQUEST_COOKIES_NAMES',
  'ARGS|REQUEST_COOKIES|REQUEST_HEADERS:User-Agent',
];
const txTargets = [
  'TX:n',
  'TX:p',
  'TX:pl',
  'TX:d_a',
  'TX:/^d_/',
  'TX:/^(?:n|p)/',
  'TX:0',
  'TX:1',
  'TX',
  '&TX:n',
  '&TX:pl',
  '&TX:/^d_/',
  'TX:n|TX:p',
  'TX:/l/',
  '&TX:0',
];
const responseTargets = [
  'RESPONSE_BODY',
  'RESPONSE_HEADERS',
  'RESPONSE_HEADERS:X-R',
  'RESPONSE_STATUS',
  'RESPONSE_HEADERS_NAMES',
  '&RESPONSE_HEADERS',
];
const matchTargets = ['MATCHED_VAR', 'MATCHED_VARS', 'MATCHED_VAR_NAME', 'MATCHED_VARS_NAMES', 'RULE:id'];

const patterns = [
  'evil',
  '(?i)evil',
  '^$',
  '^.*$',
  '^[a-z]+$',
  'e.*vil',
  '(e)(v)(i)?',
  '[^a-z]',
  '\\d+',
  'x|y',
  '^(?:a|b)*$',
  '(?i:or)\\s+\\d',
  'l$',
  '\\bevil\\b',
  '[\\x80-\\xff]',
  '.',
  '^(.)',
  '^\\d*$',
  '%',
  '(?i)<script[^>]*>',
  '/etc/passwd',
  '^(?:evil|x)(\\d)?',
  'E',
  'e(?=v)',
  '(?:e|v){2,}il',
  '\\x00',
  '\\n',
  'v\\si',
  '%{tx.p}',
  '%{tx.n}',
  '^%{tx.list}$',
  '%{ARGS.b}',
  '%{tx.0}',
];
const wordArguments = ['evil', 'EVIL', 'x', '1', 'vi', 'e', '0', '%{tx.p}', '%{tx.n}', '%{ARGS.b}', '%{tx.1}'];
const numberArguments = ['0', '1', '2', '3', '-1', '%{tx.n}', '%{tx.pl}'];

const operators: Text = fc.oneof(
  { weight: 6, arbitrary: oneOf(...patterns).map((pattern) => `@rx ${pattern}`) },
  {
    weight: 3,
    arbitrary: fc
      .tuple(oneOf('contains', 'streq', 'beginsWith', 'endsWith', 'containsWord', 'strmatch'), oneOf(...wordArguments))
      .map((parts) => `@${parts.join(' ')}`),
  },
  {
    weight: 3,
    arbitrary: fc
      .tuple(oneOf('eq', 'ge', 'gt', 'lt', 'le'), oneOf(...numberArguments))
      .map((parts) => `@${parts.join(' ')}`),
  },
  {
    weight: 2,
    arbitrary: oneOf(
      '@pm evil x',
      '@pm union select',
      '@pm EVIL',
      '@pm a',
      '@within evil x 1 2',
      '@within GET POST',
      '@within %{tx.list}',
      '@within x%{tx.p}',
    ),
  },
  {
    weight: 2,
    arbitrary: oneOf(
      '@detectSQLi',
      '@detectXSS',
      '@validateByteRange 32-126',
      '@validateByteRange 1-255',
      '@validateUrlEncoding',
      '@validateUtf8Encoding',
      '@unconditionalMatch',
      '@noMatch',
      '@ipMatch 192.0.2.0/24',
    ),
  },
);

const transformations = [
  'none',
  'lowercase',
  'lowercase',
  'uppercase',
  'urlDecode',
  'urlDecodeUni',
  'urlDecodeUni',
  'htmlEntityDecode',
  'removeNulls',
  'replaceNulls',
  'removeWhitespace',
  'compressWhitespace',
  'trim',
  'trimLeft',
  'replaceComments',
  'removeComments',
  'removeCommentsChar',
  'normalizePath',
  'normalizePathWin',
  'jsDecode',
  'cssDecode',
  'base64Decode',
  'hexDecode',
  'hexEncode',
  'length',
  'cmdLine',
  'utf8toUnicode',
  'sha1',
  'md5',
  'sqlHexDecode',
  'escapeSeqDecode',
  'urlEncode',
];
const pipeline: fc.Arbitrary<string[]> = fc.oneof(
  { weight: 2, arbitrary: fc.constant([] as string[]) },
  {
    weight: 3,
    arbitrary: fc.array(
      oneOf(...transformations).map((name) => `t:${name}`),
      { minLength: 1, maxLength: 3 },
    ),
  },
);

/** `seesMatches`: macros and targets may look at earlier matches, which switches most shortcuts off. */
function setvars(seesMatches: boolean): Text {
  const values = [
    '1',
    '2',
    '0',
    'evil',
    'x',
    '%{tx.n}',
    '%{tx.p}y',
    '%{tx.0}',
    '%{MATCHED_VAR}',
    '%{ARGS.b}',
    '/%{tx.0}/',
    'GET',
    '(',
    ...(seesMatches ? ['%{MATCHED_VAR_NAME}', '%{rule.id}'] : []),
  ];
  return fc.oneof(
    {
      weight: 4,
      arbitrary: fc.tuple(oneOf(...txNames), oneOf(...values)).map(([name, value]) => `setvar:'tx.${name}=${value}'`),
    },
    {
      weight: 3,
      arbitrary: fc
        .tuple(oneOf(...txNames), oneOf('+1', '-1', '+2', '+%{tx.pl}'))
        .map(([name, delta]) => `setvar:'tx.${name}=${delta}'`),
    },
    { weight: 1, arbitrary: oneOf(...txNames).map((name) => `setvar:'!tx.${name}'`) },
    {
      weight: 2,
      arbitrary: fc
        .tuple(oneOf('d_%{MATCHED_VAR}', 'd_%{tx.0}', '%{tx.p}', '%{ARGS.b}', 'n%{tx.n}'), oneOf(...values))
        .map(([name, value]) => `setvar:'tx.${name}=${value}'`),
    },
  );
}

const ids = fc.integer({ min: 1, max: 14 });
const control: Text = fc.oneof(
  ids.map((id) => `ctl:ruleRemoveById=${id}`),
  fc.tuple(ids, ids).map(([a, b]) => `ctl:ruleRemoveById=${Math.min(a, b)}-${Math.max(a, b)}`),
  oneOf('ctl:ruleRemoveByTag=t1', 'ctl:ruleRemoveByTag=t2'),
  fc
    .tuple(ids, oneOf('ARGS', 'ARGS:a', 'TX:pl', 'TX:n', 'REQUEST_HEADERS:User-Agent', 'REQUEST_COOKIES'))
    .map(([id, target]) => `ctl:ruleRemoveTargetById=${id};${target}`),
  oneOf(
    'ctl:ruleRemoveTargetByTag=t1;ARGS:a',
    'ctl:ruleRemoveTargetByTag=t2;TX:pl',
    'ctl:ruleEngine=Off',
    'ctl:ruleEngine=DetectionOnly',
    'ctl:ruleEngine=On',
    'ctl:requestBodyProcessor=JSON',
    'ctl:requestBodyProcessor=URLENCODED',
    'ctl:forceRequestBodyVariable=On',
    'ctl:requestBodyAccess=Off',
  ),
);

/** Actions of one link; `isHead` adds what belongs to the chain as a whole. */
function linkActions(seesMatches: boolean): fc.Arbitrary<string[]> {
  return fc
    .tuple(
      fc.option(fc.constant('capture'), { nil: '', freq: 3 }),
      fc.option(fc.constant('multiMatch'), { nil: '', freq: 5 }),
      fc.array(setvars(seesMatches), { maxLength: 2 }),
      fc.option(control, { nil: '', freq: 4 }),
    )
    .map(([capture, multi, sets, ctl]) => [capture, multi, ...sets, ctl].filter((text) => text !== ''));
}

function headActions(seesMatches: boolean): fc.Arbitrary<string[]> {
  const messages = [
    '',
    "msg:'saw %{tx.n} %{tx.0}'",
    "logdata:'%{tx.p}'",
    ...(seesMatches ? ["msg:'%{MATCHED_VAR} in %{MATCHED_VAR_NAME}'", "logdata:'%{rule.id}'"] : []),
  ];
  return fc
    .tuple(
      fc.oneof(
        { weight: 8, arbitrary: fc.constant('pass') },
        { weight: 2, arbitrary: oneOf('deny', 'block', 'drop', 'deny,status:404') },
        { weight: 1, arbitrary: oneOf('allow', 'allow:phase', 'allow:request', 'redirect:/x%{tx.n}') },
      ),
      oneOf('log', 'nolog', 'nolog,noauditlog', 'nolog,noauditlog'),
      fc.option(
        oneOf('skip:1', 'skip:2', 'skipAfter:E1', 'skipAfter:E2', 'skipAfter:E1', 'skipAfter:7', 'skipAfter:GONE'),
        { nil: '', freq: 3 },
      ),
      fc.option(oneOf("tag:'t1'", "tag:'t2'", "tag:'t1',tag:'t2'", "tag:'v-%{tx.n}'"), { nil: '', freq: 3 }),
      oneOf(...messages),
      fc.option(oneOf('severity:2', 'severity:5'), { nil: '', freq: 5 }),
    )
    .map((parts) => parts.filter((text) => text !== ''));
}

interface Shape {
  readonly phase: number;
  readonly head: readonly string[];
  readonly links: readonly {
    readonly targets: string;
    readonly operator: string;
    readonly negated: boolean;
    readonly steps: readonly string[];
    readonly actions: readonly string[];
  }[];
}

function targets(seesMatches: boolean): Text {
  const one = fc.oneof(
    { weight: 8, arbitrary: oneOf(...requestTargets) },
    { weight: 5, arbitrary: oneOf(...txTargets) },
    { weight: 2, arbitrary: oneOf(...responseTargets) },
    ...(seesMatches ? [{ weight: 3, arbitrary: oneOf(...matchTargets) }] : []),
  );
  return fc.oneof(
    { weight: 4, arbitrary: one },
    { weight: 1, arbitrary: fc.tuple(one, one).map((two) => two.join('|')) },
  );
}

function rule(seesMatches: boolean): fc.Arbitrary<Shape> {
  // A later link usually looks at what the earlier ones set or matched, which is its own rule's business.
  const link = (first: boolean): fc.Arbitrary<Shape['links'][number]> =>
    fc.record({
      targets: targets(seesMatches || !first),
      operator: operators,
      negated: fc.integer({ min: 0, max: 4 }).map((number) => number === 0),
      steps: pipeline,
      actions: linkActions(seesMatches),
    });
  return fc.record({
    phase: fc.constantFrom(1, 1, 1, 2, 2, 3, 4, 5),
    head: headActions(seesMatches),
    links: fc.oneof(
      { weight: 5, arbitrary: fc.tuple(link(true)) },
      { weight: 2, arbitrary: fc.tuple(link(true), link(false)) },
      { weight: 1, arbitrary: fc.tuple(link(true), link(false), link(false)) },
    ),
  });
}

type Statement =
  | { readonly kind: 'rule'; readonly shape: Shape }
  | { readonly kind: 'action'; readonly shape: Shape }
  | { readonly kind: 'gate'; readonly value: string; readonly operator: string; readonly phase: number }
  | { readonly kind: 'marker'; readonly name: string };

function statement(seesMatches: boolean): fc.Arbitrary<Statement> {
  return fc.oneof(
    { weight: 8, arbitrary: rule(seesMatches).map((shape) => ({ kind: 'rule' as const, shape })) },
    { weight: 3, arbitrary: rule(seesMatches).map((shape) => ({ kind: 'action' as const, shape })) },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant('gate' as const),
        value: oneOf('TX:pl', 'TX:n', '&TX:p'),
        operator: oneOf('@lt 1', '@lt 2', '@eq 0', '@ge 2', '!@eq 1'),
        phase: fc.constantFrom(1, 1, 2, 3),
      }),
    },
    { weight: 2, arbitrary: oneOf('E1', 'E2').map((name) => ({ kind: 'marker' as const, name })) },
  );
}

function printStatement(one: Statement, id: number): string {
  if (one.kind === 'marker') return `SecMarker ${one.name}`;
  if (one.kind === 'gate')
    return `SecRule ${one.value} "${one.operator}" "id:${id},phase:${one.phase},nolog,noauditlog,pass,skipAfter:E1"`;
  const { shape } = one;
  if (one.kind === 'action')
    return `SecAction "id:${id},phase:${shape.phase},${[...shape.head, ...(shape.links[0]?.actions ?? []).filter((text) => text !== 'capture' && text !== 'multiMatch')].join(',')}"`;
  return shape.links
    .map((link, position) => {
      const actions = [
        ...(position === 0 ? [`id:${id},phase:${shape.phase}`, ...shape.head] : []),
        ...link.steps,
        ...link.actions,
        ...(position < shape.links.length - 1 ? ['chain'] : []),
      ];
      return `${'  '.repeat(position)}SecRule ${link.targets} "${link.negated ? '!' : ''}${link.operator}"${actions.length === 0 ? '' : ` "${actions.join(',')}"`}`;
    })
    .join('\n');
}

export const ruleSets: Text = fc
  .tuple(oneOf('On', 'On', 'On', 'DetectionOnly'), fc.boolean(), fc.constantFrom(false, false, false, true))
  .chain(([mode, hasStart, seesMatches]) =>
    fc.array(statement(seesMatches), { minLength: 1, maxLength: 13, size: 'max' }).map((statements) => {
      const start = hasStart
        ? ['SecAction "id:90,phase:1,nolog,noauditlog,pass,setvar:tx.pl=1,setvar:tx.n=0,setvar:\'tx.list=evil x\'"\n']
        : [];
      return `SecRuleEngine ${mode}\nSecRequestBodyAccess On\nSecResponseBodyAccess On\nSecDefaultAction "phase:1,log,pass"\nSecDefaultAction "phase:2,log,deny,status:403"\n${start.join('')}${statements.map((one, index) => printStatement(one, index + 1)).join('\n')}\n`;
    }),
  );

const pieces = [
  ...words,
  ...words,
  "' or 1=1-- ",
  '<script>',
  '../etc/passwd',
  '%2565vil',
  '%65',
  '&#101;vil',
  '\\x65vil',
  '/*',
  '*/',
  ' ',
  '\0',
  '\xe9',
  '\xff',
  '%',
  '%u0065vil',
  '(',
  '\n',
  'ZXZpbA==',
  '6576696c',
  '  ',
  'e^vil',
  '+',
];
const value: Text = fc.array(oneOf(...pieces), { maxLength: 3 }).map((parts) => parts.join(''));

function encode(text: string): string {
  return [...text]
    .map((character) =>
      /[A-Za-z0-9._~-]/.test(character) ? character : `%${character.charCodeAt(0).toString(16).padStart(2, '0')}`,
    )
    .join('');
}
const parameters: Text = fc
  .array(fc.tuple(oneOf('a', 'b', 'foo', 'A', 'a\nb', 'evil'), value), { maxLength: 4 })
  .map((list) => list.map(([name, text]) => `${encode(name)}=${encode(text)}`).join('&'));
const headerValue: Text = value.map((text) => text.replace(/[\0\r\n]/g, '').trim());

export const requests: fc.Arbitrary<ShortRequest> = fc
  .record({
    path: oneOf('/', '/evil', '/x/../etc/passwd', '/a%20b', '/index.php'),
    query: fc.option(parameters, { nil: null, freq: 5 }),
    method: oneOf('', '', 'HEAD', 'evil'),
    headers: fc.array(
      fc.tuple(
        oneOf('User-Agent', 'X-Test', 'Cookie', 'x-other', 'x-test', 'user-agent'),
        fc.oneof(headerValue, oneOf('evil', 'x', '')),
      ),
      { maxLength: 3 },
    ),
    cookies: fc.option(
      fc.array(fc.tuple(oneOf('c', 'cc', 'evil', 'd'), oneOf('evil', 'x', '1', 'EVIL', "'or 1=1")), {
        minLength: 1,
        maxLength: 3,
      }),
      { nil: null, freq: 2 },
    ),
    body: fc.option(
      fc.oneof(
        parameters.map((text) => ['application/x-www-form-urlencoded', text] as const),
        fc.tuple(
          oneOf('text/plain', 'application/json', 'application/xml'),
          oneOf('evil', '{"a":"evil"}', '{"a":[1,"x"]}', '<r a="x">evil</r>'),
        ),
      ),
      { nil: null, freq: 2 },
    ),
    response: fc.option(
      fc.record({ status: fc.constantFrom(200, 404), headers: fc.array(headerValue, { maxLength: 2 }), body: value }),
      { nil: null, freq: 2 },
    ),
  })
  .map(({ path, query, method, headers, cookies, body, response }) => ({
    method: method !== '' ? method : body === null ? 'GET' : 'POST',
    uri: query === null ? path : `${path}?${query}`,
    headers: [
      ...headers.flat(),
      ...(cookies === null ? [] : ['Cookie', cookies.map((pair) => pair.join('=')).join('; ')]),
      ...(body === null ? [] : ['Content-Type', body[0]]),
    ],
    ...(body === null ? {} : { body: body[1] }),
    ...(response === null
      ? {}
      : {
          response: {
            status: response.status,
            headers: ['Content-Type', 'text/html', ...response.headers.flatMap((text) => ['X-R', text])],
            body: response.body,
          },
        }),
  }));
