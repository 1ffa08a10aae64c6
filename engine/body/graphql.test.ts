import t from 'tap';
import type { BodyOutcome } from './body.js';
import { recommendedBodyLimits } from '../testing/body-limits.js';
import { createBodySink } from './empty-sink.js';
import { processGraphql } from './graphql.js';

function parse(body: string, argumentsMax = 1000): BodyOutcome & { pairs: string[][] } {
  const sink = createBodySink();
  const outcome = processGraphql(Buffer.from(body, 'latin1'), 'application/graphql', sink, {
    ...recommendedBodyLimits,
    argumentsMax,
  });
  return { ...outcome, pairs: sink.argsPost.names.map((name, index) => [name, sink.argsPost.values[index] as string]) };
}

// [document, values]
const table: readonly (readonly [string, readonly string[]])[] = [
  ['', []],
  ['query {\n  u(id: 1) { v }\n}', ['query {\n  u(id: 1) { v }\n}']],
  ['a=b&c=%41+\0\xff', ['a=b&c=%41+\0\xff']],
  ['{"k":"\\u0027x\\u{27}\\U00e9"}', ['{"k":"\\u0027x\\u{27}\\U00e9"}', '{"k":"\'x\'\\U00e9"}']],
  ['\\u00E9\\u{000000027}\\u{1F600}', ['\\u00E9\\u{000000027}\\u{1F600}', "\xc3\xa9'\xf0\x9f\x98\x80"]],
  ['\\u12 \\u{} \\u{110000} \\u{zz}', ['\\u12 \\u{} \\u{110000} \\u{zz}']],
];

t.test('the document is one value, and one more without escapes', async (t) => {
  for (const [document, values] of table)
    t.match(
      parse(document),
      { error: null, truncated: false, pairs: values.map((value) => ['graphql', value]) },
      document,
    );
  for (const [document, values] of table) t.equal(parse(document).pairs.length, values.length, document);
});

t.test('the limit of arguments', async (t) => {
  t.same(parse('\\u0041', 1), { error: null, truncated: true, pairs: [['graphql', '\\u0041']] });
  t.same(parse('u', 0), { error: null, truncated: true, pairs: [] });
});
