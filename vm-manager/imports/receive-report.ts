// A report as a request brings it: taken whole, unpacked, and gone when the work is done.
import type { FastifyRequest } from 'fastify';
import { receive, type UploadRules } from '../kit/upload/receive.js';
import type { ReportFile } from './reading/report-file.js';
import { unpack } from './reading/unpack.js';

export interface ReceivedReport<Fields> {
  readonly fields: Fields;
  readonly file: ReportFile;
  discard(): Promise<void>;
}

/** Throws ApiError 400, 413, 415 or 422; then nothing is left on the disk. */
export async function receiveReport<Fields extends { readonly entry?: string }>(
  request: FastifyRequest,
  rules: UploadRules,
): Promise<ReceivedReport<Fields>> {
  const { fields, file: path, bytes, discard } = await receive<Fields>(request, rules);
  try {
    const file = await unpack({ path, bytes }, { bytesMax: rules.bytesMax, entry: fields.entry ?? null });
    return { fields, file, discard };
  } catch (error) {
    await discard();
    throw error;
  }
}
