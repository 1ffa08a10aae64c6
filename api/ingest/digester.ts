// Takes records apart: small bodies at once, all others in a process of their own, one after the other, because JSON of
// some megabytes would hold up everything else that the API does. What waits is bounded in bytes, the process in
// memory: a body that unfolds to more than it may have ends the process, and is refused; the next one gets a new one.
import { ApiError } from '../http-kit/problem.js';
import type { SiteForm } from '../inventory/templates/form.js';
import { outOfMemory, startProcess, unexpectedEnd, type HeldProcess } from '../processes/held-process.js';
import type { FormOf } from './digest.js';
import {
  digestBody,
  type DigestJob,
  type FromDigestProcess,
  type ReadDigest,
  type ToDigestProcess,
} from './digest-messages.js';

/** A body of so many bytes is some milliseconds of work. */
const smallBytesMax = 32 * 1024;
/** Bodies that wait for the process, the one that it is at included. */
const waitingBytesMax = 128 * 1024 * 1024;
const memoryMbMax = 512;
/** What a body unfolds to stays with the process: after one of so many bytes it goes, and gives it back. */
const largeBytesMax = 4 * 1024 * 1024;
/** So long it is kept for the next body. */
const idleMsMax = 30_000;
const sitesMax = 500;

export interface Digester {
  /** Throws ApiError: for a body that cannot be read, and `too_many_requests` while too much waits. */
  digest(job: DigestJob): Promise<ReadDigest>;
  close(): Promise<void>;
}

/** The process, and what it is at. */
interface Reader {
  readonly held: HeldProcess<ToDigestProcess>;
  /** By site, the forms that it has. */
  readonly forms: Map<string, SiteForm>;
  job: { readonly resolve: (digest: ReadDigest) => void; readonly reject: (error: Error) => void } | null;
  idle: NodeJS.Timeout | undefined;
  hasEnded: boolean;
}

export function createDigester(formOf: FormOf, memoryMb = memoryMbMax): Digester {
  const state = {
    reader: null as Reader | null,
    last: Promise.resolve() as Promise<unknown>,
    waitingBytes: 0,
    /** Sites of which records came lately. */
    sites: new Set<string>(),
  };
  const retire = async (): Promise<void> => {
    const { reader } = state;
    state.reader = null;
    clearTimeout(reader?.idle);
    await reader?.held.end();
  };
  const digestApart = async (job: DigestJob): Promise<ReadDigest> => {
    if (state.reader?.hasEnded === true) state.reader = null;
    const reader = (state.reader ??= start(memoryMb));
    clearTimeout(reader.idle);
    tellForms(reader, state.sites, formOf);
    const digest = await ask(reader, job);
    if (state.sites.size > sitesMax) state.sites.clear();
    for (const { site } of digest.kept.observations) state.sites.add(site);
    // Without the form of a site no value is known to be one; private installations keep none.
    const isStale = job.settings.level === 'personal' && tellForms(reader, state.sites, formOf);
    return isStale ? ask(reader, job) : digest;
  };
  const rest = async (bytes: number): Promise<void> => {
    if (bytes >= largeBytesMax) return retire();
    if (state.reader !== null) state.reader.idle = setTimeout(() => void retire(), idleMsMax).unref();
  };
  return {
    async digest(job) {
      const { length } = job.body.bytes;
      if (length <= smallBytesMax && job.body.coding === '') return digestBody(job, formOf);
      if (state.waitingBytes + length > waitingBytesMax) throw tooMany();
      state.waitingBytes += length;
      const turn = state.last.then(() => digestApart(job)).finally(() => rest(length));
      state.last = turn.catch(() => undefined);
      return turn.finally(() => (state.waitingBytes -= length));
    },
    close: retire,
  };
}

export const tooMany = (): ApiError =>
  new ApiError('too_many_requests', 'Too many records wait to be counted. Send them again later.', {
    headers: { 'retry-after': '2' },
  });

function start(heapMb: number): Reader {
  const reader: Reader = {
    held: startProcess<ToDigestProcess, FromDigestProcess>({
      entry: new URL('./digest-process.js', import.meta.url),
      heapMb,
      onMessage: (_from, reply) => {
        const { job } = reader;
        reader.job = null;
        if (reply.kind === 'digest') return job?.resolve(reply.digest);
        const { code, detail, errors } = reply;
        job?.reject(new ApiError(code, detail, errors === undefined ? {} : { errors }));
      },
      onEnd: (_gone, end) => {
        reader.hasEnded = true;
        const { job } = reader;
        reader.job = null;
        if (end instanceof Error) job?.reject(end);
        else job?.reject(outOfMemory(end) ? tooMuch() : unexpectedEnd('the process that reads records', end));
      },
    }),
    forms: new Map(),
    job: null,
    idle: undefined,
    hasEnded: false,
  };
  reader.held.hold(false);
  return reader;
}

function ask(reader: Reader, job: DigestJob): Promise<ReadDigest> {
  reader.held.hold(true); // somebody waits for the answer
  return new Promise<ReadDigest>((resolve, reject) => {
    if (reader.hasEnded) return reject(new Error('the process that reads records has ended'));
    reader.job = { resolve, reject };
    reader.held.send({ kind: 'job', job });
  }).finally(() => reader.held.hold(false));
}

const tooMuch = (): ApiError =>
  new ApiError('body_too_large', 'These records take more memory than there is for one request. Send them in several.');

/** Tells the process how these sites look by now; false: it knew. */
function tellForms({ held, forms }: Reader, sites: ReadonlySet<string>, formOf: FormOf): boolean {
  const fresh = new Map<string, SiteForm>();
  for (const site of sites) {
    const form = formOf(site);
    if (form !== null && forms.get(site) !== form) fresh.set(site, form);
  }
  if (fresh.size === 0) return false;
  if (forms.size + fresh.size > 2 * sitesMax) {
    forms.clear();
    held.send({ kind: 'forms', forms: null });
  }
  for (const [site, form] of fresh) forms.set(site, form);
  held.send({ kind: 'forms', forms: fresh });
  return true;
}
