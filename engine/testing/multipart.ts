// Multipart bodies for tests, and what parsing one gives.
import type { BodyLimits, BodyOutcome, BodySink } from '../body/body.js';
import { createBodySink } from '../body/empty-sink.js';
import { processMultipart } from '../body/multipart.js';
import { recommendedBodyLimits } from './body-limits.js';

export type Result = BodyOutcome & { sink: BodySink; raised: Record<string, string>; fields: string[][] };
/** Of every body here: the boundary is XX. */
export const multipartType = 'multipart/form-data; boundary=XX';
export function parse(body: string, contentType = multipartType, limits: Partial<BodyLimits> = {}): Result {
  const sink = createBodySink();
  const outcome = processMultipart(Buffer.from(body, 'latin1'), contentType, sink, {
    ...recommendedBodyLimits,
    ...limits,
  });
  const raised = Object.fromEntries(
    [...sink.multipartFlags]
      .filter(([, value]) => value !== '0')
      .map(([name, value]) => [name.slice('MULTIPART_'.length), value]),
  );
  return {
    ...outcome,
    sink,
    raised,
    fields: sink.argsPost.names.map((name, index) => [name, sink.argsPost.values[index] as string]),
  };
}
export const disposition = 'Content-Disposition: form-data; ';
export const part = (header: string, content: string): string => `--XX\r\n${header}\r\n\r\n${content}\r\n`;
export const field = part(`${disposition}name="f"`, 'u');
export const end = '--XX--\r\n';
/** Flags of every sound body of more than one boundary line. */
export const sound = { UNMATCHED_BOUNDARY: '2' };
