import t from 'tap';
import { testMsMax } from '../testing/waiting.js';
import type { RuleTestJob } from './rule-tests.js';
import { createRuleSandbox } from './sandbox.js';

t.setTimeout(testMsMax);

const job: RuleTestJob = {
  id: 1_000_001,
  text: 'SecRule ARGS "@contains grue" "id:1000001,phase:2,deny"',
  tests: [{ name: 'a grue', method: 'GET', uri: '/?q=grue', headers: [], body: '', expect: 'match' }],
};

t.test('S3: a rule is not blamed for time that the machine gave to others', async (t) => {
  const starved = createRuleSandbox({ testTimeoutMs: 1, patienceMs: testMsMax, cpuMs: () => 0 });
  t.match(await starved.runTests(job), [{ passed: true }], 'its time is processor time, of which it had none yet');
});

t.test('S3: a job that has had its time is ended, and one that gets none is told apart from it', async (t) => {
  let usedMs = 0;
  const working = createRuleSandbox({ testTimeoutMs: 1, patienceMs: testMsMax, cpuMs: () => (usedMs += 10) });
  await t.rejects(working.runTests(job), { code: 'validation_failed', message: /took longer/ });
  const hopeless = createRuleSandbox({ testTimeoutMs: 1, patienceMs: 1, cpuMs: () => 0 });
  await t.rejects(hopeless.runTests(job), { code: 'busy', status: 503, message: /too much to do/ });
});
