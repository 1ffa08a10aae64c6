// `gatehouse ftw`: the CRS regression suite in process; see cli/inspect/ftw-suite.ts.
import { writeFileSync } from 'node:fs';
import { parseOptions } from '../command-line.js';
import { createEngine, parseEngineName } from '../inspect/engine-choice.js';
import { formatFtwReport, readFtwCases, runFtwCases } from '../inspect/ftw-suite.js';
import { wrongUsage } from '../refusal.js';
import { loadRules } from '../rules/load-rules.js';

const usage = 'Usage: gatehouse ftw --rules GLOB… --cases FILE.jsonl [--engine compiled|interpreter] [--report FILE]';

/** Runs the command; exit code 1 when a test failed. */
export async function runFtw(argv: readonly string[]): Promise<number> {
  const { values } = parseOptions({
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
  if (values.cases === undefined) throw wrongUsage(`ftw needs --cases.\n${usage}`);
  const { program } = loadRules(values.rules ?? []);
  const { inspector, name } = await createEngine(parseEngineName(values.engine), program);
  const report = runFtwCases(inspector, program.files, readFtwCases(values.cases));
  console.log(formatFtwReport(report));
  if (values.report !== undefined) {
    const { tests, stages, passed, failures, files } = report;
    const told = { engine: name, tests, stages, passed, failures, files: Object.fromEntries(files) };
    writeFileSync(values.report, `${JSON.stringify(told, null, 1)}\n`);
  }
  return report.failures.length === 0 ? 0 : 1;
}
