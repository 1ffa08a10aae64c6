// Rule sets on which the compiled engine once differed from the oracle, or might: rows for the regression suites.
import type { Test } from 'tap';
import { compareText, createMemoryCache, type ShortRequest } from './rule-text.js';

/** The smallest rules that show one hazard; `why` says which shortcut would be wrong here. */
export interface RegressionRow {
  readonly why: string;
  readonly rules: string;
  readonly requests: readonly ShortRequest[];
}

const prelude = `SecRuleEngine On
SecRequestBodyAccess On
SecResponseBodyAccess On
SecDefaultAction "phase:1,log,auditlog,pass"
`;

export async function expectAgreement(t: Test, rows: readonly RegressionRow[]): Promise<void> {
  const cache = createMemoryCache();
  for (const { why, rules, requests } of rows) {
    // Twice in a row: the second time from memory.
    t.same(
      await compareText(prelude + rules, [...requests, ...requests], cache).catch((error: unknown) => [
        `threw ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
      ]),
      [],
      why,
    );
  }
  t.equal(new Set(rows.map(({ why }) => why)).size, rows.length);
}
