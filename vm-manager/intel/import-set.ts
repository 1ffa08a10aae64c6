// A published set becomes what the installation knows: with an upload, or with a fetch.
import type { Tx } from '../database.js';
import type { ReportFile } from '../imports/reading/report-file.js';
import { emit } from '../kit/events.js';
import { finishRun, insertRun, type Run } from '../kit/runs.js';
import type { SetName } from './read-set.js';
import { storeSet, type SetReport } from './store-set.js';

/** A notice of what rose: those who fix are not to look for it. */
async function tellRisen(
  tx: Tx,
  run: number,
  { set, rose, rose_total: total }: Omit<SetReport, 'problems'>,
  now: Date,
): Promise<void> {
  const [first] = rose;
  const summary =
    `${set.toUpperCase()}: ${total} open ${total === 1 ? 'finding rises' : 'findings rise'} in risk` +
    (first === undefined ? '' : `, first ${first.title} (${first.from} to ${first.to})`);
  const severity = Math.max(...rose.map((one) => one.severity));
  const payload = { set, total, summary, severity, findings: rose };
  await emit(tx, [{ type: 'intel.rose', entity: 'run', entityId: run, applicationId: null, payload }], now);
}

/** The run of the import. `file` is unpacked; `bytes` came. Throws ApiError 400, 413 or 422; then nothing is stored. */
export async function importSet(
  tx: Tx,
  set: SetName,
  from: { readonly file: ReportFile; readonly bytes: number; readonly by: string },
  now: Date,
): Promise<Run> {
  const input = { set, bytes: from.bytes };
  const begun = await insertRun(
    tx,
    { kind: 'intel', applicationId: null, input, createdBy: from.by, status: 'running' },
    now,
  );
  const { problems, ...report } = await storeSet(tx, set, from.file, now);
  await emit(
    tx,
    [{ type: 'intel.imported', entity: 'run', entityId: begun.id, applicationId: null, payload: report }],
    now,
  );
  if ('rose' in report && report.rose_total > 0) await tellRisen(tx, begun.id, report, now);
  return finishRun(tx, begun.id, { status: 'succeeded', result: report, problems }, now);
}
