// The thread that reads specifications, and compares them with traffic: a document of a megabyte takes a second, and no
// request waits for that. One job after the other, as reading-thread.ts sends them.
import { parentPort } from 'node:worker_threads';
import type { ApiGap, DeclaredOperation } from '#vm-manager';
import { toEndpoint, type Endpoint } from '../../../inventory/index.js';
import type { RefusedPath } from '../../../posture/gaps/report.js';
import { readSpecification, type Specification } from '../../../spec/document/read.js';
import { headOf } from '../../../spec/store.js';
import type { PlacedDocument, ReadingJob, ReadingReply } from './jobs.js';
import { countsOf, declaredBy, lintOf, postureOf, serversOf } from './looks.js';

/** Documents that stay read: the texts of these together, and so many. */
const textMax = 32 * 1024 * 1024;
const documentsMax = 64;

const known = new Map<string, { readonly specification: Specification; readonly size: number }>();

/** With each question: those of the question stay, of the others the oldest go. */
function forget(wanted: ReadonlySet<string>): void {
  let all = [...known.values()].reduce((sum, one) => sum + one.size, 0);
  for (const [digest, one] of known) {
    if (all <= textMax && known.size <= documentsMax) return;
    if (wanted.has(digest)) continue;
    known.delete(digest);
    all -= one.size;
  }
}

/** Throws where this release refuses it. */
function take(sha256: string, body: string): Specification {
  const before = known.get(sha256);
  if (before !== undefined) return before.specification;
  const result = readSpecification(body);
  if (result.kind === 'refused') {
    const [first] = result.problems;
    throw new Error(`line ${first?.line}: ${first?.path} ${first?.reason}; send the document again`);
  }
  known.set(sha256, { specification: result.specification, size: body.length });
  return result.specification;
}

function require(sha256: string): Specification {
  const found = known.get(sha256);
  if (found === undefined) throw new Error(`the specification ${sha256} was not sent`);
  return found.specification;
}

/** What the jobs of one question share. */
let asked: {
  readonly site: string;
  readonly documents: readonly PlacedDocument[];
  readonly endpoints: Endpoint[];
  readonly refused: RefusedPath[];
} | null = null;
let gaps: readonly ApiGap[] = [];
let operations: readonly DeclaredOperation[] = [];

function requireAsked() {
  if (asked === null) throw new Error('no site was named');
  return asked;
}

function run(job: ReadingJob): ReadingReply {
  switch (job.kind) {
    case 'read': {
      const result = readSpecification(job.text);
      if (result.kind === 'refused') return { kind: 'problems', problems: result.problems.slice(0, 100) };
      const head = headOf(job.text, result.specification);
      // it is asked for next
      forget(new Set([head.sha256]));
      known.set(head.sha256, { specification: result.specification, size: job.text.length });
      return { kind: 'head', head };
    }
    case 'known':
      forget(new Set(job.digests));
      return { kind: 'missing', digests: job.digests.filter((digest) => !known.has(digest)) };
    case 'take':
      // one that an older release took and this one refuses declares nothing, and spoils nothing of the others
      try {
        take(job.sha256, job.body);
        return { kind: 'done' };
      } catch {
        return { kind: 'missing', digests: [job.sha256] };
      }
    case 'lint':
      gaps = lintOf(take(job.sha256, job.body).model, job.body);
      return { kind: 'count', total: gaps.length, of: countsOf(gaps) };
    case 'servers':
      return { kind: 'urls', urls: serversOf(require(job.sha256).document) };
    case 'declared':
      operations = declaredBy(job.site, job.document, require(job.document.sha256).model);
      return { kind: 'count', total: operations.length, of: countsOf([]) };
    case 'begin':
      asked = { site: job.site, documents: job.documents, endpoints: [], refused: [] };
      return { kind: 'done' };
    case 'endpoints':
      requireAsked().endpoints.push(...job.rows.map(toEndpoint));
      return { kind: 'done' };
    case 'refused':
      requireAsked().refused.push(...job.rows);
      return { kind: 'done' };
    case 'posture': {
      const { site, documents, endpoints, refused } = requireAsked();
      asked = null;
      const specifications = documents.map((one) => ({ ...one, model: require(one.sha256).model }));
      const found = postureOf(specifications, { site, endpoints, refused }, job.nowMs);
      gaps = found.gaps;
      return { kind: 'figures', figures: found.figures };
    }
    case 'gaps':
      return { kind: 'gaps', gaps: gaps.slice(job.from, job.from + job.count) };
    case 'operations':
      return { kind: 'operations', operations: operations.slice(job.from, job.from + job.count) };
  }
}

const port = parentPort;
port?.on('message', (job: ReadingJob) => {
  try {
    port.postMessage(run(job));
  } catch (error) {
    port.postMessage({ kind: 'failed', why: error instanceof Error ? error.message : String(error) });
  }
});
