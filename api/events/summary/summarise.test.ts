// The sentence of an event: one row for each category of rules, each gate, and what attackers put into values.
import t from 'tap';
import fc from 'fast-check';
import { categoryNames, categoryOfRule, eventCategories, isSummaryRule } from './categories.js';
import { categoryOf, summarise, type SummarisedEvent } from './summarise.js';

interface Said {
  readonly id: number;
  readonly variable?: string;
  readonly value?: string;
  readonly data?: string;
  readonly match?: string;
  readonly severity?: string;
  readonly message?: string;
  readonly tags?: readonly string[];
  readonly file?: string;
}

const messageOf = ({ id, variable, value = '', ...more }: Said) => ({
  rule_id: id,
  message: 'm',
  data: '',
  match: variable === undefined ? '' : `Matched "Operator \`rx'" against variable \`${variable}' (Value: \`${value}')`,
  severity: '2',
  tags: [],
  file: 'rules/x.conf',
  ...more,
});
const eventOf = (
  said: readonly Said[],
  over: Partial<SummarisedEvent> = {},
  details: object = {},
): SummarisedEvent => ({
  kind: 'waf',
  uri: "/search?q=1'+OR+'1'='1&file=x",
  node: 'n1',
  rule_id: said[0]?.id ?? null,
  details: { messages: said.map(messageOf), ...details },
  ...over,
});
const gate = (id: number, data: string, match = '', tags: readonly string[] = []): Said => ({
  ...{ id, data, match, tags, file: '', severity: '4' },
});

