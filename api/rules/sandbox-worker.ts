// The lab's thread: rule tests and verifications of exclusions. Started by lab.ts for one job and ended after it.
import { parentPort, workerData } from 'node:worker_threads';
import { runRuleTests } from './rule-tests.js';
import { suggestExclusion } from '../suggestions/suggest-exclusion.js';
import type { LabJob, LabReply } from './sandbox.js';

const job = workerData as LabJob;
const reply: LabReply =
  job.kind === 'tests'
    ? { kind: 'tests', results: job.jobs.map(runRuleTests) }
    : { kind: 'exclusion', suggestion: suggestExclusion(job.request) };
parentPort?.postMessage(reply);
