// The generations of the CRS: what becomes of rules of 3.3, with rules of our own in its shape, and with the real rule
// set where one is unpacked.
import t from 'tap';
import { categoryKeys, requireSettings } from '#settings';
import { createMemoryStore, type Verdict } from '#engine';
import { createInterpreter } from '#engine/compile';
import { compileProgram } from '../compile-program.js';
import { diskReader } from '../disk/disk-reader.js';
import { formatDiagnostics } from '../diagnostics/format.js';
import type { SourceReader } from '../text/source.js';
import { findCrsOf } from '../testing/core-rules.js';
import { selectProbes } from '../artifact/probes.js';
import { foldConstants } from '../passes/fold-constants.js';
import { loadCoreRuleSet, supportedVersionIn } from './crs.js';
import { generationOf, scoreCountedBy, supportedVersions } from './generations.js';
import { renderPolicy, resolvePolicy } from './policy.js';

t.test('scores by the names of either generation', async (t) => {
  for (const [name, score] of [
    ['inbound_anomaly_score_pl1', 'inbound'],
    ['anomaly_score_pl4', 'inbound'],
    ['ANOMALY_SCORE_PL2', 'inbound'],
    ['outbound_anomaly_score_pl1', 'outbound'],
    ['sql_injection_score', null],
    ['blocking_inbound_anomaly_score', null],
    ['anomaly_score', null],
  ] as const)
    t.equal(scoreCountedBy(name), score, name);
});

const family = ['OWASP', 'CRS'].join('_');

