// A VEX document that comes in the same call as a bill of materials.
import { ApiError } from '#http-kit';
import { requireApplication } from '../assets/resources.js';
import { parseJson, readWhole, type ReportFile } from '../imports/reading/report-file.js';
import { unpack } from '../imports/reading/unpack.js';
import { unfit, type Call } from '../kit/endpoint.js';
import { readVex, type VexDocument } from '../vex/read.js';

const vexBytesMax = 32 * 1024 * 1024;

interface With {
  readonly fields: { readonly application_id: string; readonly vex?: string; readonly vex_entry?: string };
  /** As it came. */
  readonly sent: ReportFile;
}

/** The document that came with a bill, read before anything is kept. Throws 403 without the right to apply it. */
export async function vexOf(call: Call, { fields, sent }: With): Promise<{ document: VexDocument; of: Call } | null> {
  const { vex, vex_entry: entry } = fields;
  if (vex === undefined && entry === undefined) return null;
  if (vex !== undefined && entry !== undefined) throw unfit('vex', 'does not go with vex_entry', 'give one of the two');
  const reach = call.caller.reach('triage_findings', true);
  if (reach === null) throw new ApiError('role_denied', 'A VEX document needs the permission triage_findings.');
  await requireApplication(call.sql, reach, fields.application_id);
  const text = vex ?? (await readWhole(await unpack(sent, { bytesMax: vexBytesMax, entry: entry ?? null })));
  return { document: readVex(parseJson(text, 'vex')), of: { ...call, caller: call.caller, reach } };
}
