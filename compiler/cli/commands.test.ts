// The commands themselves, on rules and requests of their own.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { emitArtifact } from '../artifact/emit.js';
import { runExplain } from './explain.js';
import { runFtw } from './ftw.js';
import { main } from './index.js';
import { runInspect } from './inspect.js';
import { diskReader, expandGlob, loadRules } from './rule-files.js';

const rules = `
SecRuleEngine On
SecRequestBodyAccess On
SecRule ARGS "@contains attack" "id:1,phase:2,deny,status:403,log,msg:'seen %{MATCHED_VAR_NAME}',severity:CRITICAL,tag:'a/b',setvar:tx.score=+5,chain"
  SecRule REQUEST_METHOD "@streq POST"
SecRule RESPONSE_STATUS "@eq 500" "id:2,phase:3,pass,log,msg:'upstream failed'"
SecAction "id:3,phase:5,pass,nolog"
`;

function setup(t: { testdir: (content: Record<string, never>) => string }): {
  readonly at: (name: string, text?: string) => string;
} {
  const folder = t.testdir({});
  return {
    at: (name, text) => {
      const path = join(folder, name);
      if (text !== undefined) writeFileSync(path, text, 'latin1');
      return path;
    },
  };
}

/** What a command prints, and its exit code. */
async function captured(run: () => Promise<number>): Promise<{ code: number; text: string }> {
  const lines: string[] = [];
  const original = console.log;
  console.log = (...parts: unknown[]): void => {
    lines.push(parts.join(' '));
  };
  try {
    return { code: await run(), text: lines.join('\n') };
  } finally {
    console.log = original;
  }
}

const engine = ['--engine', 'interpreter'];
const attack =
  'POST /p HTTP/1.1\r\nHost: a.test\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 10\r\n\r\nq=attack\xe9x';

