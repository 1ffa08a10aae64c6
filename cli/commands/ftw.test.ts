// `gatehouse ftw` on rules and cases of its own.
import { readFileSync } from 'node:fs';
import t from 'tap';
import { attack, captured, engine, rules, setup } from '../testing/rule-command.js';
import { runFtw } from './ftw.js';

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
