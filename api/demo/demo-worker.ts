// The demo's thread: the core rule set with the default settings, compiled once, then request after request. It is
// given the directory of the rules and nothing else: no database, no settings, no environment (demo-thread.ts).
import { parentPort, workerData } from 'node:worker_threads';
import { compileProgram, createTrial, diskReader, loadCoreRuleSet, renderPolicy, resolvePolicy } from '#compiler';
import { defaultSettings } from '#settings';
import { createExplainer } from './explain.js';
import type { DemoQuestion, DemoReply, DemoWorkerData } from './demo-thread.js';

function prepare({ crsDirectory }: DemoWorkerData) {
  const settings = defaultSettings();
  const { crs } = loadCoreRuleSet(crsDirectory, diskReader);
  const policy = crs === null ? null : resolvePolicy(settings, crs).policy;
  const program = policy == null ? null : compileProgram(renderPolicy(policy, []), { reader: diskReader }).program;
  if (program === null) throw new Error('the rule set of the demo does not compile');
  return createExplainer(program, createTrial(program), settings.inbound_threshold);
}

const explain = prepare(workerData as DemoWorkerData);
parentPort?.on('message', ({ request }: DemoQuestion) => {
  const reply: DemoReply = explain(request);
  parentPort?.postMessage(reply);
});
