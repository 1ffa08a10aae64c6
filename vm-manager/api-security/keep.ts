// What this module sees becomes findings the way reports of tools do: through the importer, with one scope each, so that
// what is gone at the next look is closed, and what was not looked at is not.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Format } from '../imports/formats/format.js';
import type { FindingRecord } from '../imports/record.js';
import { runImport, termsFor } from '../imports/run/run-import.js';
import type { Acting } from '../kit/endpoint.js';

export interface Kept {
  readonly applicationId: string | number;
  readonly tool: string;
  readonly label: string;
  readonly scopeKey: string;
  readonly records: readonly FindingRecord[];
  /** All of the scope was looked at: what is not in `records` is gone. */
  readonly isWhole: boolean;
  readonly summary: string;
}

/** Throws ApiError as imports do; a report that would close more than the limit allows is refused. */
export async function keepAsFindings(call: Acting, kept: Kept) {
  const { applicationId, tool, label, scopeKey, records, isWhole, summary } = kept;
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-api-'));
  try {
    const path = join(directory, 'report');
    await writeFile(path, '{}', { mode: 0o600 });
    const format: Format = {
      ...{ name: tool, label, detection: '', detect: () => false },
      async *read(_, facts) {
        facts.tool = tool;
        facts.complete = isWhole;
        yield records;
      },
    };
    const fields = {
      application_id: String(applicationId),
      mode: isWhole ? ('sync' as const) : ('add' as const),
      scope_key: scopeKey,
    };
    // its records are few and made here: nothing of them is a mass of findings that vanished by mistake of a tool
    const terms = await termsFor(call, { ...fields, confirm_close: true });
    const { run, report } = await runImport(
      call,
      { fields, file: { path, bytes: 2 }, format, terms },
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