t.test('inspect writes one row for each request, in order', async (t) => {
  const { at } = setup(t);
  const requests = [
    { id: 'wire', wire_b64: Buffer.from(attack, 'latin1').toString('base64'), client_ip: '192.0.2.7' },
    {
      id: 'fields',
      method: 'POST',
      uri: '/',
      headers: [['Content-Type', 'application/x-www-form-urlencoded']],
      body: 'q=no',
    },
    { id: 'answered', method: 'GET', uri: '/', headers: [], response: { status: 500, headers: [['A', 'b']] } },
    {
      id: 'reflected',
      method: 'POST',
      uri: '/reflect',
      headers: [['Content-Type', 'application/json']],
      body: '{"status":500}',
    },
    { id: 'empty' },
  ];
  const out = at('out.jsonl');
  const input = at('in.jsonl', `${requests.map((row) => JSON.stringify(row)).join('\n')}\nnot json\nnull\n[]\n`);
  t.equal(
    await runInspect(['--rules', at('r.conf', rules), '--requests', input, ...engine, '--reflect', '-o', out]),
    0,
  );
  const rows = readFileSync(out, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  t.equal(rows.length, 8);
  t.match(rows[0], {
    id: 'wire',
    matched_ids: [1],
    matched: [
      {
        id: 1,
        phase: 2,
        msg: 'seen REQUEST_METHOD',
        severity: 2,
        variable: 'REQUEST_METHOD',
        value: 'POST',
        tags: ['a/b'],
      },
    ],
    tx: { score: '5' },
    interruption: { rule_id: 1, action: 'deny', status: 403, phase: 2, data: '' },
    error: null,
  });
  t.match(rows[1], { id: 'fields', matched_ids: [], interruption: null, error: null });
  t.match(rows[2], { id: 'answered', matched_ids: [2] });
  t.match(rows[3], { id: 'reflected', matched_ids: [2] });
  t.match(rows[4], { id: 'empty', error: /neither wire_b64 nor/ });
  t.match(rows[5], { error: /not a JSON line/ });
  for (const row of rows.slice(6)) t.match(row, { error: /neither wire_b64 nor/ });
  t.ok(rows.every((row) => typeof row['us'] === 'number'));
});

t.test('inspect can stop early', async (t) => {
  const { at } = setup(t);
  const out = at('out.jsonl');
  const input = at('in.jsonl', JSON.stringify({ id: 1, wire_b64: Buffer.from(attack, 'latin1').toString('base64') }));
  await runInspect(['--rules', at('r.conf', rules), '--requests', input, ...engine, '--phases', '1', '-o', out]);
  t.match(JSON.parse(readFileSync(out, 'utf8')), { matched_ids: [], interruption: null });
});

t.test('explain tells what matched and why', async (t) => {
  const { at } = setup(t);
  const told = await captured(() => runExplain([at('request', attack), '--rules', at('r.conf', rules), ...engine]));
  t.equal(told.code, 0);
  for (const part of [
    'POST /p HTTP/1.1',
    'body of 10 bytes read as URLENCODED',
    '1  phase 2  CRITICAL  seen REQUEST_METHOD',
    'r.conf:4',
    'Verdict: BLOCK: deny, status 403, by rule 1 in phase 2',
  ])
    t.ok(told.text.includes(part), part);
  const json = await captured(() => runExplain([at('request'), '--rules', at('r.conf'), ...engine, '--json']));
  t.match(JSON.parse(json.text), { verdict: 'block', matched: [{ id: 1, severity: 'CRITICAL' }], phases: [1, 2, 5] });
  const benign = await captured(() =>
    runExplain([at('benign', 'GET /\x1b[2J HTTP/1.1\r\nHost: a\r\n\r\n'), '--rules', at('r.conf'), ...engine]),
  );
  t.ok(
    benign.text.includes('No rule matched.') && benign.text.includes('\\x1b') && !benign.text.includes('\x1b'),
    'a request cannot steer the terminal',
  );
});

t.test('explain asks the rules that serve; before any did, those of the settings', async (t) => {
  const { at } = setup(t);
  for (const folder of ['data', 'data/artifacts']) mkdirSync(at(folder));
  const { GATEHOUSE_DATA } = process.env;
  process.env['GATEHOUSE_DATA'] = at('data');
  t.teardown(
    () =>
      void (GATEHOUSE_DATA === undefined
        ? delete process.env['GATEHOUSE_DATA']
        : (process.env['GATEHOUSE_DATA'] = GATEHOUSE_DATA)),
  );
  const { program } = loadRules([at('r.conf', rules)]);
  const { bytes, hash } = await emitArtifact(program);
  writeFileSync(at(`data/artifacts/${hash}`), bytes);
  at('data/settings.json', '{"mode":"Maybe"}');
  at('data/current.json', JSON.stringify({ id: 7, sha256: hash }));
  const told = await captured(() => runExplain([at('request', attack), ...engine]));
  t.match(told.text, /by rule 1 in phase 2\nRules: generation 7 of .*current\.json$/);
  t.match(JSON.parse((await captured(() => runExplain([at('request'), ...engine, '--json']))).text), {
    rules: /^generation 7/,
    verdict: 'block',
  });
  at('data/current.json', JSON.stringify({ id: 8, sha256: '0'.repeat(64) }));
  await t.rejects(
    runExplain([at('request'), ...engine]),
    /current\.json: the rules that it names cannot be read \(ENOENT.*Give --settings/,
  );
  at('data/current.json', JSON.stringify({ id: 9, sha256: '' }));
  await t.rejects(runExplain([at('request'), ...engine]), /settings\.json|no rule set/, 'it serves without rules');
});

t.test('ftw reports each file and each failure', async (t) => {
  const { at } = setup(t);
  const wire = Buffer.from(attack, 'latin1').toString('base64');
  const cases = [
    {
      id: '1-1',
      rule_id: 1,
      file: 'ONE/1.yaml',
      stages: [{ output: { log: { expect_ids: [1] }, status: 403 }, wire_b64: wire }],
    },
    {
      id: '1-2',
      rule_id: 1,
      file: 'ONE/1.yaml',
      stages: [{ output: { log: { no_expect_ids: [1] } }, wire_b64: wire }],
    },
    {
      id: '2-1',
      rule_id: 2,
      file: 'TWO/2.yaml',
      stages: [{ output: { log: { match_regex: 'id "1".*msg "seen REQUEST_METHOD"' } }, wire_b64: wire }],
    },
  ];
  const path = at('cases.jsonl', cases.map((one) => JSON.stringify(one)).join('\n'));
  const { code, text } = await captured(() =>
    runFtw(['--rules', at('r.conf', rules), '--cases', path, ...engine, '--report', at('report.json')]),
  );
  t.equal(code, 1);
  t.match(text, /ONE +1 passed +1 failed/);
  t.match(text, /FAILED 1-2 \(stage 1\): 1 matched and must not/);
  t.match(text, /2 of 3 tests passed/);
  t.match(JSON.parse(readFileSync(at('report.json'), 'utf8')), {
    engine: 'interpreter',
    tests: 3,
    passed: 2,
    failures: [{ id: '1-2' }],
  });
});

t.test('mistakes on the command line are told in words', async (t) => {
  const { at } = setup(t);
  const good = at('r.conf', rules);
  await t.rejects(runInspect(['--rules', good]), /needs --requests/);
  await t.rejects(
    runInspect(['--rules', good, '--requests', good, '-o', at('o'), '--phases', '2-3', ...engine]),
    /begins with 1/,
  );
  await t.rejects(runExplain([]), /one file/);
  await t.rejects(runExplain([good, '--rules', good, '--engine', 'fast']), /compiled or interpreter/);
  await t.rejects(runFtw(['--rules', good]), /--cases/);
  t.throws(() => loadRules([]), /No rules/);
  t.throws(() => loadRules([at('none*.conf')]), /no file matches/);
  t.throws(() => loadRules([at('bad.conf', 'SecRule ARGS "@nope x" "id:1"')]), /do not compile[^]*bad\.conf/);
});

t.test('files that cannot be used are told in one line, with the exit code of the help', async (t) => {
  const { at } = setup(t);
  const good = at('r.conf', rules);
  const bad = at('bad.conf', 'SecRule ARGS "@nope x" "id:1"');
  const requests = at('in.jsonl', '{"uri":"/"}\n');
  const folder = at('d');
  mkdirSync(folder);
  const missing = at('no/such');
  const inspect = ['inspect', '--rules', good, ...engine];
  const told: string[] = [];
  const { error } = console;
  console.error = (text: string): void => void told.push(text);
  t.teardown(() => void (console.error = error));
  const cases: [string[], number, RegExp][] = [
    [[...inspect, '--requests', missing, '-o', at('o')], 1, /inspect: ENOENT/],
    [[...inspect, '--requests', folder, '-o', at('o')], 1, /inspect: EISDIR/],
    [[...inspect, '--requests', requests, '-o', folder], 1, /inspect: EISDIR/],
    [[...inspect, '--requests', requests, '-o', missing], 1, /inspect: ENOENT/],
    [['explain', requests, '--rules', bad, ...engine], 1, /^gatehouse explain: The rules do not compile/],
    [['explain', missing, '--rules', good], 1, /cannot be read/],
    [['inspect', '--bogus'], 2, /--bogus/],
    [['nothing'], 2, /no command "nothing"/],
  ]; // prettier-ignore
  for (const [argv, code, expected] of cases) {
    told.length = 0;
    t.equal(await main(argv), code, argv.join(' '));
    t.match(told.join('\n'), expected);
    if (!argv.includes(bad)) t.equal(told.join('\n').split('\n').length, 1, 'one line');
  }
  for (const path of ['a\0b', 'x'.repeat(5000), folder, missing])
    t.equal(diskReader.read(path), null, `${JSON.stringify(path.slice(0, 20))} is absent`);
});

t.test('patterns sort by name', (t) => {
  const { at } = setup(t);
  mkdirSync(at('d'));
  for (const name of ['d/b.conf', 'd/a.conf', 'd/c.data', 'd/.hidden.conf']) at(name, '');
  t.same(expandGlob(at('d/*.conf')), [at('d/a.conf'), at('d/b.conf')]);
  t.same(
    expandGlob(at('d/?.*')),
    ['a.conf', 'b.conf', 'c.data'].map((name) => at(`d/${name}`)),
  );
  t.same(expandGlob(at('d/[!a-b].*')), [at('d/c.data')]);
  t.same(expandGlob(at('d/[ab].conf')), [at('d/a.conf'), at('d/b.conf')]);
  t.same(expandGlob(at('d/[z-a].conf')), []);
  at('d/[ab].conf', '');
  t.same(expandGlob(at('d/[ab].conf')), [at('d/[ab].conf')], 'a name with brackets is itself');
  mkdirSync(at('e'));
  t.same(expandGlob(at('*/a.conf')), [at('d/a.conf')], 'only where it exists');
  t.same(expandGlob(at('nothing.conf')), [at('nothing.conf')], 'a plain path is itself');
  t.end();
});
