import t from 'tap';
import { testMsMax } from '../../testing/waiting.js';
import type { RuleTestJob } from '../rule-tests.js';
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

t.test('a thread serves one job after the other, and no job sees what another one did', async (t) => {
  const sandbox = createRuleSandbox();
  const failing: RuleTestJob = { ...job, tests: job.tests.map((test) => ({ ...test, uri: '/?q=lamp' })) };
  const startedMs = performance.now();
  t.match(await sandbox.runTests(job), [{ passed: true }]);
  const firstMs = performance.now() - startedMs;
  for (let round = 0; round < 120; round += 1)
    t.match(await sandbox.runTests(round % 2 === 0 ? failing : job), [{ passed: round % 2 === 1 }], `${round}`);
  const laterMs = (performance.now() - startedMs - firstMs) / 120;
  t.ok(laterMs < firstMs / 2, `${laterMs.toFixed(1)} ms each after a first one of ${firstMs.toFixed(0)}`);
});

t.test('what was ended by the clock does not get the next job', async (t) => {
  let usedMs = 0;
  let isStrict = false;
  const sandbox = createRuleSandbox({ testTimeoutMs: 1, cpuMs: () => (isStrict ? (usedMs += 10) : 0) });
  t.match(await sandbox.runTests(job), [{ passed: true }]);
  isStrict = true;
  const many = Array.from({ length: 3000 }, () => job);
  await t.rejects(sandbox.runAll(many), { code: 'validation_failed' });
  isStrict = false;
  t.match(await sandbox.runTests(job), [{ passed: true }]);
});
