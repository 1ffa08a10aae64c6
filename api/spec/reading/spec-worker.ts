// The thread that reads specifications: one of a megabyte takes seconds as YAML, and no request waits for that.
import { parentPort } from 'node:worker_threads';
import { compareSpecifications } from '../compare/compare.js';
import { readSpecification, type Specification } from '../document/read.js';
import { digestOfText, headOf } from '../store.js';
import type { SpecProblem } from '../document/problem.js';
import type { SpecJob, SpecReply } from './jobs.js';

/** The jobs of one upload ask for the same texts. */
const keptMax = 4;
const kept = new Map<string, Specification>();

class Refused extends Error {
  constructor(readonly problems: readonly SpecProblem[]) {
    super('the document is refused');
  }
}

function read(text: string): Specification {
  const digest = digestOfText(text);
  const known = kept.get(digest);
  if (known !== undefined) return known;
  const result = readSpecification(text);
  if (result.kind === 'refused') throw new Refused(result.problems.slice(0, 100));
  if (kept.size >= keptMax) kept.delete(kept.keys().next().value ?? '');
  kept.set(digest, result.specification);
  return result.specification;
}

function run(job: SpecJob): SpecReply {
  switch (job.kind) {
    case 'head': {
      const specification = read(job.text);
      return { kind: 'head', head: headOf(job.text, specification), problems: specification.problems.slice(0, 1000) };
    }
    case 'whole':
      return { kind: 'whole', specification: read(job.text) };
    case 'describe':
      return {
        kind: 'described',
        operations: read(job.text).model.operations.map((one) => ({
          ...{ method: one.method, path: one.path, base_paths: [...one.basePaths], operation_id: one.id },
          ...{ summary: one.summary, deprecated: one.isDeprecated },
          security: one.security === null ? null : one.security.map((names) => [...names]),
        })),
      };
    case 'compare':
      return { kind: 'compared', changes: compareSpecifications(read(job.from).model, read(job.to).model) };
  }
}

const port = parentPort;
port?.on('message', (job: SpecJob) => {
  try {
    port.postMessage(run(job));
  } catch (error) {
    if (error instanceof Refused) port.postMessage({ kind: 'refused', problems: error.problems });
    else port.postMessage({ kind: 'failed', why: error instanceof Error ? error.message : String(error) });
  }
});
