// Rules that are made for findings: each class sees its attack and leaves harmless values alone; what a finding says
// cannot break out of the text.
import t from 'tap';
import { checkRuleText, compileRuleTrial, createTrial } from '#compiler';
import type { DetailsRow, FindingRow } from '../findings/fields.js';
import type { FirewallRequest } from './firewall.js';
import { propose, type Wish } from './propose.js';
import { maskRequest } from './request.js';
import { weaknessClasses } from './weakness-classes.js';

const ruleId = 1_007_500;
const finding = (more: Partial<FindingRow>): FindingRow =>
  ({ title: 'A finding', cwes: [], vuln_ids: [], location: '', severity: 3, ...more }) as FindingRow;
const details = (more: Partial<DetailsRow>): DetailsRow =>
  ({ location: {}, evidence: [], ...more }) as unknown as DetailsRow;

/** Names of the requests that the rule alone matches. */
function seen(text: string, requests: readonly FirewallRequest[]): string[] {
  const checked = checkRuleText(text, [ruleId, ruleId], 'patch');
  if (checked.text === null) throw new Error(JSON.stringify(checked.diagnostics));
  const { program, diagnostics } = compileRuleTrial({ path: 'patch', text });
  if (program === null) throw new Error(JSON.stringify(diagnostics));
  const trial = createTrial(program);
  return requests
    .filter((request) => trial.run(request).matched.some(({ id }) => id === ruleId))
    .map(({ name }) => name);
}

function tried(row: FindingRow, more: DetailsRow | null = null, wish: Wish = {}) {
  const made = propose(row, more, [], wish);
  const text = made.text(ruleId);
  return {
    made,
    text,
    attack: seen(text, [made.attack]).length === 1,
    benign: seen(text, made.benign),
    missed: made.mutations.length - seen(text, made.mutations).length,
  };
}

for (const one of weaknessClasses) {
  t.test(`14.V6: ${one.name}: by signature, and strictly where that is possible`, async (t) => {
    for (const location of ['GET /Shop/items [q]', 'POST /api/v2/items/17 [filter]', 'https://a.example/x?q=1 [q]']) {
      const row = finding({ cwes: [one.cwes[0] as number], location });
      for (const strategy of one.ordinary === null ? (['signature'] as const) : (['signature', 'strict'] as const)) {
        const result = tried(row, null, { strategy });
        t.ok(result.attack, `${strategy} sees ${one.attack} at ${location}: ${result.text}`);
        t.same(result.benign, [], `${strategy} at ${location}`);
      }
    }
  });
}

t.test('14.V7: a positive rule demands the type of the parameter', async (t) => {
  const row = finding({ cwes: [639], location: 'GET /orders [id]' });
  t.throws(() => tried(row), /give .request/, 'nothing in a request shows whose an order is');
  const request = { method: 'GET', uri: '/orders?id=17%20or%201', headers: [], body: '' };
  const result = tried(row, null, { benignValues: ['17', '4711'], request });
  t.match(result.made, { strategy: 'positive' });
  t.ok(result.attack);
  t.same(result.benign, []);
  const requests = ['17', '-1', '17x', '', '1e5'].map((value) => ({
    name: value,
    method: 'GET',
    uri: `/orders?id=${value}`,
    headers: [],
    body: '',
  }));
  t.same(seen(result.text, requests), ['17x', '', '1e5']);
});

t.test('14.V8: the request of the evidence is the one that is proven with', async (t) => {
  const raw = 'GET /ping?host=x%3Bid HTTP/1.1\r\nHost: a.example\r\nCookie: session=abcdefgh\r\nX-Trace: 7\r\n\r\n';
  const nuclei = tried(
    finding({ cwes: [78], location: 'GET https://a.example/ping [host]' }),
    details({
      location: { kind: 'web', url: 'https://a.example/ping', method: 'GET', param: 'host' },
      evidence: [{ request: raw }],
    }),
  );
  t.match(nuclei.made, { attackOrigin: 'evidence', attack: { method: 'GET', uri: '/ping?host=x%3Bid' } });
  t.same(nuclei.made.attack.headers, [
    ['Host', 'a.example'],
    ['X-Trace', '7'],
  ]);
  t.ok(nuclei.attack);
  const zap = tried(
    finding({ cwes: [79], location: '' }),
    details({
      location: { kind: 'web', url: 'https://a.example/q?lang=en', method: 'POST', param: 'name' },
      evidence: [{ attack: '"><img src=x onerror=alert(1)>' }],
    }),
  );
  t.match(zap.made, { attackOrigin: 'evidence', attack: { method: 'POST', body: /name=%22%3E%3Cimg/ } });
  t.ok(zap.attack);
  t.equal(zap.missed, 0);
  const sensor = tried(
    finding({ cwes: [22] }),
    details({ evidence: [{ kind: 'runtime', proof: { request: { method: 'get', uri: '/f?p=../../etc/passwd' } } }] }),
  );
  t.match(sensor.made, { attackOrigin: 'evidence', attack: { method: 'GET' } });
  t.ok(sensor.attack, 'the only parameter of the request is the one that is meant');
});

t.test('14.V9: what a finding says does not break out of the rule', async (t) => {
  const title = `x',id:1,phase:1,pass,ctl:ruleEngine=Off,msg:'" \\\n SecRuleEngine Off`;
  for (const location of [
    'GET /a"b\\c [q]',
    'GET /a.*|b(c) [q]',
    'GET /%22%0aSecRuleEngine%20Off [q]',
    'GET /x [q"|REQUEST_HEADERS]',
    "GET /it's/ok [a.b]",
    'GET /ü/ö [q]',
  ]) {
    const result = tried(finding({ cwes: [89], title, location }));
    t.notMatch(result.text, /^\s*SecRuleEngine/m, location);
    t.equal(result.text.match(/SecRule /g)?.length, result.text.includes('chain') ? 2 : 1, location);
    t.ok(result.attack, `${location}: ${result.text}`);
  }
});

t.test('14.V10: secrets are masked, the attack is not, even in a parameter called password', async (t) => {
  const body = `user=jane&password=${encodeURIComponent("' OR '1'='1")}&token=abcdefghijklmnop`;
  const masked = maskRequest(
    { name: 'a', method: 'POST', uri: '/login', headers: [['Authorization', 'x']], body },
    'password',
  );
  t.same(masked.headers, []);
  t.match(masked.body, /password='?%27|password='/);
  t.notMatch(masked.body, /abcdefghijklmnop/);
  const result = tried(finding({ cwes: [89], location: 'POST /login [password]' }));
  t.ok(result.attack);
});

t.test('14.V11: a finding without a place says what is missing', async (t) => {
  t.throws(() => propose(finding({ cwes: [89], location: 'src/db.ts:17' }), null, [], {}), /give \/request/);
  t.throws(() => propose(finding({ cwes: [352], location: 'POST /x [q]' }), null, [], {}), /benign_values|request/);
  t.throws(
    () => propose(finding({ cwes: [918], location: 'GET /x [u]' }), null, [], { strategy: 'strict' }),
    /take signature/,
  );
});
