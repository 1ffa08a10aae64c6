import fc from 'fast-check';
import t from 'tap';
import { defaultSettings, type ConditionField, type RuleCondition } from '#settings';
import { compileRuleTrial, createTrial, type TrialRequest } from '../../trial.js';
import type { CustomRule } from '../../settings.js';
import { Diagnostics } from '../../../diagnostics/diagnostics.js';
import { renderCustomRules } from '../../custom-rules.js';
import { checkConditions } from './render.js';

fc.configureGlobal({ seed: Number(process.env['SEED'] ?? 20_261_129) });

type Operator = RuleCondition['operator'];

const rule = (any: CustomRule['any'], more: Partial<CustomRule> = {}): CustomRule => ({
  id: 1_000_007,
  name: 'conditions',
  enabled: true,
  kind: 'conditions',
  variable: '',
  operator: '',
  value: '',
  any,
  action: 'block',
  phase: 2,
  transformations: [],
  redirect_url: '',
  seclang: '',
  sites: [],
  tests: [],
  ...more,
});
const condition = (
  field: ConditionField,
  operator: Operator,
  values: readonly string[],
  more: Partial<RuleCondition> = {},
): RuleCondition => ({ field, operator, values: [...values], name: '', is_not: false, ...more });
const not = (one: RuleCondition): RuleCondition => ({ ...one, is_not: true });
const request = (uri: string, more: Partial<TrialRequest> = {}): TrialRequest => ({
  method: 'GET',
  uri,
  headers: [],
  body: '',
  ...more,
});

/** Whether the rule matches the request; throws where it does not compile. */
function matcherOf(one: CustomRule): (sent: TrialRequest) => boolean {
  const { text, diagnostics } = checkConditions(one);
  if (text === null) throw new Error(diagnostics.map(({ path, message }) => `${path}: ${message}`).join('; '));
  const { program } = compileRuleTrial({ path: 'rule', text });
  if (program === null) throw new Error(text);
  const trial = createTrial(program);
  return (sent) => trial.run(sent).matched.some(({ id }) => id === one.id);
}

const path = condition('path', 'begins_with', ['/admin']);
const agent = condition('user_agent', 'contains', ['curl', 'Wget']);
const withAgent = (value: string): Partial<TrialRequest> => ({ headers: [['User-Agent', value]] });
const json = (body: string): Partial<TrialRequest> => ({
  method: 'POST',
  headers: [['Content-Type', 'application/json']],
  body,
});

