// Runs in the thread of masker.ts.
import type { MaskLevel } from '#proxy/contract';
import { maskRecords, type Masked } from './mask-records.js';

export interface MaskTask {
  readonly records: Masked;
  readonly level: MaskLevel;
}

export function maskTask({ records, level }: MaskTask): Masked {
  return maskRecords(records, level);
}
