// The thread that reads specifications for the vulnerability manager, and compares them with traffic.
import { JobThread, type AskOf } from '../../../spec/reading/job-thread.js';
import type { ReadingJob, ReadingReply } from './jobs.js';

/** Asks for one job; the kind of the answer is the one that the job has. Throws ApiError. */
export type Ask = AskOf<ReadingJob, ReadingReply>;

export class ReadingThread extends JobThread<ReadingJob, ReadingReply> {
  /** For tests the time that an answer may take. */
  constructor(msMax?: number) {
    const worker = new URL('./reading-worker.js', import.meta.url);
    super({ name: 'gatehouse-specifications', worker, ...(msMax === undefined ? {} : { msMax }) });
  }
}

/** The one of this process. */
export const reading = new ReadingThread();
