// A transaction of the compiled engine: beside what every transaction holds, what the scans found of it.
import { Transaction } from '../transaction/transaction.js';
import type { HeadShape } from './unscanned/head-shapes.js';

export class CompiledTransaction extends Transaction {
  /** Which of the inspector's units, one for each policy of the rules, it runs in. */
  unit = 0;
  /** By phase: items of rules that a scan says may match. */
  candidates: number[][] | null = null;
  /** What the checks of the head answered. */
  headShape: HeadShape | null = null;
}