const cases: readonly (readonly [
  name: string,
  any: readonly (readonly RuleCondition[])[],
  holds: readonly TrialRequest[],
  not: readonly TrialRequest[],
])[] = [
  [
    'a path in every spelling',
    [[path]],
    [request('/admin/users'), request('/ADMIN'), request('/%61dmin'), request('/x/../admin'), request('/;a/admin')],
    [request('/'), request('/my/admin')],
  ],
  ['not a path', [[not(path)]], [request('/'), request('/x')], [request('/admin/users')]],
  [
    'two in a group',
    [[path, agent]],
    [request('/admin', withAgent('CURL/8'))],
    [request('/admin'), request('/', withAgent('curl'))],
  ],
  [
    'one of two groups',
    [[path], [agent]],
    [request('/admin'), request('/', withAgent('wget')), request('/admin', withAgent('curl'))],
    [request('/', withAgent('Mozilla'))],
  ],
  [
    'a header that is not there is not that either',
    [[not(agent)]],
    [request('/'), request('/', withAgent('Mozilla'))],
    [request('/', withAgent('a curl b'))],
  ],
  [
    'none of several parameters',
    [[not(condition('query_parameter', 'is', ['2']))]],
    [request('/?a=1&b=3'), request('/')],
    [request('/?a=1&b=2')],
  ],
  [
    'a parameter by its name',
    [[condition('parameter', 'ends_with', ['.php'], { name: 'file' })]],
    [request('/?file=a.PHP'), request('/', { method: 'POST', body: 'file=x.php' })],
    [request('/?other=a.php'), request('/?file=a.phps')],
  ],
  [
    'a field of JSON',
    [[condition('body_parameter', 'is', ['admin'], { name: 'json.user.role' })]],
    [request('/', json('{"user":{"role":"admin"}}'))],
    [request('/?json.user.role=admin'), request('/', json('{"user":{"role":"guest"}}'))],
  ],
  [
    'what is in a body',
    [[condition('body', 'contains', ['secret'])]],
    [request('/', json('{"a":["my secret"]}')), request('/', { method: 'POST', body: 'x=SECRET' })],
    [request('/?q=secret')],
  ],
  [
    'methods',
    [[not(condition('method', 'is', ['get', 'HEAD']))]],
    [request('/', { method: 'POST' }), request('/', { method: 'get' })],
    [request('/'), request('/', { method: 'HEAD' })],
  ],
  [
    'a header is there',
    [[condition('header', 'exists', [], { name: 'X-Debug' })]],
    [request('/', { headers: [['x-debug', '']] })],
    [request('/')],
  ],
  [
    'a cookie is not there',
    [[not(condition('cookie', 'exists', [], { name: 'sid' }))]],
    [request('/')],
    [request('/', { headers: [['Cookie', 'sid=1']] })],
  ],
  [
    'addresses',
    [[condition('address', 'is_in', ['198.51.100.0/24', '192.0.2.10', '2001:db8::/32'])]],
    [request('/')],
    [],
  ],
  ['other addresses', [[not(condition('address', 'is_in', ['198.51.100.0/24']))]], [request('/')], []],
  [
    'operations',
    [[condition('operation', 'is', ['GET /orders/{id}', 'DELETE /orders/{id}/items/{item}'])]],
    [
      request('/orders/7'),
      request('/orders/7/'),
      request('/orders/7/items/2', { method: 'DELETE' }),
      request('/Orders/7'),
    ],
    [request('/orders'), request('/orders/7/items'), request('/orders/7', { method: 'POST' })],
  ],
  [
    'not an operation',
    [[path, not(condition('operation', 'is', ['GET /admin/{page}']))]],
    [request('/admin/a/b'), request('/admin/a', { method: 'POST' })],
    [request('/admin/a'), request('/')],
  ],
  [
    'not an operation, in no spelling of another path',
    [[not(condition('operation', 'is', ['GET /public']))]],
    [request('/admin/..;/public'), request('/admin'), request('/public;/x')],
    [request('/public'), request('/public/')],
  ],
  [
    'expressions',
    [[condition('uri', 'matches', ['id=\\d+$', '^/"x"'])]],
    [request('/?id=77'), request('/"x"')],
    [request('/?id=77x')],
  ],
  [
    'how much',
    [[condition('body_size', 'greater_than', ['5'])]],
    [request('/', { method: 'POST', body: 'a=1234' })],
    [request('/', { method: 'POST', body: 'a=1' })],
  ],
  [
    'signs of the rule language',
    [[condition('query_parameter', 'contains', ['"%{x}\\', "' \\"])]],
    [request('/?q=%22%25%7bx%7d%5c'), request("/?q='%20%5c")],
    [request('/?q=%22')],
  ],
];
for (const [name, any, holds, fails] of cases)
  t.test(name, (t) => {
    const matches = matcherOf(rule(any.map((all) => ({ all: [...all] }))));
    for (const one of holds) t.equal(matches(one), true, JSON.stringify(one));
    for (const one of fails) t.equal(matches(one), false, JSON.stringify(one));
    t.end();
  });

