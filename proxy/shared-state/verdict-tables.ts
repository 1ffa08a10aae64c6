// Verdicts on clients on their way from main to a thread (main/gates/verdict-list.ts).
import type { ThreatTable } from './threat-delta.js';

export interface VerdictTables {
  readonly challenged: ThreatTable;
  readonly throttled: ThreatTable;
}
