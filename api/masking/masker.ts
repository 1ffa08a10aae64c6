// Masks run beside the API's thread: what blocked requests bring along is attackers' text, as much of it as they like,
// and whoever asks the API for something else must not wait until it is read. Little text is masked at once: handing it
// over would take longer.
import { Piscina } from 'piscina';
import type { MaskLevel } from '#proxy/contract';
import { isLongerThan, maskRecords, type Masked } from './mask-records.js';
import type { MaskTask } from './masking-thread.js';

export interface Masker {
  mask(records: Masked, level: MaskLevel): Promise<Masked>;
  close(): Promise<void>;
}

/** Masking takes some ten nanoseconds a character: so many take about a millisecond. */
const inlineCharsMax = 64 * 1024;
/** Then its memory is given back. */
const idleThreadMs = 30_000;
const youngGenerationMb = 16;

/** The thread is started when the first long list comes. */
export function createMasker(): Masker {
  const pool = new Piscina<MaskTask, Masked>({
    filename: new URL('./masking-thread.js', import.meta.url).href,
    name: 'maskTask',
    minThreads: 0,
    maxThreads: 1,
    concurrentTasksPerWorker: 1,
    idleTimeout: idleThreadMs,
    resourceLimits: { maxYoungGenerationSizeMb: youngGenerationMb },
  });
  return {
    async mask(records, level) {
      return isLongerThan(records, inlineCharsMax) ? pool.run({ records, level }) : maskRecords(records, level);
    },
    close: () => pool.destroy(),
  };
}
