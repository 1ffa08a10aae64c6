// However a body nests, the names and texts that its parsers repeat stay within one bound for the whole body.
import t from 'tap';
import { recommendedBodyLimits } from '../testing/body-limits.js';
import { Collection } from '../transaction/collection.js';
import { addMembersOfJson, processJsonBesides } from './besides/json.js';
import { createBodySink } from './empty-sink.js';
import { processJson } from './json.js';
import { repeatedBytesMax } from './repeated.js';
import { processXml } from './xml.js';

const limits = { ...recommendedBodyLimits, argumentsMax: 100_000, jsonDepthMax: 100_000, parseXmlIntoArgs: true };
const nest = (open: string, within: string, close: string, times: number): string =>
  open.repeat(times) + within + close.repeat(times);
const lengthOf = (texts: readonly string[]): number => texts.reduce((sum, text) => sum + text.length, 0);
const longKey = 'k'.repeat(5000);

t.test('the bound', async (t) => {
  for (const [bodyBytes, most] of [
    [0, 98_304],
    [65_536, 98_304],
    [65_537, 98_308],
    [1_000_000, 3_836_160],
  ] as const)
    t.equal(repeatedBytesMax(bodyBytes), most, `${bodyBytes} bytes`);
});

t.test('names of JSON, under its type and under others', async (t) => {
  const bodies = {
    'arrays in arrays': nest('[{"a":1},', '1', ']', 1300),
    'a long key above many values': JSON.stringify({ [longKey]: Array.from({ length: 900 }, () => 1) }),
    'a long key above JSON as text': JSON.stringify({
      [longKey]: JSON.stringify(Array.from({ length: 900 }, () => 1)),
    }),
    'keys in keys': nest(`{"${'k'.repeat(90)}":1,"m":`, '1', '}', 110),
  };
  for (const [what, body] of Object.entries(bodies)) {
    const bytes = Buffer.from(body);
    const most = repeatedBytesMax(bytes.length);
    const declared = createBodySink();
    processJson(bytes, 'application/json', declared, limits);
    t.ok(lengthOf(declared.argsPost.names) <= most, what);
    const besides = createBodySink();
    const outcome = processJsonBesides(bytes, 0, besides, limits);
    t.ok(lengthOf(besides.argsPost.names) <= most, `${what}, as text/plain`);
    t.equal(outcome.error !== null, outcome.truncated, `${what}: refused where it is cut`);
  }
});

t.test('names of JSON in values share one bound', async (t) => {
  const values = new Collection();
  const body = nest('[{"a":1},', '1', ']', 110);
  for (let index = 0; index < 40; index += 1) values.add(`a${index}`, body);
  addMembersOfJson(values, limits);
  t.ok(values.size > 200, `${values.size} values: members were added`);
  t.ok(lengthOf(values.names) <= repeatedBytesMax(0) + 40 * 4, `${lengthOf(values.names)} bytes of names`);
});

t.test('nested text of XML', async (t) => {
  const body = Buffer.from(nest(`<b>${'x y '.repeat(10)}`, 'x', '</b>', 250));
  const sink = createBodySink();
  const outcome = processXml(body, 'application/xml', sink, limits);
  t.ok(lengthOf(sink.xmlText) <= repeatedBytesMax(body.length) + body.length, `${lengthOf(sink.xmlText)} bytes`);
  t.match(outcome, { truncated: true }, 'refused where it is cut');
});
