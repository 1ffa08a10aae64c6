import { defaultSettings } from '#settings';
import t from 'tap';
import type { TrialRequest } from '#compiler';
import { attackShapes } from './attack-shapes.js';
import { namesOf, withParameter } from './request-parameters.js';
import { suggestExclusion, type ExclusionRequest } from './suggest-exclusion.js';
import { coreRules, withoutCoreRules as skip } from '../testing/core-rules.js';
import { testMsMax } from '../testing/waiting.js';

t.setTimeout(testMsMax);
const crsDirectory = coreRules ?? '';

const browser: TrialRequest['headers'] = [
  ['Host', 'shop.example'],
  ['User-Agent', 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0'],
  ['Accept', '*/*'],
];
const nowMs = Date.parse('2026-03-01T12:00:00Z');
const ask = (
  over: Partial<ExclusionRequest> & Pick<ExclusionRequest, 'sample' | 'ruleId' | 'variable'>,
): ExclusionRequest => ({
  crsDirectory,
  rules: defaultSettings(),
  tag: 'OWASP_CRS/ATTACK-SQLI',
  path: '/search',
  methods: ['GET'],
  expiresAt: '2026-06-01T00:00:00Z',
  nowMs,
  ...over,
});

t.test('parameters of requests', async (t) => {
  const form: TrialRequest = { method: 'POST', uri: '/a?x=1', headers: [['Content-Length', '3']], body: 'b=2' };
  const json: TrialRequest = {
    method: 'POST',
    uri: '/a',
    headers: [['Content-Type', 'application/json']],
    body: '{"c":{"d":1},"e":2}',
  };
  t.same(namesOf(form), ['x', 'b']);
  t.same(namesOf(json), ['json.c', 'json.e']);
  t.match(withParameter(form, 'b', 'ü&'), { uri: '/a?x=1', body: 'b=%C3%BC%26', headers: [] });
  t.match(withParameter(form, 'x', '2'), { uri: '/a?x=2', body: 'b=2' });
  t.match(withParameter(form, 'new', '3'), { uri: '/a?x=1&new=3' });
  t.match(withParameter(json, 'json.e', 'v'), { body: '{"c":{"d":1},"e":"v"}' });
  t.ok(attackShapes.length >= 40, `${attackShapes.length} attack shapes`);
});

t.test('the narrowest exclusion that is safe', { skip }, async (t) => {
  const sample: TrialRequest = {
    method: 'GET',
    uri: '/search?q=union+select+committee+from+members&lang=en&page=2',
    headers: browser,
    body: '',
  };
  const base = suggestExclusion(ask({ sample, ruleId: 1, variable: 'ARGS:q' }));
  t.match(base, { kind: 'not_reproduced' });
  const found = suggestExclusion(ask({ sample, ruleId: 942_190, variable: 'ARGS:q' }));
  if (found.kind !== 'verified') return void t.fail(JSON.stringify(found));
  const { exclusion } = found;
  t.equal(exclusion.scope, 'rule, variable, method, path');
  t.match(exclusion.exclusions[0], {
    id: 1_009_500,
    rule_id: 942_190,
    target: 'ARGS:q',
    path: '/search',
    method: 'GET',
    expires_at: '2026-06-01T00:00:00Z',
  });
  t.match(exclusion.seclang, /ctl:ruleRemoveTargetById=942190;ARGS:q/);
  t.match(exclusion.seclang, /TIME_EPOCH "@lt \d+"/);
  t.same(exclusion.otherParameters, ['lang', 'page', 'another']);
  t.ok(exclusion.othersTried >= 3 * 40 * 0.9, `${exclusion.othersTried} attacks in other parameters are still blocked`);
  t.comment(JSON.stringify(exclusion.lost));
  t.ok(exclusion.lost.every(({ tried, lost }) => lost <= tried) && exclusion.lost.some(({ tried }) => tried >= 9));
  t.equal(
    exclusion.lost.find(({ family }) => family === 'xss')?.lost,
    0,
    'an exclusion of SQL rules costs nothing against scripts',
  );
  const several = suggestExclusion(
    ask({
      sample,
      ruleId: 942_190,
      variable: 'ARGS:q',
      methods: ['GET', 'POST'],
      rules: { ...defaultSettings(), rule_exclusions: [{ ...exclusion.exclusions[0], path: '/other' } as never] },
    }),
  );
  t.match(several, {
    kind: 'verified',
    exclusion: { scope: 'rule, variable, path', exclusions: [{ id: 1_009_501, method: null }] },
  });
});

t.test('wide exclusions that open something are refused', { skip }, async (t) => {
  // a name that cannot be written as a target leaves only whole rules: then other parameters are open
  const sample: TrialRequest = {
    method: 'GET',
    uri: `/search?a%20b=${encodeURIComponent("1' OR '1'='1")}&lang=en`,
    headers: browser,
    body: '',
  };
  const found = suggestExclusion(ask({ sample, ruleId: 942_100, variable: 'ARGS:a b' }));
  t.not(found.kind, 'not_reproduced');
  const scopes =
    found.kind === 'none'
      ? found.rejected.map(({ scope }) => scope)
      : found.kind === 'verified'
        ? [found.exclusion.scope]
        : [];
  t.notOk(scopes.includes('rule, variable, path'));
  if (found.kind === 'none')
    t.match(found.rejected, [
      { scope: 'rule, path', reason: /attacks in other parameters|still be blocked/ },
      { scope: 'tag, path', reason: /attacks in other parameters/ },
    ]);
  else t.fail(`a whole rule was switched off: ${JSON.stringify(found)}`);
});