const one = (...all: RuleCondition[]): CustomRule => rule([{ all }]);
const faults: readonly (readonly [name: string, rule: CustomRule, path: string, message: RegExp])[] = [
  ['no condition', rule([]), '/any', /at least one/],
  ['an operator of other fields', one(condition('method', 'contains', ['G'])), '/any/0/all/0/operator', /it is is$/],
  ['a name of what has none', one(condition('path', 'is', ['/'], { name: 'x' })), '/any/0/all/0/name', /empty/],
  ['no value', one(path, condition('host', 'is', [])), '/any/0/all/1/values', /missing/],
  ['values of exists', one(condition('header', 'exists', ['x'])), '/any/0/all/0/values', /left out/],
  ['no address', one(condition('address', 'is_in', ['10.0.0.1', 'home'])), '/any/0/all/0/values', /"home"/],
  ['no network', one(condition('address', 'is_in', ['10.0.0.1/77'])), '/any/0/all/0/values', /./],
  ['no number', one(condition('body_size', 'less_than', ['5 MB'])), '/any/0/all/0/values', /whole number/],
  ['no operation', one(condition('operation', 'is', ['/orders'])), '/any/0/all/0/values', /GET \/orders/],
  ['no method', one(condition('method', 'is', ['GET POST'])), '/any/0/all/0/values', /no method/],
  [
    'no expression',
    rule([{ all: [path] }, { all: [agent, condition('uri', 'matches', ['('])] }]),
    '/any/1/all/1/values',
    /./,
  ],
  ['a line end', one(condition('uri', 'matches', ['a\nb'])), '/any/0/all/0/values', /line end/],
  ['no address to go to', { ...one(path), action: 'redirect', redirect_url: "'" }, '/redirect_url', /address/],
  [
    'too much',
    rule([
      {
        all: [
          condition(
            'operation',
            'is',
            Array.from({ length: 101 }, (_, at) => `GET /a${at}`),
          ),
        ],
      },
    ]),
    '/any/0/all/0/values',
    /split/,
  ],
];
for (const [name, one, path, message] of faults)
  t.test(`refused: ${name}`, (t) => {
    const { text, diagnostics } = checkConditions(one);
    t.equal(text, null);
    t.match(diagnostics, [{ severity: 'error', path, message }]);
    t.end();
  });

t.test('rules that are compiled together do not meet', (t) => {
  const groups = [{ all: [not(agent)] }, { all: [path] }];
  const texts = [1_000_000, 1_000_001, 1_005_999].map((id) => checkConditions(rule(groups, { id })));
  const ids = texts.flatMap((checked) => checked.ids);
  t.equal(new Set(ids).size, ids.length, 'each rule has an id of its own');
  t.notOk(defaultSettings().custom_rules.length);
  t.end();
});

/** What the words of a condition say, computed another way. */
function says({ name, operator, values, is_not: isNot }: RuleCondition, args: readonly (readonly [string, string])[]) {
  const looked = args.filter(([key]) => name === '' || key === name).map(([, value]) => value.toLowerCase());
  const fits = (value: string): boolean =>
    values.some((wanted) => {
      const low = wanted.toLowerCase();
      if (operator === 'is') return value === low;
      if (operator === 'begins_with') return value.startsWith(low);
      if (operator === 'ends_with') return value.endsWith(low);
      return value.includes(low);
    });
  const holds = operator === 'exists' ? looked.length > 0 : looked.some(fits);
  return holds !== isNot;
}

