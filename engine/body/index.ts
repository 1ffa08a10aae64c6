// Body processors by the name that ctl:requestBodyProcessor uses. Each is a pure function from bytes to collections;
// none throws, fetches, expands or decompresses anything.
//
// Limit                    | at the edge
// -------------------------|---------------------------------------------------------------------------------------
// SecRequestBodyLimit      | the caller's: Reject refuses, ProcessPartial hands over the first bytes (JSON, XML and
//                          | multipart then report the missing end as an error)
// noFilesBytesMax          | URLENCODED, JSON, XML, GRAPHQL: error, nothing parsed, truncated. MULTIPART: error after
// parsing argumentsMax             | URLENCODED, MULTIPART, GRAPHQL: the rest is dropped, truncated, no error (the
// recommended rule 200007
//                          | refuses by count). JSON: error, truncated, parse ends. XML (attributes): the same error
// jsonDepthMax             | error, truncated, parse ends
// names in JSON            | more than `repeatedBytesMax` in total: error, truncated, parse ends
// uploadFilesMax           | MULTIPART_FILE_LIMIT_EXCEEDED and error; files are still listed up to argumentsMax
// part header              | 4,096 bytes folded, 64 per part: error
// XML                      | 256 levels deep, 64 KiB of DTD: error, truncated, parse ends
import type { BodyLimits, BodyOutcome, BodyProcessor, BodySink } from './body.js';
import { processGraphql } from './graphql.js';
import { processJson } from './json.js';
import { processMultipart } from './multipart.js';
import { processRaw } from './raw.js';
import { processText } from './text.js';
import { processUrlEncoded } from './urlencoded.js';
import { processXml } from './xml.js';

export type BodyProcessorName = 'URLENCODED' | 'MULTIPART' | 'JSON' | 'XML' | 'GRAPHQL' | 'TEXT' | 'RAW';

/** SecRequestBodyNoFilesLimit for bodies that hold no files: parsing something too large is what the limit avoids. */
function withinNoFilesLimit(processor: BodyProcessor): BodyProcessor {
  return (body: Buffer, contentType: string, sink: BodySink, limits: BodyLimits): BodyOutcome =>
    body.length > limits.noFilesBytesMax
      ? { error: 'Request body excluding files is bigger than the maximum expected.', truncated: true }
      : processor(body, contentType, sink, limits);
}

export const bodyProcessors: ReadonlyMap<BodyProcessorName, BodyProcessor> = new Map<BodyProcessorName, BodyProcessor>([
  ['URLENCODED', withinNoFilesLimit(processUrlEncoded)],
  ['MULTIPART', processMultipart],
  ['JSON', withinNoFilesLimit(processJson)],
  ['XML', withinNoFilesLimit(processXml)],
  ['GRAPHQL', withinNoFilesLimit(processGraphql)],
  ['TEXT', processText],
  ['RAW', processRaw],
]);

export { filesCombinedSize, multipartFlagNames } from './multipart.js';
