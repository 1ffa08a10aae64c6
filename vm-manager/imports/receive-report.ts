// A report as a request brings it: taken whole, unpacked, in UTF-8, and gone when the work is done.
import type { FastifyRequest } from 'fastify';
import { receive, type UploadRules } from '../kit/upload/receive.js';
import type { ReportFile } from './reading/report-file.js';
import { inUtf8 } from './reading/encoding.js';
import { unpack } from './reading/unpack.js';

export interface ReceivedReport<Fields> {
  readonly fields: Fields;
  readonly file: ReportFile;
  /** As it came: an archive, where it was one. */
  readonly sent: ReportFile;
  discard(): Promise<void>;
}

/** Throws ApiError 400, 413, 415 or 422; then nothing is left on the disk. */
export async function receiveReport<Fields extends { readonly entry?: string }>(
  request: FastifyRequest,
  rules: UploadRules,
): Promise<ReceivedReport<Fields>> {
  const { fields, file: path, bytes, discard } = await receive<Fields>(request, rules);
  try {
    const { bytesMax } = rules;
    const unpacked = await unpack({ path, bytes }, { bytesMax, entry: fields.entry ?? null });
    return { fields, file: await inUtf8(unpacked, bytesMax), sent: { path, bytes }, discard };
  } catch (error) {
    await discard();
    throw error;
  }
}
