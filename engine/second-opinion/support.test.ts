// The tables of the second opinion, and what they say of single values.
import fc from 'fast-check';
import t from 'tap';
import type { AttackKind } from './sign.js';
import { allSigns, findSigns, supportedFrom, supportOf } from './support.js';
import { evidenceRules } from './evidence-rules.js';
import { weakRules } from './weak-rules.js';

fc.configureGlobal({ seed: Number(process.env['SEED'] ?? 20_261_121) });

const namesOf = (kind: AttackKind, raw: string, value = raw): string[] =>
  findSigns(kind, { raw, value }).map(({ name }) => name);
const support = (kind: AttackKind, raw: string): number => supportOf(0, findSigns(kind, { raw, value: raw }));

t.test('SO1: every sign has a name of its own, a meaning, and a weight that never takes away', async (t) => {
  t.equal(new Set(allSigns.map(({ name }) => name)).size, allSigns.length, 'names');
  for (const { name, kinds, weight, means, pattern } of allSigns) {
    t.ok(Number.isInteger(weight) && weight > 0 && weight <= supportedFrom, `${name}: a weight from 1 to 5`);
    t.ok(kinds.length > 0 && means.length > 10, `${name}: kinds and a meaning`);
    t.notMatch(pattern, /\$(?:\)|$)/, `${name}: is not bound to the end of a line`);
  }
  const kinds = new Set([...weakRules.values()].map(({ kind }) => kind));
  for (const kind of [...kinds, ...evidenceRules.values()])
    t.ok(
      allSigns.some((one) => one.kinds.includes(kind)),
      `${kind} has signs`,
    );
  for (const { prior, why } of weakRules.values())
    t.ok(prior >= 0 && prior < supportedFrom && why.length > 10, 'a weak rule alone is not enough, and says why');
});

/** Attacks of our own writing, by kind. */
const attacks: readonly (readonly [AttackKind, string])[] = [
  ['sql', "x' or 'a'='a"],
  ['sql', '7 and 3>2 -- '],
  ['sql', '1 union all select name, price from stock'],
  ['sql', '1; drop table stock'],
  ['sql', "1' and sleep(9)#"],
  ['sql', '1%27%20or%201%3D1'],
  ['sql', '1+or+1%3D1'],
  ['code', 'lamp;cat /etc/hosts'],
  ['code', '$(id)'],
  ['code', '${jndi:ldap://192.0.2.1/a}'],
  ['code', '<?php echo 1;'],
  ['code', '{{7*7}}'],
  ['script', '<svg/onload=alert(1)>'],
  ['script', '" onfocus=alert(1) autofocus '],
  ['script', 'java script:alert(1)'],
  ['file', '../../etc/passwd'],
  ['file', '..%c0%af..%c0%afetc%c0%afpasswd'],
  ['file', '....//....//windows//system32'],
  ['file', '/..............notes'],
  ['file', `\\${'b'.repeat(40)}........notes`],
  ['file', '..etcshadow'],
  ['file', '/0x2e0x2enotes'],
  ['header', 'x\r\nSet-Cookie: a=b'],
];

t.test('SO2: attacks are supported, and by what', async (t) => {
  for (const [kind, text] of attacks) t.ok(support(kind, text) >= supportedFrom, `${kind}: ${text}`);
  t.strictSame(namesOf('sql', '1; drop table stock'), ['sql-statement', 'sql-stacked']);
  t.strictSame(namesOf('code', '$(id)'), ['shell-chain', 'shell-substitution']);
});

t.test('SO2: ordinary data is not, whatever rules think of it', async (t) => {
  const data: readonly (readonly [AttackKind, string])[] = [
    ['sql', '{"visits":"[1660207762]","status":{"66584":1660207762}}'],
    ['sql', 'union was a great select'],
    ['sql', 'query countries($locale: Locale!) { name code }'],
    ['code', 'https://ads.example/sync?uid=${USER_ID}&img=1'],
    ['code', 'zsh is the best!'],
    ['file', 'yes/no......maybe'],
    ['file', 'users, groups, etc...... and so on'],
    ['code', 'base64'],
    ['script', 'JavaScript: Basics of the Language'],
    ['script', 'text/html,application/xhtml+xml,application/xml;q=0.9'],
    ['file', 'json.profile_data.received.9.timestamp'],
    ['file', '/api/config.json'],
    ['header', 'HTTP/1.1'],
    ['header', 'a=b; c=d\n'],
  ];
  for (const [kind, text] of data) t.ok(support(kind, text) < supportedFrom, `${kind}: ${text}`);
});

t.test('SO3: nothing that is appended takes a sign away', async (t) => {
  const prose = fc.array(fc.constantFrom('the', 'lamp', 'by', 'window', 'was', 'lit', '{"a":1}', 'http/1.1', '1---'));
  const separator = fc.constantFrom(' ', '\n', ' , ', ' . ');
  fc.assert(
    fc.property(fc.constantFrom(...attacks), separator, prose, ([kind, text], between, words) => {
      const padded = namesOf(kind, `${text}${between}${words.join(' ')}`);
      return namesOf(kind, text).every((name) => padded.includes(name));
    }),
    { numRuns: 500 },
  );
  t.pass('500 paddings');
});

