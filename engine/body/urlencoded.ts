import { parseUrlEncoded } from '../parse/urlencoded.js';
import type { BodyLimits, BodyOutcome, BodySink } from './body.js';

/**
 * application/x-www-form-urlencoded → ARGS_POST; the decoding is `parseUrlEncoded`'s. There is no such thing as a
 * malformed form, so `error` is always null: bad `%` sequences set URLENCODED_ERROR (through `invalidEncoding`), and
 * arguments over the limit are skipped with `truncated`, as ModSecurity v3 skips them.
 */
export function processUrlEncoded(body: Buffer, _contentType: string, sink: BodySink, limits: BodyLimits): BodyOutcome {
  const { truncated, invalidEncoding } = parseUrlEncoded(
    body.toString('latin1', 0, body.length),
    limits.argumentSeparator,
    sink.argsPost,
    limits.argumentsMax,
  );
  return { error: null, truncated, invalidEncoding };
}
