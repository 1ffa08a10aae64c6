// `gatehouse ftw`: the CRS regression suite in process; see ftw-suite.ts.
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { createEngine, parseEngineName } from './engine-choice.js';
import { formatFtwReport, readFtwCases, runFtwCases } from './ftw-suite.js';
import { loadRules, UsageError } from './rule-files.js';

const usage = 'Usage: gatehouse ftw --rules GLOB… --cases FILE.jsonl [--engine compiled|interpreter] [--report FILE]';

/** Runs the command; exit code 1 when a test failed. */
export async function runFtw(argv: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      rules: { type: 'string', multiple: true },
      cases: { type: 'string' },
      engine: { type: 'string' },
      report: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) {
    console.log(usage);
    return 0;
  }
  if (values.cases === undefined) throw new UsageError(`ftw needs --cases.\n${usage}`);
  const { program } = loadRules(values.rules ?? []);
  const { inspector, name } = await createEngine(parseEngineName(values.engine), program);
  const report = runFtwCases(inspector, program.files, readFtwCases(values.cases));
  console.log(formatFtwReport(report));
  if (values.report !== undefined) {
    const { tests, stages, passed, failures, files } = report;
    writeFileSync(
      values.report,
      `${JSON.stringify({ engine: name, tests, stages, passed, failures, files: Object.fromEntries(files) }, null, 1)}\n`,
    );
  }
  return report.failures.length === 0 ? 0 : 1;
}
