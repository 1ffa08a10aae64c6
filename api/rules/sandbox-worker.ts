// The sandbox's thread: rule tests and verifications of exclusions. sandbox.ts starts it for one job and ends it then.
import { parentPort, workerData } from 'node:worker_threads';
import { suggestExclusion } from '../suggestions/suggest-exclusion.js';
import { runRuleTests } from './rule-tests.js';
import type { SandboxJob, SandboxReply } from './sandbox.js';

const job = workerData as SandboxJob;
const reply: SandboxReply =
  job.kind === 'tests'
    ? { kind: 'tests', results: job.jobs.map(runRuleTests) }
    : { kind: 'exclusion', suggestion: suggestExclusion(job.request) };
parentPort?.postMessage(reply);
