// Takes records apart: small bodies at once, all others in a thread, one after the other, because JSON of some
// megabytes would hold up everything else that the API does. What waits is bounded in bytes, the thread in memory: a
// body that unfolds to more than it may have ends the thread, and is refused; the next one gets a new thread.
import { Worker } from 'node:worker_threads';
import { ApiError } from '../http-kit/problem.js';
import type { SiteForm } from '../inventory/templates/form.js';
import type { FormOf } from './digest.js';
import {
  digestBody,
  type DigestJob,
  type FromDigestThread,
  type ReadDigest,
  type ToDigestThread,
} from './digest-messages.js';

/** A body of so many bytes is some milliseconds of work. */
const smallBytesMax = 32 * 1024;
/** Bodies that wait for the thread, the one that it is at included. */
const waitingBytesMax = 128 * 1024 * 1024;
const memoryMbMax = 512;
/** What a body unfolds to stays with the thread: after one of so many bytes it goes, and gives it back. */
const largeBytesMax = 4 * 1024 * 1024;
const sitesMax = 500;

export interface Digester {
  /** Throws ApiError: for a body that cannot be read, and `too_many_requests` while too much waits. */
  digest(job: DigestJob): Promise<ReadDigest>;
  close(): Promise<void>;
}

interface Thread {
  readonly worker: Worker;
  /** By site, the forms that it has. */
  readonly forms: Map<string, SiteForm>;
}

export function createDigester(formOf: FormOf, memoryMb = memoryMbMax): Digester {
  const state = {
    thread: null as Thread | null,
    last: Promise.resolve() as Promise<unknown>,
    waitingBytes: 0,
    /** Sites of which records came lately. */
    sites: new Set<string>(),
  };
  const begin = (): Thread => {
    const begun = start(memoryMb);
    const forget = (): void => void (state.thread = state.thread === begun ? null : state.thread);
    // It may end when it has answered already, and an error that nobody hears of would end this process.
    begun.worker.on('error', forget).on('exit', forget);
    return begun;
  };
  const digestInThread = async (job: DigestJob): Promise<ReadDigest> => {
    const thread = (state.thread ??= begin());
    tellForms(thread, state.sites, formOf);
    const digest = await ask(thread.worker, job);
    if (state.sites.size > sitesMax) state.sites.clear();
    for (const { site } of digest.kept.observations) state.sites.add(site);
    // Without the form of a site no value is known to be one; private installations keep none.
    const isStale = job.settings.level === 'personal' && tellForms(thread, state.sites, formOf);
    return isStale ? ask(thread.worker, job) : digest;
  };
  const retire = async (bytes: number): Promise<void> => {
    const { thread } = state;
    if (bytes < largeBytesMax || thread === null) return;
    state.thread = null;
    await thread.worker.terminate();
  };
  return {
    async digest(job) {
      const { length } = job.body.bytes;
      if (length <= smallBytesMax && job.body.coding === '') return digestBody(job, formOf);
      if (state.waitingBytes + length > waitingBytesMax) throw tooMany();
      state.waitingBytes += length;
      const turn = state.last.then(() => digestInThread(job)).finally(() => retire(length));
      state.last = turn.catch(() => undefined);
      return turn.finally(() => (state.waitingBytes -= length));
    },
    async close() {
      await state.thread?.worker.terminate();
    },
  };
}

export const tooMany = (): ApiError =>
  new ApiError('too_many_requests', 'Too many records wait to be counted. Send them again later.', {
    headers: { 'retry-after': '2' },
  });

function start(maxOldGenerationSizeMb: number): Thread {
  const worker = new Worker(new URL('./digest-worker.js', import.meta.url), {
    name: 'gatehouse-records',
    resourceLimits: { maxOldGenerationSizeMb },
  });
  worker.unref();
  return { worker, forms: new Map() };
}

function ask(worker: Worker, job: DigestJob): Promise<ReadDigest> {
  worker.ref(); // somebody waits for the answer
  return new Promise<ReadDigest>((resolve, reject) => {
    const settle = (outcome: () => void): void => {
      worker.off('message', hear);
      worker.off('error', fail);
      worker.off('exit', end);
      worker.unref();
      outcome();
    };
    const hear = (reply: FromDigestThread): void =>
      settle(() => {
        if (reply.kind === 'digest') return resolve(reply.digest);
        const { code, detail, errors } = reply;
        reject(new ApiError(code, detail, errors === undefined ? {} : { errors }));
      });
    const fail = (error: Error & { readonly code?: string }): void =>
      settle(() => reject(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? tooMuch() : error));
    const end = (code: number): void => fail(new Error(`the thread that reads records ended with ${code}`));
    worker.on('message', hear).on('error', fail).on('exit', end);
    worker.postMessage({ kind: 'job', job } satisfies ToDigestThread);
  });
}

const tooMuch = (): ApiError =>
  new ApiError('body_too_large', 'These records take more memory than there is for one request. Send them in several.');

/** Tells the thread how these sites look by now; false: it knew. */
function tellForms({ worker, forms }: Thread, sites: ReadonlySet<string>, formOf: FormOf): boolean {
  const fresh = new Map<string, SiteForm>();
  for (const site of sites) {
    const form = formOf(site);
    if (form !== null && forms.get(site) !== form) fresh.set(site, form);
  }
  if (fresh.size === 0) return false;
  if (forms.size + fresh.size > 2 * sitesMax) {
    forms.clear();
    worker.postMessage({ kind: 'forms', forms: null } satisfies ToDigestThread);
  }
  for (const [site, form] of fresh) forms.set(site, form);
  worker.postMessage({ kind: 'forms', forms: fresh } satisfies ToDigestThread);
  return true;
}
