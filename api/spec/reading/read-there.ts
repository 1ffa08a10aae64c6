// Specifications as the rest of this process gets them: read in a thread of their own, never in the one that serves.
import { ApiError } from '../../http-kit/index.js';
import type { SpecChange } from '../compare/compare.js';
import type { SpecProblem } from '../document/problem.js';
import type { Specification } from '../document/read.js';
import { digestOfText, type SpecificationHead } from '../store.js';
import { JobThread } from './job-thread.js';
import type { DescribedOperation, SpecJob, SpecReply } from './jobs.js';

const worker = new URL('./spec-worker.js', import.meta.url);
/** Texts that somebody sends: a crowd of them is refused. */
const sent = new JobThread<SpecJob, SpecReply>({ name: 'gatehouse-sent-specifications', worker });
/** Texts that are stored, which were read before: an apply waits for them, however many ask, and users do not. */
const stored = new JobThread<SpecJob, SpecReply>({
  ...{ name: 'gatehouse-stored-specifications', worker },
  msMax: 120_000,
});

/** `unfit` with every problem. */
export function refusalOf(problems: readonly SpecProblem[]): ApiError {
  const shown = problems.slice(0, 3).map(({ line, path, reason }) => `line ${line}: ${path || 'it'} ${reason}`);
  return new ApiError('unfit', `The specification was not taken: ${shown.join('; ')}.`, {
    errors: problems.map(({ path, line, reason, fix }) => ({ path, reason: `${reason} (line ${line})`, fix })),
  });
}

/** What is stored beside a text that was sent, and its warnings. Throws `unfit` with every problem, and `busy`. */
export async function headOfSent(
  text: string,
): Promise<{ readonly head: SpecificationHead; readonly problems: readonly SpecProblem[] }> {
  const reply = await sent.with(async (ask) => ask({ kind: 'head', text }, 'head', 'refused'));
  if (reply.kind === 'refused') throw refusalOf(reply.problems);
  return reply;
}

/** A text that was sent, whole. Throws `unfit` with every problem, and `busy`. */
export async function specificationOfSent(text: string): Promise<Specification> {
  const reply = await sent.with(async (ask) => ask({ kind: 'whole', text }, 'whole', 'refused'));
  if (reply.kind === 'refused') throw refusalOf(reply.problems);
  return reply.specification;
}

/** What changed from one stored text to another, for clients of the older. Throws `unfit` and `busy`. */
export async function changesBetween(from: string, to: string): Promise<SpecChange[]> {
  const reply = await stored.with(async (ask) => ask({ kind: 'compare', from, to }, 'compared', 'refused'));
  if (reply.kind === 'refused') throw refusalOf(reply.problems);
  return [...reply.changes];
}

/** Operations of a stored text. Throws `unfit` where this release refuses it, and `busy`. */
export async function operationsOfStored(text: string): Promise<DescribedOperation[]> {
  const reply = await stored.with(async (ask) => ask({ kind: 'describe', text }, 'described', 'refused'));
  if (reply.kind === 'refused') throw refusalOf(reply.problems);
  return [...reply.operations];
}

const readMax = 32;

/** Specifications that were read, by the digest of their text. */
const read = new Map<string, Specification>();

/** A stored text, whole; it was read without errors when it came. Throws `unfit` where this release refuses it. */
export async function specificationOf(row: { readonly sha256: string; readonly body: string }): Promise<Specification> {
  const known = read.get(row.sha256);
  if (known !== undefined) return known;
  const reply = await stored.with(async (ask) => ask({ kind: 'whole', text: row.body }, 'whole', 'refused'), {
    isOwn: true,
  });
  if (reply.kind === 'refused') throw refusalOf(reply.problems);
  if (read.size >= readMax) read.delete(read.keys().next().value ?? '');
  read.set(digestOfText(row.body), reply.specification);
  return reply.specification;
}

/** The same, or null where this release refuses it: what cannot be read declares nothing. */
export async function readableSpecification(row: {
  readonly sha256: string;
  readonly body: string;
}): Promise<Specification | null> {
  try {
    return await specificationOf(row);
  } catch (error) {
    if (error instanceof ApiError && error.code === 'unfit') return null;
    throw error;
  }
}
