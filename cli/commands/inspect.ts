// `gatehouse inspect`: requests from a JSONL file through the engine, without a network; one result row per request.
import { createReadStream, createWriteStream, openSync, statSync } from 'node:fs';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { createMemoryStore } from '#engine';
import { parseOptions } from '../command-line.js';
import { createEngine, parseEngineName } from '../inspect/engine-choice.js';
import { inspectLine, type InspectOptions } from '../inspect/inspect-rows.js';
import { Refusal, wrongUsage } from '../refusal.js';
import { loadRules } from '../rules/load-rules.js';

function parseLastPhase(text: string): number {
  const match = /^(?:1-)?([1-5])$/.exec(text);
  if (match === null) throw wrongUsage(`--phases ${text}: give the range that begins with 1, e.g. 1-2 or 1-5.`);
  return Number(match[1]);
}

const usage =
  'Usage: gatehouse inspect --rules GLOB… --requests FILE.jsonl [--engine compiled|interpreter] [--phases 1-5] ' +
  '[--reflect] -o OUT.jsonl';

/**
 * Runs the command; every row is written, in order. The exit code is 1 where some of them could not be inspected (their
 * `error` says why, the first is told).
 */
export async function runInspect(argv: readonly string[]): Promise<number> {
  const { values } = parseOptions({
    args: [...argv],
    options: {
      rules: { type: 'string', multiple: true },
      requests: { type: 'string' },
      engine: { type: 'string' },
      phases: { type: 'string', default: '1-5' },
      reflect: { type: 'boolean', default: false },
      output: { type: 'string', short: 'o' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) {
    console.log(usage);
    return 0;
  }
  if (values.requests === undefined || values.output === undefined)
    throw wrongUsage(`inspect needs --requests and -o.\n${usage}`);
  const { program } = loadRules(values.rules ?? []);
  const { inspector } = await createEngine(parseEngineName(values.engine), program);
  const options: InspectOptions = {
    inspector,
    store: createMemoryStore(),
    lastPhase: parseLastPhase(values.phases),
    withReflection: values.reflect,
  };
  if (values.requests !== '-' && statSync(values.requests).isDirectory())
    throw new Refusal(`${values.requests}: is a folder; name a file with a request a line.`);
  // opened at once: what cannot be opened is thrown here, not in a stream that nobody listens to
  const input = values.requests === '-' ? process.stdin : createReadStream('', { fd: openSync(values.requests, 'r') });
  const output = values.output === '-' ? process.stdout : createWriteStream('', { fd: openSync(values.output, 'w') });
  const lines = createInterface({ input, crlfDelay: Infinity });
  let failure: Error | null = null;
  const fail = (error: Error): void => {
    failure ??= error;
    lines.close();
  };
  input.once('error', fail);
  output.once('error', fail);
  let number = 0;
  let broken = 0;
  for await (const line of lines) {
    if (line.trim() === '') continue;
    number += 1;
    const row = inspectLine(line, number, options);
    if (row.error !== null && ++broken === 1) console.error(`gatehouse inspect: row ${number}: ${row.error}`);
    if (failure === null && !output.write(`${JSON.stringify(row)}\n`)) await once(output, 'drain');
  }
  if (failure !== null) throw failure as Error;
  if (output !== process.stdout) {
    output.end();
    await once(output, 'finish');
  }
  if (broken === 0) return 0;
  console.error(`gatehouse inspect: ${broken} of ${number} rows could not be inspected; their \`error\` says why.`);
  return 1;
}