const sentences: readonly (readonly [name: string, said: Said, text: string])[] = [
  [
    'SQL injection',
    { id: 942_100, variable: 'ARGS:q', value: "1' OR '1'='1" },
    "SQL injection in query parameter `q`: `1' OR '1'='1`",
  ],
  ['scripts', { id: 941_100, variable: 'ARGS:c', value: '<b>' }, 'Cross-site scripting in body parameter `c`: `<b>`'],
  [
    'commands',
    { id: 932_100, variable: 'ARGS:json.a.b', value: ';id' },
    'Command injection in JSON field `a.b`: `;id`',
  ],
  ['PHP', { id: 933_110, variable: 'FILES:f', value: 'a.php' }, 'PHP injection in uploaded file name `f`: `a.php`'],
  ['code', { id: 934_100, variable: 'ARGS_POST:a', value: 'x' }, 'Code injection in body parameter `a`: `x`'],
  ['Java', { id: 944_100, variable: 'REQUEST_HEADERS:X-A', value: 'x' }, 'Java attack in request header `X-A`: `x`'],
  ['paths', { id: 930_100, variable: 'REQUEST_URI_RAW', value: '/../a' }, 'Path traversal in URI: `/../a`'],
  [
    'inclusion',
    { id: 931_100, variable: 'ARGS_GET:file', value: 'http://192.0.2.1' },
    'Remote file inclusion in query parameter `file`: `http://192.0.2.1`',
  ],
  ['fixation', { id: 943_100, variable: 'REQUEST_COOKIES:s', value: 'x' }, 'Session fixation in cookie `s`: `x`'],
  [
    'protocol',
    { id: 920_350, variable: 'REQUEST_HEADERS:Host', value: '192.0.2.1', message: 'Host is a number.' },
    'Protocol violation: Host is a number in request header `Host`: `192.0.2.1`',
  ],
  ['smuggling', { id: 921_110, message: 'Smuggling' }, 'Protocol attack: Smuggling'],
  [
    'multipart',
    { id: 922_100, variable: 'MULTIPART_PART_HEADERS:f', value: 'x' },
    'Malformed upload: m in header of an upload part `f`: `x`',
  ],
  [
    'method',
    { id: 911_100, variable: 'REQUEST_METHOD', value: 'TRACE' },
    'Method not allowed in request method: `TRACE`',
  ],
  [
    'scanner',
    { id: 913_100, variable: 'REQUEST_HEADERS:User-Agent', value: 'probe' },
    'Security scanner in request header `User-Agent`: `probe`',
  ],
  ['leak', { id: 951_110, variable: 'RESPONSE_BODY', value: 'x' }, 'Data leak in response: m in response body: `x`'],
  ['shell', { id: 955_100, variable: 'RESPONSE_BODY', value: 'x' }, 'Web shell: m in response body: `x`'],
  [
    'custom',
    { id: 1_000_001, message: 'no zebras', variable: 'ARGS_NAMES', value: 'z' },
    'Custom rule: no zebras in parameter name: `z`',
  ],
  [
    'patch',
    { id: 1_007_001, message: 'CVE-2021-44228', variable: 'XML:/*', value: 'x' },
    'Known vulnerability: CVE-2021-44228 in XML body: `x`',
  ],
  ['deny list', gate(1_006_000, '192.0.2.1'), 'Client address is on the deny list: `192.0.2.1`'],
  ['principal', gate(1_006_001, 'a1b2'), 'User or key has a verdict of the detection engine: `a1b2`'],
  [
    'flood',
    gate(1_006_100, '192.0.2.1 zone=burst limit=50 window_seconds=1 remaining=0 retry_after_seconds=1'),
    'Flood limit exceeded: `burst: 50 requests in 1 s`',
  ],
  [
    'zone',
    gate(1_006_101, '192.0.2.1', "Matched the limit login against variable `REMOTE_ADDR' (Value: `192.0.2.1')"),
    'Rate limit exceeded: `login`',
  ],
  [
    'endpoint',
    gate(1_006_102, '192.0.2.1 zone=pay limit=5 window_seconds=3600'),
    'Endpoint limit exceeded: `pay: 5 requests in 60 min`',
  ],
  [
    'attack limit',
    gate(1_006_103, '192.0.2.1 zone=client limit=30 window_seconds=60'),
    'Attack-mode limit exceeded: `client: 30 requests in 60 s`',
  ],
  [
    'engine',
    gate(1_006_104, '192.0.2.1 zone=verdict limit=15 window_seconds=10'),
    'Slowed down by the detection engine: `verdict: 15 requests in 10 s`',
  ],
  [
    'ban',
    gate(1_006_200, '192.0.2.0/24 zone=login limited=10 window_seconds=60 offence=2 ban_seconds=600'),
    'Client banned for 10 min after 10 limited requests in \\`login\\`: `192.0.2.0/24`',
  ],
  ['banned', gate(1_006_200, '192.0.2.1 seconds_left=90'), 'Client is banned, 90 s left: `192.0.2.1`'],
  ['many clients', gate(1_006_201, '192.0.2.1'), 'Not banned: many clients share the address: `192.0.2.1`'],
  [
    'crash',
    gate(1_006_210, '', "Matched the crashes of this node against variable `REQUEST_FILENAME' (Value: `POST')"),
    'Request repeats one that crashed a worker: `POST`',
  ],
  ['challenge', gate(1_006_300, '192.0.2.1 path'), 'Challenge required: `192.0.2.1`'],
  [
    'bot',
    gate(1_006_400, '192.0.2.1 score=6 threshold=5 agent=scanner'),
    'Automated client: bot score 6, limit 5: `scanner`',
  ],
  ['crawler', gate(1_006_401, '192.0.2.1 agent=x'), 'Client claims to be a crawler that it is not: `192.0.2.1`'],
  ['TLS', gate(1_006_402, 'cd08'), 'TLS fingerprint is on the block list: `cd08`'],
  [
    'schema',
    gate(1_006_500, '/body/items/0/price: type', "Matched the specification `shop' against `POST /orders'"),
    'Request does not match the API specification (POST /orders, specification shop): `/body/items/0/price: type`',
  ],
  [
    'answer',
    gate(1_006_501, '/response/card: type'),
    'Response does not match the API specification: `/response/card: type`',
  ],
  ['undeclared', gate(1_006_502, '/x: path'), 'Path is not declared in the API specification'],
  ['introspection', gate(1_006_510, 'Q'), 'GraphQL introspection: `Q`'],
  ['GraphQL limit', gate(1_006_511, 'depth 12'), 'GraphQL limit exceeded: `depth 12`'],
  ['GraphQL size', gate(1_006_512, 'a document'), 'GraphQL request too large to inspect: `a document`'],
  [
    'scoring',
    gate(1_006_610, 'score=7 threshold=5 signs=sql-syntax,sql-syntax', 'ARGS:q'),
    'Signs of an attack (sql-syntax) that no rule scores: `ARGS:q`',
  ],
  [
    'authentication',
    gate(1_010_000, 'no token', '', ['gatehouse/site-auth']),
    'Protected path without valid credentials: `no token`',
  ],
  ['unknown gate', { ...gate(1_006_999, '', "Matched the x against `y'"), message: 'A new gate' }, 'A new gate'],
  ['unknown rule', { id: 77, message: '', variable: 'ARGS:q', value: 'x' }, 'Rule 77 in query parameter `q`: `x`'],
];

t.test('27.2: one sentence for every kind of event', async (t) => {
  for (const [name, said, text] of sentences) {
    const found = summarise(eventOf([said]));
    t.equal(found.text, text.replaceAll('\\`', '`'), name);
    t.equal(found.category_name, eventCategories[found.category].name, name);
    t.equal(categoryOf(eventOf([said])), found.category, `${name}: counted as what it is called`);
  }
  const named = new Set(sentences.map(([, said]) => summarise(eventOf([said])).category));
  t.same(
    categoryNames.filter((one) => !named.has(one)),
    ['engine-error'],
    'every category has a row here; a failed inspection has one below',
  );
});

