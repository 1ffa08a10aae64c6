// The sandbox's thread: checks of rules, rule tests and verifications of exclusions. sandbox.ts starts it for one job
// and ends it then.
import { parentPort, workerData } from 'node:worker_threads';
import { suggestExclusion } from '../suggestions/suggest-exclusion.js';
import { checkRulesOfSettings } from './check-settings.js';
import { runRuleTests } from './rule-tests.js';
import type { SandboxJob, SandboxReply } from './sandbox.js';

function run(job: SandboxJob): SandboxReply {
  switch (job.kind) {
    case 'tests':
      return { kind: 'tests', results: job.jobs.map(runRuleTests) };
    case 'rules':
      return { kind: 'rules', found: checkRulesOfSettings(job.rules, job.changed) };
    case 'exclusion':
      return { kind: 'exclusion', suggestion: suggestExclusion(job.request) };
  }
}

parentPort?.postMessage(run(workerData as SandboxJob));
