import t from 'tap';
import { checkVisualRule } from './forms/check-rule.js';
import { checkRuleText } from './raw-rule.js';
import { renderRuleExclusions, type ScopedExclusion } from './rule-exclusions.js';
import { compileProgram } from '../compile-program.js';
import { compileRuleTrial, createTrial, type TrialRequest } from './trial.js';
import type { CustomRule } from './settings.js';

const get = (uri: string, method = 'GET'): TrialRequest => ({ method, uri, headers: [], body: '' });
const range = [1_000_000, 1_005_999] as const;

t.test('a rule alone sees forms and JSON, and matches that do not log', async (t) => {
  const { program, diagnostics } = compileRuleTrial({
    path: 'rule',
    text: 'SecRule ARGS "@contains bad" "id:1000000,phase:2,pass,nolog"\n',
  });
  t.same(diagnostics, []);
  if (program === null) return void t.fail('does not compile');
  const trial = createTrial(program);
  const cases: [TrialRequest, number[]][] = [
    [get('/?q=bad'), [1_000_000]],
    [get('/?q=good'), []],
    [{ method: 'POST', uri: '/', headers: [], body: 'x=bad' }, [1_000_000]],
    [
      { method: 'POST', uri: '/', headers: [['Content-Type', 'application/json']], body: '{"a":["bad"]}' },
      [200_001, 1_000_000],
    ],
  ];
  for (const [request, ids] of cases)
    t.same(
      trial.run(request).matched.map(({ id }) => id),
      ids,
      request.uri + request.body,
    );
  t.match(trial.run(get('/?q=bad')), {
    kind: 'pass',
    interruptedBy: null,
    matched: [{ variable: 'ARGS:q', value: 'bad' }],
  });
});

t.test('problems of a rule text have places', async (t) => {
  const cases: [string, { line?: number; column?: number; excerpt?: string | RegExp }][] = [
    ['SecRule ARGS "@rx (" "id:1000000"', { line: 1 }],
    ['SecAction "id:1000000,phase:1,pass"\nSecRuleEngine Off', { line: 2, column: 1, excerpt: 'SecRuleEngine Off' }],
    ['Include /etc/passwd', { line: 1, column: 1, excerpt: /Include/ }],
    ['SecAction "id:77,phase:1,pass"', { line: 1, column: 15 }],
    ['SecRule NOPE "@rx a" "id:1000000,phase:1,pass"', { line: 1, column: 9 }],
    ['SecRule ARGS "@inspectFile /x" "id:1000000,phase:1,pass"', { line: 1 }],
  ];
  for (const [text, place] of cases) {
    const checked = checkRuleText(text, range, 'rule 1000000');
    t.equal(checked.text, null, text);
    t.match(
      checked.diagnostics.find(({ severity }) => severity === 'error'),
      place,
      text,
    );
  }
  t.match(checkRuleText('SecAction "id:1000000,phase:1,pass"', range, 'r'), {
    ids: [1_000_000],
    text: 'SecAction "id:1000000,phase:1,pass"\n',
  });
  const visual: CustomRule = {
    kind: 'visual',
    id: 1_000_001,
    name: 'ünïcode',
    enabled: true,
    variable: 'ARGS',
    operator: 'contains',
    value: 'é"',
    action: 'block',
    phase: 2,
    transformations: [],
    any: [],
    redirect_url: '',
    seclang: '',
    sites: [],
    tests: [],
  };
  t.match(checkVisualRule(visual), { ids: [1_000_001] });
  t.match(checkVisualRule({ ...visual, operator: 'nope' }), { text: null, diagnostics: [{ path: '/operator' }] });
});

t.test('scoped exclusions do what they say and no more', async (t) => {
  const nowMs = Date.parse('2026-03-01T12:00:00Z');
  const wide: ScopedExclusion = {
    id: 1_009_500,
    rule_id: 5,
    tag: null,
    target: null,
    path: null,
    method: null,
    sites: [],
    reason: '',
    owner: '',
    expires_at: null,
    enabled: true,
  };
  const rules = `SecRule ARGS "@contains bad" "id:5,phase:2,pass,log,tag:'a/b.c'"\n`;
  const matches = (exclusion: ScopedExclusion, request: TrialRequest): boolean => {
    const { program, diagnostics } = compileProgram([
      { path: 'x', text: `SecRuleEngine On\n${renderRuleExclusions([exclusion])}${rules}` },
    ]);
    if (program === null) throw new Error(JSON.stringify(diagnostics));
    return createTrial(program, nowMs)
      .run(request)
      .matched.some(({ id }) => id === 5);
  };
  const narrow: ScopedExclusion = {
    ...wide,
    target: 'ARGS:q',
    path: '/a/*',
    method: 'GET',
    expires_at: '2026-03-01T12:00:01Z',
  };
  const cases: [string, ScopedExclusion, TrialRequest, boolean][] = [
    ['everything', wide, get('/?q=bad'), false],
    ['disjoint rule', { ...wide, rule_id: 6 }, get('/?q=bad'), true],
    ['by tag', { ...wide, rule_id: null, tag: 'a/b.c' }, get('/?q=bad'), false],
    ['tags compare whole', { ...wide, rule_id: null, tag: 'a/b' }, get('/?q=bad'), true],
    ['one variable', { ...wide, target: 'ARGS:q' }, get('/?q=bad'), false],
    ['the other variable', { ...wide, target: 'ARGS:q' }, get('/?r=bad&q=bad'), true],
    ['all conditions', narrow, get('/a/b?q=bad'), false],
    ['another path', narrow, get('/b/b?q=bad'), true],
    ['a path that only looks so', narrow, get('/a/b/..%2f..%2fc?q=bad'), true],
    ['another method', narrow, get('/a/b?q=bad', 'PUT'), true],
    ['expired', { ...narrow, expires_at: '2026-03-01T12:00:00Z' }, get('/a/b?q=bad'), true],
  ];
  for (const [name, exclusion, request, expected] of cases) t.equal(matches(exclusion, request), expected, name);
  t.equal(renderRuleExclusions([{ ...wide, enabled: false }]), '');
});