const parameter = '(?:charset\\s*+=\\s*+utf-8|(?:c[^h\\"(),=]|[^c\\"(),=])[^\\"(),=]*\\s*+=\\s*+[^(),;]+)';
/** A rule set of our own in the shape of 3.3: its TX names, its tags, its lines. */
const files: Readonly<Record<string, string>> = {
  'rules/REQUEST-901-INITIALIZATION.conf': `SecComponentSignature "${family}/3.3.9"
SecRule &TX:crs_setup_version "@eq 0" "id:901001,phase:1,deny,status:500,log"
SecRule &TX:paranoia_level "@eq 0" "id:901120,phase:1,pass,nolog,setvar:'tx.paranoia_level=1'"
SecAction "id:901200,phase:1,pass,nolog,setvar:'tx.anomaly_score=0',setvar:'tx.anomaly_score_pl1=0',\\
  setvar:'tx.anomaly_score_pl2=0',setvar:'tx.outbound_anomaly_score=0',setvar:'tx.outbound_anomaly_score_pl1=0'"
`,
  'rules/REQUEST-910-IP-REPUTATION.conf': 'SecRule REMOTE_ADDR "@rbl names.invalid" "id:910140,phase:2,pass,nolog"\n',
  'rules/REQUEST-913-SCANNER-DETECTION.conf': `SecRule REQUEST_HEADERS:User-Agent "@contains prober" \\
    "id:913100,\\
    phase:1,\\
    block,\\
    tag:'${family}',\\
    setvar:'tx.anomaly_score_pl1=+5'"
`,
  'rules/REQUEST-920-PROTOCOL-ENFORCEMENT.conf': `SecRule ARGS:file "@rx (?<!&(?:[aA]uml)|&(?:amp));|['\\"=]" \\
    "id:920120,\\
    phase:2,\\
    block,\\
    tag:'${family}',\\
    setvar:'tx.anomaly_score_pl1=+5'"
SecRule REQUEST_HEADERS:Accept "!@rx ^[^;]+(?:\\s*+;\\s*+${parameter})*$" \\
    "id:920600,\\
    phase:1,\\
    block,\\
    tag:'${family}',\\
    setvar:'tx.anomaly_score_pl1=+5'"
`,
  'rules/REQUEST-942-APPLICATION-ATTACK-SQLI.conf': `SecRule ARGS "@contains select" \\
    "id:942100,\\
    phase:2,\\
    block,\\
    tag:'${family}',\\
    setvar:'tx.anomaly_score_pl1=+5'"
SecRule TX:PARANOIA_LEVEL "@lt 2" "id:942013,phase:2,pass,nolog,skipAfter:END-942"
SecRule ARGS "@rx (?i:\\b([\\d\\w]+)\\b(?:=(?:\\b\\1\\b)|!=(?!\\b\\1\\b)\\w+))" \\
    "id:942130,\\
    phase:2,\\
    block,\\
    capture,\\
    t:none,t:urlDecodeUni,t:replaceComments,\\
    tag:'${family}',\\
    setvar:'tx.anomaly_score_pl2=+5'"
SecRule ARGS "@rx [^?=\\w(]++\\w" "id:942260,phase:2,block,tag:'${family}',setvar:'tx.anomaly_score_pl2=+5'"
SecMarker "END-942"
`,
  'rules/REQUEST-949-BLOCKING-EVALUATION.conf': `SecAction \\
  "id:949060,phase:2,pass,nolog,setvar:'tx.anomaly_score=+%{tx.anomaly_score_pl1}'"
SecRule TX:PARANOIA_LEVEL "@ge 2" \\
  "id:949061,phase:2,pass,nolog,setvar:'tx.anomaly_score=+%{tx.anomaly_score_pl2}'"
SecRule TX:ANOMALY_SCORE "@ge %{tx.inbound_anomaly_score_threshold}" "id:949110,phase:2,deny,log"
`,
  'rules/RESPONSE-950-DATA-LEAKAGES.conf': `SecRule RESPONSE_HEADERS:X-Leak "@rx ." \\
    "id:950100,phase:3,block,tag:'${family}',setvar:'tx.outbound_anomaly_score_pl1=+4'"
`,
};
const reader: SourceReader = {
  read: (path) => files[path.replace(/^crs\//, '')] ?? null,
  glob: (pattern) =>
    Object.keys(files)
      .filter((name) => pattern.endsWith('rules/*.conf') && name.startsWith('rules/'))
      .map((name) => `crs/${name}`),
};

interface Asked {
  readonly uri: string;
  readonly headers?: readonly string[];
  readonly answer?: readonly string[];
}

/** A GET request through the interpreter, under settings, on a rule set. */
function inspectorOf(directory: string, from: SourceReader, settings: object): (asked: Asked) => Verdict {
  const loaded = loadCoreRuleSet(directory, from);
  if (loaded.crs === null) throw new Error(formatDiagnostics(loaded.diagnostics));
  const { policy, diagnostics } = resolvePolicy(requireSettings(settings), loaded.crs);
  if (policy === null) throw new Error(formatDiagnostics(diagnostics));
  const compiled = compileProgram(renderPolicy(policy), { reader: { ...diskReader, glob: from.glob } });
  if (compiled.program === null) throw new Error(formatDiagnostics(compiled.diagnostics));
  const inspector = createInterpreter(compiled.program);
  return ({ uri, headers = [], answer }) => {
    const transaction = inspector.begin(
      {
        method: 'GET',
        uri,
        protocol: 'HTTP/1.1',
        headers: ['Host', 'a.test', 'User-Agent', 'Mozilla/5.0', 'Accept', '*/*', ...headers],
        clientIp: '192.0.2.1',
        clientPort: 1,
        serverIp: '192.0.2.2',
        serverPort: 80,
      },
      { uniqueId: 'x', nowMs: 0, store: createMemoryStore() },
    );
    const goesOn = inspector.requestHeaders(transaction) === null && inspector.requestBody(transaction, null) === null;
    if (goesOn && answer !== undefined)
      inspector.responseHeaders(transaction, { status: 200, protocol: 'HTTP/1.1', headers: [...answer] });
    return inspector.finish(transaction);
  };
}
const ids = (verdict: Verdict): number[] => verdict.matched.map(({ rule }) => rule.id);

t.test('8.1: which versions the settings support', async (t) => {
  t.equal(generationOf('4.25.1')?.name, '4');
  t.equal(generationOf('3.3.7')?.name, '3.3');
  for (const version of ['3.2.0', '3.30.1', '5.0.0', '40.1.0', '']) t.equal(generationOf(version), null, version);
  t.equal(supportedVersionIn('crs', reader), '3.3.9');
  const old = { ...reader, read: () => `SecComponentSignature "${family}/3.2.1"` };
  t.equal(supportedVersionIn('crs', old), null);
  t.match(loadCoreRuleSet('crs', old).diagnostics, [
    { code: 'GH-C7003', message: /4\.x or 3\.3\.x \(it says 3\.2\.1\)/ },
  ]);
  t.match(supportedVersions, /4\.x or 3\.3\.x/);
});

t.test('8.1: rules of 3.3 keep their lines, and get the tags of version 4', async (t) => {
  const { crs } = loadCoreRuleSet('crs', reader);
  t.match(crs, { version: '3.3.9', setupVersion: 339 });
  t.notOk(
    crs?.rules.some(({ path }) => path.includes('910')),
    'what asks name servers is left out',
  );
  for (const { path, text } of crs?.rules ?? []) {
    const before = files[path.replace('crs/', '')] ?? '';
    t.equal(text.split('\n').length, before.split('\n').length, path);
    for (const id of before.match(/id:\d+/g) ?? []) t.ok(text.includes(id), `${id} is there`);
  }
  t.ok(crs?.tags.has(`${family}/ATTACK-SQLI`) && crs.tags.has(`${family}/DATA-LEAKAGES`));
});

t.test('8.1: paranoia, thresholds, scores and categories of the settings hold on 3.3', async (t) => {
  const usual = inspectorOf('crs', reader, {});
  t.match(usual({ uri: '/?q=select' }), { kind: 'block', inboundScore: 5, interruption: { ruleId: 949110 } });
  t.match(usual({ uri: '/?q=lamp' }), { kind: 'pass', inboundScore: 0 });
  t.match(inspectorOf('crs', reader, { inbound_threshold: 9 })({ uri: '/?q=select' }), {
    kind: 'pass',
    inboundScore: 5,
  });
  t.equal(usual({ uri: '/?q=1=1' }).kind, 'pass', 'level 2 is not in force');
  const second = inspectorOf('crs', reader, { paranoia_level: 2 });
  for (const [query, expected] of [
    ['1=1', [942130]],
    ['Ab=aB', [942130]],
    ['1=2', []],
    ['1!=2', [942131]],
    ['1!=1', []],
  ] as const)
    t.same(
      ids(second({ uri: `/?q=${query}` })).filter((id) => [942130, 942131].includes(id)),
      expected,
      query,
    );
  t.match(second({ uri: '/?q=1=1' }), { kind: 'block', inboundScore: 5 });
  t.ok(ids(second({ uri: '/?q=%23%23a' })).includes(942260), 'a possessive run');
  t.equal(inspectorOf('crs', reader, { categories: { sqli: { enabled: false } } })({ uri: '/?q=select' }).kind, 'pass');
  const open = inspectorOf('crs', reader, { categories: { sqli: { path_exclusions: ['/open'] } } });
  t.equal(open({ uri: '/open?q=select' }).kind, 'pass');
  t.equal(open({ uri: '/other?q=select' }).kind, 'block');
  const byTag = [{ id: 1_009_500, tag: `${family}/ATTACK-SQLI`, target: 'ARGS:q', path: null }];
  t.equal(inspectorOf('crs', reader, { rule_exclusions: byTag })({ uri: '/?q=select' }).kind, 'pass', 'by tag');
});

t.test('8.1: what 3.3 writes in another way matches the same', async (t) => {
  const inspect = inspectorOf('crs', reader, {});
  for (const [file, expected] of [
    ['a.txt', false],
    ['b%26auml;c', false],
    ['b%26amp;%26Auml;', false],
    ['b;c', true],
    ['%26amp;;', true],
    ['%26um;', true],
    ["it's", true],
    ['a%3Db', true],
    [';', true],
    ['%26amp', false],
  ] as const)
    t.equal(ids(inspect({ uri: `/?file=${file}` })).includes(920120), expected, file);
  const accept = (value: string): boolean => ids(inspect({ uri: '/', headers: ['Accept', value] })).includes(920600);
  for (const [value, expected] of [
    ['text/html', false],
    ['text/html; charset=utf-8', false],
    ['text/html; q=1', false],
    ['text/html; charset=utf-7', true],
    ['text/html;   charset=utf-7', true],
    ['text/html; q=   ', true],
  ] as const)
    t.equal(accept(value), expected, value);
});

t.test('8.1: names of version 4 in rules of the settings, early blocking', async (t) => {
  const text = 'SecRule ARGS:q "@streq own" "id:1000001,phase:2,pass,setvar:tx.inbound_anomaly_score_pl1=+5"';
  const rule = { id: 1_000_001, name: 'own', kind: 'raw', seclang: text, action: 'allow' };
  const own = inspectorOf('crs', reader, { custom_rules: [rule] });
  t.match(own({ uri: '/?q=own' }), { inboundScore: 5 });
  const early = inspectorOf('crs', reader, { early_blocking: true });
  const prober = ['User-Agent', 'prober'];
  t.match(early({ uri: '/', headers: prober }), { kind: 'block', interruption: { ruleId: 949111, phase: 1 } });
  t.match(inspectorOf('crs', reader, {})({ uri: '/', headers: prober }), {
    interruption: { ruleId: 949110, phase: 2 },
  });
  t.match(early({ uri: '/', answer: ['X-Leak', 'yes'] }), {
    kind: 'block',
    outboundScore: 4,
    interruption: { ruleId: 959101, phase: 3 },
  });
  t.equal(inspectorOf('crs', reader, {})({ uri: '/', answer: ['X-Leak', 'yes'] }).outboundScore, 4);
});

const real = findCrsOf('3.3');
const skip =
  real === null
    ? 'needs OWASP CRS 3.3: Debian has it (modsecurity-crs); unpack it below data/crs, or set CRS_DIR'
    : false;
t.test('8.1: the real 3.3 at every level, with every category off, and its probes', { skip }, async (t) => {
  const { crs } = loadCoreRuleSet(real ?? '', diskReader);
  if (crs === null) throw new Error('it is there');
  const programOf = (settings: object) => {
    const { policy, diagnostics } = resolvePolicy(requireSettings(settings), crs);
    t.same(diagnostics, [], 'no tag is missed');
    const compiled = compileProgram(policy === null ? [] : renderPolicy(policy), { reader: diskReader });
    t.equal(formatDiagnostics(compiled.diagnostics.filter(({ severity }) => severity !== 'info')), '');
    if (compiled.program === null) throw new Error('it does not compile');
    return compiled.program;
  };
  const detecting = (program: ReturnType<typeof programOf>): number =>
    program.items.filter((item) => item.kind === 'rule' && item.tags.some((tag) => /^OWASP_CRS\/[A-Z]/.test(tag)))
      .length;
  const program = programOf({ paranoia_level: 4 });
  t.ok(detecting(program) >= 220, `${detecting(program)} detection rules`);
  const off = Object.fromEntries(categoryKeys.map((key) => [key, { enabled: false }]));
  t.equal(detecting(programOf({ categories: off })), 0);
  const probes = selectProbes(program, foldConstants(program));
  t.equal(probes.length, 5, 'four attacks and a page view');
  t.same(probes.at(-1)?.expectAnyOf, []);
  const inspect = inspectorOf(real ?? '', diskReader, {});
  t.match(inspect({ uri: "/search?q=1'%20OR%20'1'='1'%20--%20" }), { kind: 'block', interruption: { ruleId: 949110 } });
  t.ok(inspect({ uri: "/search?q=1'%20OR%20'1'='1'%20--%20" }).inboundScore >= 5);
  t.match(inspect({ uri: '/search?q=lamp' }), { kind: 'pass', inboundScore: 0 });
});