t.test('SO3: a sign that only the transformed value shows counts, too', async (t) => {
  t.strictSame(namesOf('script', 'PHN2Zz4=', '<svg>'), ['html-tag']);
});

/** Barest forms of what rules of the CRS look for: nothing but the match speaks for it. */
const bare: readonly (readonly [AttackKind, string])[] = [
  ['sql', `x' and '{"k":[3]}'::jsonb @> '{"k":[3]}`],
  ['sql', `'{"k":1}' ? 'k'`],
  ['sql', `'["k","l"]'::json ->> 1 = 'l'`],
  ['sql', `'{"k":{"l":2}}'::jsonb #- '{k,l}'`],
  ['sql', `'{"k":7}' > '$.k' = 7`],
  ['sql', `'["k"]'||'["l"]'`],
  ['sql', `stock @? '$.k[*]'`],
  ['sql', `stock->'$.name'='x'`],
  ['sql', `1=cast(stock as jsonb)`],
  ['sql', `JSON_Overlaps/**/ (a,b)`],
  ['sql', `3 member of('[3]')`],
  ['sql', 'name[$nin][]'],
  ['sql', 'json.$nor'],
  ['sql', '{$where: 1}'],
  ['sql', '[$regex]=^a'],
  ['sql', 'json.filter.$expr'],
  ['sql', '$jsonSchema'],
  ['sql', 'session_user( )'],
  ['sql', `"!1`],
  ['script', '<s v g onlo'],
  ['script', '<"i:f.rame src=x'],
  ['script', '<y:script href='],
  ['script', '<x onwebkitpresentationmodechanged='],
  ['script', "' onpointerrawupdate="],
  ['script', 'java&Tab;script&colon;x'],
  ['script', 'j\navascript: x'],
  ['script', 'vb&#10;script: x'],
  ['script', '&#x6a;avascript:x'],
  ['script', 'javascript: \\u0061'],
  ['script', 'data:,x<b>'],
  ['script', 'x!ENTITY % e PUBLIC "a"'],
  ['code', '${HOME#/}'],
  ['code', '${a:-b}'],
  ['code', '$[7*7]'],
  ['code', 'ls /u[s]r'],
  ['code', '/b[!x]n/d[a-z]te'],
  ['code', '/e[t//]c'],
  ['code', '~-2'],
  ['code', 'cat /etc/?osts'],
  ['code', 'sudo -n id'],
  ['code', 'nohup wget stock.example'],
  ['code', `wh""oami`],
  ['code', 'kubectl get pods'],
  ['code', 'lamp --verbose'],
  ['code', ';lamp -o x'],
  ['code', '|lamp lit@stock.example'],
  ['script', '<?php print 1'],
  ['script', 'rO0ABXQ='],
  ['code', 'x&diskpart /s y'],
  ['code', 'x|certreq < y'],
  ['code', "$ {'x'}"],
  ['code', '${$x}'],
  ['file', '/sys/block'],
  ['file', 'q=/etc/subgid-'],
  ['file', '.kube/config'],
  ['file', 'shop.sql.gz'],
  ['file', 'x/.zsh_history'],
  ['header', 'GET http://stock.example HTTP/1.1'],
];

t.test('SO9: an attack at its barest is supported', async (t) => {
  for (const [kind, text] of bare) {
    t.ok(support(kind, text) >= supportedFrom, `${kind}: ${text}`);
    t.ok(support(kind, encodeURIComponent(text)) >= supportedFrom, `${kind}: ${text}, encoded`);
  }
});

t.test('SO9: what only looks like it is not', async (t) => {
  const data: readonly (readonly [AttackKind, string])[] = [
    ['sql', '{"state":"{\\"open\\":[1,2]}","then":["a","b"],"size":3}'],
    ['sql', '{"filter":"[]","path":"$.name"}'],
    ['sql', 'std::vector of nlohmann::jsons'],
    ['sql', 'query q($in: Int, $text: String) { a(in: $in, text: $text) { id } }'],
    ['sql', 'costs $size or $not much'],
    ['script', '<formField name="a"/><linkage/><soap:body xmlns="urn:a">x</soap:body>'],
    ['script', 'JavaScript: an introduction'],
    ['script', 'it&#39;s &#8364; 5 &amp; more'],
    ['code', 'https://ads.example/?c=${CACHEBUSTER}&g=${GDPR}'],
    ['code', '/posts/[slug]/page and /items[0]/name'],
    ['code', '$[0].name and $[*].id'],
    ['code', 'AbC~+dEf~-gh'],
    ['code', 'time and again, more than once - and exec summaries'],
    ['code', "the lamp wasn''t lit"],
    ['file', '/system/etc and tmp/x'],
    ['file', 'history of the docker'],
    ['header', 'get to https or http/2'],
  ];
  for (const [kind, text] of data) t.ok(support(kind, text) < supportedFrom, `${kind}: ${text}`);
});
