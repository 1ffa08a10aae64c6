import type { BodyLimits, BodyOutcome, BodySink } from './body.js';

/** `\u0041` (JSON and GraphQL) and `\u{41}` (GraphQL), the only escapes that hide letters and quotes. */
const escape = /\\u(?:([0-9a-fA-F]{4})|\{0*([0-9a-fA-F]{1,6})\})/g;

function resolve(written: string, fixed: string | undefined, braced: string | undefined): string {
  const code = Number.parseInt(fixed ?? braced ?? '', 16);
  return code > 0x10ffff ? written : Buffer.from(String.fromCodePoint(code), 'utf8').toString('latin1');
}

/**
 * application/graphql → argsPost: the document as one value named `graphql`, as it stands in the JSON that most clients
 * send instead, and once more with its escapes resolved where it has any. It is not parsed: an application that takes
 * the body for JSON whatever its type reads the same bytes. Never an error; a second value over `argumentsMax` is
 * dropped.
 */
export function processGraphql(
  body: Buffer,
  _contentType: string,
  sink: BodySink,
  limits: BodyLimits,
  name = 'graphql',
): BodyOutcome {
  const text = body.toString('latin1');
  const resolved = text.replace(escape, resolve);
  const values = text === '' ? [] : resolved === text ? [text] : [text, resolved];
  for (const value of values.slice(0, limits.argumentsMax)) sink.argsPost.add(name, value);
  return { error: null, truncated: values.length > limits.argumentsMax };
}
