// What this module sees becomes findings the way reports of tools do: through the importer, with one scope each, so
// that what is gone at the next look is closed, and what was not looked at is not.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { Format } from '../imports/formats/format.js';
import type { FindingRecord } from '../imports/record.js';
import { runImport, termsFor } from '../imports/run/run-import.js';
import { Type } from '@sinclair/typebox';
import type { Acting } from '../kit/endpoint.js';

export const ConfirmClose = Type.Optional(
  Type.Boolean({ description: 'close also more than vm_import_close_percent of what is open' }),
);

export interface Kept {
  readonly applicationId: string | number;
  readonly tool: string;
  readonly label: string;
  readonly scopeKey: string;
  readonly records: readonly FindingRecord[];
  /** All of the scope was looked at: what is not in `records` is gone. */
  readonly isWhole: boolean;
  /** Of that, whether this was looked at; all of it by default. */
  readonly covers?: (rule: string, url: string) => boolean;
  readonly summary: string;
  /** Somebody has said that what seems gone is gone, however much of what is open that is. */
  readonly isCloseConfirmed: boolean;
}

/** What a record takes in the report that it would stand in: many go in short transactions, as those of reports do. */
const bytesOfRecord = 1024;
const atOnce = 50;

/** Throws ApiError as imports do: 409 with needs_confirm_close for what would close more than the limit allows. */
export async function keepAsFindings(call: Acting, kept: Kept) {
  const { applicationId, tool, label, scopeKey, records, isWhole, summary, covers } = kept;
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-api-'));
  try {
    const path = join(directory, 'report');
    await writeFile(path, '{}', { mode: 0o600 });
    const format: Format = {
      ...{ name: tool, label, detection: '', detect: () => false },
      async *read(_, facts) {
        facts.tool = tool;
        facts.complete = isWhole;
        if (covers !== undefined)
          facts.looked = {
            by: 'source',
            names: new Set(['api']),
            covers: ({ rule_id: rule, url }) => url !== null && covers(rule, url),
          };
        yield records.slice(0, atOnce);
        for (let from = atOnce; from < records.length; from += atOnce) {
          await setImmediate();
          yield records.slice(from, from + atOnce);
        }
      },
    };
    const fields = {
      application_id: String(applicationId),
      mode: isWhole ? ('sync' as const) : ('add' as const),
      scope_key: scopeKey,
    };
    const terms = await termsFor(call, { ...fields, confirm_close: kept.isCloseConfirmed });
    const { run, report } = await runImport(
      call,
      { fields, file: { path, bytes: bytesOfRecord * records.length }, format, terms },
      {
        action: 'vm.import',
        summary: ({ run: made }) => `${summary} (run ${made.id})`,
        details: ({ report: { problems, ...counts } }) => ({ ...counts, problems: problems.length }),
      },
    );
    const { problems: _, ...counts } = report;
    return { import_id: String(run.id), report: counts };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
