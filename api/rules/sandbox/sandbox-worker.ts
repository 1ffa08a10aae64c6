// The sandbox's thread: checks of rules, rule tests and verifications of exclusions, one job after the other as
// sandbox-thread.ts sends them. A job leaves nothing behind that the next one could see.
import { parentPort } from 'node:worker_threads';
import { judgeMatch } from '#compiler';
import { suggestExclusion } from '../../suggestions/suggest-exclusion.js';
import { checkRulesOfSettings } from '../check-settings.js';
import { matchRecorded } from '../recorded.js';
import { runRuleTests } from '../rule-tests.js';
import type { SandboxJob, SandboxReply } from './sandbox.js';

function run(job: SandboxJob): SandboxReply {
  switch (job.kind) {
    case 'tests':
      return { kind: 'tests', results: job.jobs.map(runRuleTests) };
    case 'rules':
      return { kind: 'rules', found: checkRulesOfSettings(job.rules, job.changed) };
    case 'exclusion':
      return { kind: 'exclusion', suggestion: suggestExclusion(job.request) };
    case 'recorded':
      return { kind: 'recorded', found: matchRecorded(job.job) };
    case 'matches':
      return { kind: 'matches', judged: job.matches.map(({ ruleId, value }) => judgeMatch(ruleId, value)) };
  }
}

const port = parentPort;
port?.on('message', (job: SandboxJob) => port.postMessage(run(job)));
