// Arbitrary small rule sets made of few names and few texts, so that rules meet values, each other's variables and each
// other's removals often. Everything is text: what fails prints as rules that anybody can run.
import fc from 'fast-check';
import {
  matchTargets,
  numberArguments,
  oneOf,
  patterns,
  requestTargets,
  responseTargets,
  transformations,
  txNames,
  txTargets,
  wordArguments,
  type Text,
} from './random-words.js';

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
  if (one.kind === 'action') {
    const own = (shape.links[0]?.actions ?? []).filter((text) => text !== 'capture' && text !== 'multiMatch');
    return `SecAction "id:${id},phase:${shape.phase},${[...shape.head, ...own].join(',')}"`;
  }
  return shape.links
    .map((link, position) => {
      const actions = [
        ...(position === 0 ? [`id:${id},phase:${shape.phase}`, ...shape.head] : []),
        ...link.steps,
        ...link.actions,
        ...(position < shape.links.length - 1 ? ['chain'] : []),
      ];
      const quoted = actions.length === 0 ? '' : ` "${actions.join(',')}"`;
      return `${'  '.repeat(position)}SecRule ${link.targets} "${link.negated ? '!' : ''}${link.operator}"${quoted}`;
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
      return `SecRuleEngine ${mode}
SecRequestBodyAccess On
SecResponseBodyAccess On
SecDefaultAction "phase:1,log,pass"
SecDefaultAction "phase:2,log,deny,status:403"
${start.join('')}${statements.map((one, index) => printStatement(one, index + 1)).join('\n')}
`;
    }),
  );