t.test('property: groups mean what they say', (t) => {
  const word = fc.stringMatching(/^[aB.*]{1,3}$/);
  const key = fc.constantFrom('k', 'm');
  const someCondition = fc
    .record({
      name: fc.constantFrom('', 'k', 'm'),
      operator: fc.constantFrom<Operator>('is', 'contains', 'begins_with', 'ends_with', 'exists'),
      values: fc.array(word, { minLength: 1, maxLength: 2 }),
      is_not: fc.boolean(),
    })
    .map((one) =>
      condition('query_parameter', one.operator, one.operator === 'exists' ? [] : one.values, {
        name: one.name,
        is_not: one.is_not,
      }),
    );
  const groups = fc.array(fc.array(someCondition, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 3 });
  const queries = fc.array(fc.array(fc.tuple(key, word), { maxLength: 3 }), { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(groups, queries, (any, lists) => {
      const matches = matcherOf(rule(any.map((all) => ({ all }))));
      for (const args of lists) {
        const uri = `/?${args.map(([key, value]) => `${key}=${encodeURIComponent(value)}`).join('&')}`;
        const wanted = any.some((all) => all.every((one) => says(one, args)));
        if (matches(request(uri)) !== wanted) throw new Error(`${uri} should ${wanted ? '' : 'not '}match`);
      }
    }),
    { numRuns: 150 },
  );
  t.pass('no request found that is judged otherwise');
  t.end();
});

t.test('22: a header is met in every spelling that a CGI program reads as it, but not where that lets through', (t) => {
  const sent = (name: string): TrialRequest => request('/', { headers: [[name, 'admin']] });
  const role = condition('header', 'is', ['admin'], { name: 'X-Shop-Role' });
  const there = condition('header', 'exists', [], { name: 'X-Shop-Role' });
  for (const one of [role, there]) {
    const refuses = matcherOf(rule([{ all: [one] }]));
    const allows = matcherOf(rule([{ all: [one] }], { action: 'allow' }));
    for (const name of ['X-Shop-Role', 'x-shop-role', 'X_Shop_Role', 'X_Shop-Role', 'X.Shop_ROLE']) {
      t.equal(refuses(sent(name)), true, name);
      t.equal(allows(sent(name)), name.toLowerCase() === 'x-shop-role', `${name}, to allow`);
    }
    for (const name of ['X-Shop-Roles', 'My-X-Shop-Role', 'XShopRole']) t.equal(refuses(sent(name)), false, name);
    t.equal(matcherOf(rule([{ all: [not(one)] }]))(sent('X_Shop_Role')), true, 'who has to have it, has it not');
  }
  t.end();
});

t.test('what people write of hosts, media types, letters and members is what is met', (t) => {
  const host = (value: string): TrialRequest => request('/', { headers: [['Host', value]] });
  const typed = (value: string): TrialRequest =>
    request('/', { method: 'POST', headers: [['Content-Type', value]], body: '{}' });
  const ofHost = condition('host', 'is', ['shop.example']);
  const member = condition('body_parameter', 'is', ['admin'], { name: 'role' });
  const there = condition('parameter', 'exists', [], { name: 'role' });
  const form: Partial<TrialRequest> = {
    method: 'POST',
    headers: [['Content-Type', 'application/x-www-form-urlencoded']],
    body: 'role=admin',
  };
  const cases: readonly (readonly [RuleCondition, TrialRequest, boolean])[] = [
    [ofHost, host('SHOP.example:8080'), true],
    [ofHost, host('shop.example.'), true],
    [ofHost, host('shop.example.evil.test'), false],
    [not(ofHost), host('shop.example:8080'), false],
    [condition('host', 'ends_with', ['.example']), host('shop.example:80'), true],
    [condition('content_type', 'is', ['application/json']), typed('application/json; charset=utf-8'), true],
    [condition('content_type', 'is', ['application/json']), typed('application/json-x'), false],
    [condition('query_parameter', 'begins_with', ['Ü'], { name: 'q' }), request('/?q=%C3%BCber'), true],
    [condition('query_parameter', 'is', ['straße'], { name: 'q' }), request('/?q=STRA%C3%9FE'), true],
    [member, request('/', json('{"role":"Admin"}')), true],
    [member, request('/', json('{"a":{"role":"admin"}}')), false],
    [member, request('/', form), true],
    [not(member), request('/', json('{"role":"admin"}')), false],
    [there, request('/', json('{"role":1}')), true],
    [not(there), request('/', json('{"role":1}')), false],
    [not(there), request('/', form), false],
    [not(there), request('/?a=1'), true],
  ];
  for (const [one, sent, matches] of cases)
    t.equal(matcherOf(rule([{ all: [one] }]))(sent), matches, JSON.stringify([one, sent]));
  for (const one of [
    condition('host', 'is', ['https://shop.example/']),
    condition('path', 'is', ['admin']),
    condition('path', 'begins_with', ['api/']),
  ])
    t.match(checkConditions(rule([{ all: [one] }])), { text: null, diagnostics: [{ path: /values/ }] });
  // a release that took it has it in force: nothing else could be applied any more
  const old = rule([{ all: [condition('path', 'is', ['admin'])] }]);
  const diagnostics = new Diagnostics();
  t.match(renderCustomRules([old], diagnostics), { after: [{ id: old.id }] });
  t.strictSame(diagnostics.list, []);
  t.end();
});