t.test('27.2: what no rule says, and which of several rules names the event', async (t) => {
  const rates = { change: 'enter', requests_per_minute: 900, baseline_rpm: 40 };
  for (const [name, event, text] of [
    [
      'attack mode',
      eventOf([], { kind: 'attack-mode', details: rates }),
      'Attack mode started on node n1: 900 requests a minute, usually 40',
    ],
    ['its end', eventOf([], { kind: 'attack-mode', details: { change: 'leave' } }), 'Attack mode ended on node n1'],
    ['a failure', eventOf([], {}, { error: 'out of memory' }), 'Inspection failed: `out of memory`'],
    ['nothing', eventOf([], { details: null }), 'Event without a rule'],
    ['a number alone', eventOf([], { rule_id: 942_100, details: {} }), 'SQL injection'],
    [
      'evidence before protocol, whichever came first',
      eventOf([
        { id: 920_350, severity: '2', variable: 'REQUEST_HEADERS:Host', value: '1' },
        { id: 949_110, severity: '0' },
        { id: 942_100, variable: 'ARGS:q', value: 'x' },
      ]),
      'SQL injection in query parameter `q`: `x`',
    ],
    [
      'what stopped it, although others are graver',
      eventOf(
        [{ id: 942_100 }, gate(1_006_000, '192.0.2.1')],
        {},
        { interruption: { ruleId: 1_006_000, status: 403 } },
      ),
      'Client address is on the deny list: `192.0.2.1`',
    ],
    [
      'a chain ends in TX: its data name the place',
      eventOf([{ id: 932_200, variable: 'TX:0', value: 'v', data: 'Matched Data: $0 found within ARGS:q: a $0' }]),
      'Command injection in query parameter `q`: `a $0`',
    ],
  ] as const)
    t.equal(summarise(event).text, text, name);
});

t.test('27.2: values are decoded, marked and cut around what matched', async (t) => {
  const said = (value: string, hit: string) =>
    summarise(
      eventOf([{ id: 942_100, variable: 'ARGS:q', value, data: `Matched Data: ${hit} found within ARGS:q: x` }]),
    );
  const marked = (value: string, hit: string): string[] => {
    const { value: shown, hits } = said(value, hit);
    return hits.map(([from, to]) => (shown ?? '').slice(from, to));
  };
  t.match(said('1%2527%20union', "' union"), { value: "1' union" }, 'twice encoded');
  t.same(marked('1%2527%20union', "' union"), ["' union"]);
  t.same(marked('a UNION b', 'union'), ['UNION'], 'whatever the case');
  t.same(marked('abc', 'zz'), []);
  t.match(said(Buffer.from('é', 'utf8').toString('latin1'), 'x'), { value: 'é' }, 'bytes are read as UTF-8');
  t.match(said('\u00e9', 'x'), { value: '\u00e9' }, 'or stay as they are');
  const long = said(`${'a'.repeat(100_000)}<script>${'b'.repeat(100_000)}`, '<script>');
  t.same(
    long.hits.map(([from, to]) => long.value?.slice(from, to)),
    ['<script>'],
  );
  t.ok((long.value?.length ?? 0) <= 162, 'and cut');
});

t.test('27.2: nothing that an attacker writes breaks the sentence', async (t) => {
  const hostile = summarise(
    eventOf([{ id: 942_100, variable: 'ARGS:a\u202eb', value: '<img onerror=x>\n\u0000\u202e\u200b\ud800`' }]),
  );
  t.equal(
    hostile.text,
    'SQL injection in body parameter `a\\u202eb`: `<img onerror=x>\\n\\x00\\u202e\\u200b\\ud800``',
    'one line, and every character can be seen',
  );
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 300 }), fc.string({ unit: 'binary' }), (value, hit) => {
      const found = summarise(
        eventOf([{ id: 942_100, variable: `ARGS:${hit}`, value, data: `Matched Data: ${hit} found within ARGS:a: b` }]),
      );
      const shown = found.value ?? '';
      return (
        !/[\u0000-\u001f\u007f\u202a-\u202e]/.test(found.text) &&
        shown.length <= 162 &&
        found.hits.every(([from, to]) => from >= 0 && from < to && to <= shown.length)
      );
    }),
    { numRuns: 300, seed: 27 },
  );
  fc.assert(
    fc.property(fc.jsonValue(), (details) => summarise(eventOf([], { details })).text.length > 0),
    { numRuns: 200, seed: 27 },
  );
});

t.test('categories do not overlap, and rules that add up belong to none', async (t) => {
  const ranges = categoryNames.flatMap((name) => eventCategories[name].rules.map(([from, to]) => [from, to] as const));
  const sorted = ranges.sort((a, b) => a[0] - b[0]);
  t.ok(sorted.every(([from], at) => at === 0 || from > (sorted[at - 1]?.[1] ?? 0)));
  t.equal(categoryOfRule(949_110), 'other');
  t.ok(isSummaryRule(959_100));
  t.equal(categoryOfRule(null), 'other');
});
