// The CRS regression suite in process, with the interpreter: what a change to any part of the engine must not break.
// Rules and cases live outside the repository; without them the test says so and passes.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { createInterpreter } from '#engine/compile';
import { findCrsOf, withoutVersion4 } from '#compiler/testing/core-rules';
import { sharedDirectory } from '../environment/directories.js';
import { loadRules } from '../rules/load-rules.js';
import { formatFtwReport, readFtwCases, runFtwCases } from './ftw-suite.js';
import { judgeStage, type FtwObserved, type FtwOutput } from './ftw-judge.js';

const shared = sharedDirectory();

/** Tests of the suite that this engine answers otherwise, with the reason. Only ever remove lines. */
const knownDifferences: Readonly<Record<string, string>> = {
  '920620-1':
    'the suite expects a server that merges two Content-Type headers into one, as Apache does; both arrive here ' +
    '(as with nginx), and the rule against them matches',
};

const crs = findCrsOf('4');
const reason = withoutVersion4 || 'needs ../shared/corpora/ftw (GATEHOUSE_SHARED names another place)';
const cases = join(shared, 'corpora/ftw/cases.jsonl');
t.test('CRS regression suite', { skip: crs === null || !existsSync(cases) ? reason : false }, (t) => {
  const setup = join(shared, 'corpora/ftw/ci-setup');
  const { program } = loadRules([
    join(setup, 'modsecurity.ci.conf'),
    join(setup, 'crs-setup.ci.conf'),
    join(crs ?? '', 'rules/*.conf'),
  ]);
  const report = runFtwCases(createInterpreter(program), program.files, readFtwCases(cases));
  t.ok(report.tests >= 3381, `${report.tests} tests ran`);
  t.ok(report.stages >= 3382, `${report.stages} stages ran`);
  t.same(
    report.failures.map(({ id }) => id),
    Object.keys(knownDifferences),
    formatFtwReport(report).split('\n').slice(-5).join('; '),
  );
  t.ok(report.passed / report.tests >= 0.998, 'at least 99.8 %');
  t.equal(report.files.size, 22, 'rule files');
  for (const [id, reason] of Object.entries(knownDifferences)) t.comment(`different: ${id}: ${reason}`);
  t.end();
});

const seen: FtwObserved = {
  hasTransportError: false,
  status: 200,
  response: 'HTTP/1.1 200 OK\r\n\r\nhello',
  logLines: ['[id "1"] [msg "one"]', '[id "2"]'],
  ids: [1, 2],
};
const judgements: readonly {
  readonly name: string;
  readonly output: FtwOutput;
  readonly observed?: Partial<FtwObserved>;
  readonly fails: RegExp | null;
}[] = [
  { name: 'nothing expected', output: {}, fails: null },
  { name: 'expected ids are there', output: { log: { expect_ids: [1, 2] } }, fails: null },
  { name: 'an expected id is missing', output: { log: { expect_ids: [3] } }, fails: /expected 3.*triggered: 1 2/ },
  { name: 'an unwanted id', output: { log: { no_expect_ids: [2] } }, fails: /^2 matched/ },
  { name: 'isolated with two ids', output: { isolated: true, log: { expect_ids: [1] } }, fails: /exactly one/ },
  { name: 'a log line matches', output: { log: { match_regex: 'id "1".*one' } }, fails: null },
  {
    name: 'the pattern must match within one line',
    output: { log: { match_regex: 'one.*id "2"' } },
    fails: /no log line/,
  },
  { name: 'a log line must not match', output: { log: { no_match_regex: 'msg' } }, fails: /a log line matches/ },
  { name: 'status', output: { status: 400 }, fails: /expected status 400, got 200/ },
  { name: 'status 0 is not checked', output: { status: 0 }, fails: null },
  { name: 'response text', output: { response_contains: 'hel+o$' }, fails: null },
  { name: 'response text missing', output: { response_contains: 'bye' }, fails: /does not match/ },
  {
    name: 'an error is expected and nothing else is checked',
    output: { expect_error: true, status: 400 },
    observed: { hasTransportError: true },
    fails: null,
  },
  { name: 'an expected error does not come', output: { expect_error: true }, fails: /transport error/ },
  { name: 'an error nobody expected', output: {}, observed: { hasTransportError: true }, fails: /no status line/ },
];
t.test('assertions mean what go-ftw means', (t) => {
  for (const { name, output, observed, fails } of judgements) {
    const reason = judgeStage(output, { ...seen, ...observed });
    if (fails === null) t.equal(reason, null, name);
    else t.match(reason, fails, name);
  }
  t.end();
});
