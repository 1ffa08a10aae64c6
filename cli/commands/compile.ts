// `gatehouse compile`: settings and rule files → an artifact, with everything there is to say about them.
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { decodeArtifact } from '#engine';
import {
  compileProgram,
  createFileCache,
  dumpPlan,
  dumpProgram,
  emitArtifact,
  formatDiagnostics,
  openPatternCache,
  type CompileCache,
  type SourceText,
} from '#compiler';
import { parseOptions } from '../command-line.js';
import { automataCacheDirectory } from '../environment/directories.js';
import { wrongUsage } from '../refusal.js';
import { gatherSources, readerWithMapping } from '../rules/policy-sources.js';

const usage = 'Usage: gatehouse compile [--settings FILE] [--rules GLOB]… [--crs DIR] [--dump] [--notes] [-o FILE]';

function dumpSources(sources: readonly (SourceText | string)[]): string {
  return sources
    .map((source) =>
      typeof source === 'string'
        ? `==== ${source}\n`
        : `==== ${source.path}\n${source.path.startsWith('gatehouse/') ? source.text : ''}`,
    )
    .join('');
}

function writeWhole(path: string, bytes: Uint8Array): void {
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    writeFileSync(temporary, bytes);
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/** Exit codes: 0 compiled (or checked, without -o), 1 the rules or settings have errors. */
export async function runCompile(argv: readonly string[]): Promise<number> {
  if (argv.length === 0)
    throw wrongUsage(`compile needs to be told what: settings, rules, or where to write.\n${usage}`);
  const { values } = parseOptions({
    args: [...argv],
    options: {
      settings: { type: 'string' },
      rules: { type: 'string', multiple: true, default: [] },
      crs: { type: 'string' },
      dump: { type: 'boolean', default: false },
      notes: { type: 'boolean', default: false },
      output: { type: 'string', short: 'o' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) {
    console.log(usage);
    return 0;
  }
  // a mere check leaves nothing on the disk
  const cache = values.output === undefined ? null : createFileCache(automataCacheDirectory());
  const patterns = cache === null ? null : openPatternCache(cache);
  try {
    return await compileTo(values, cache);
  } finally {
    patterns?.close();
  }
}

interface CompileValues {
  readonly settings?: string | undefined;
  readonly rules: readonly string[];
  readonly crs?: string | undefined;
  readonly dump: boolean;
  readonly notes: boolean;
  readonly output?: string | undefined;
}

async function compileTo(values: CompileValues, cache: CompileCache | null): Promise<number> {
  const reader = readerWithMapping();
  const { settings, rules, crs } = values;
  const { sources, diagnostics: fromSettings } = gatherSources({ settings, rules, crs }, reader);
  const { program, diagnostics: fromRules } =
    sources === null ? { program: null, diagnostics: [] } : compileProgram(sources, { reader });
  const shown = [...fromSettings, ...fromRules].filter(({ severity }) => severity !== 'info' || values.notes);
  if (shown.length > 0) process.stderr.write(formatDiagnostics(shown));
  if (program === null || sources === null) return 1;
  if (values.dump) process.stdout.write(`#### sources\n${dumpSources(sources)}#### program\n${dumpProgram(program)}`);
  if (values.output === undefined || cache === null) return 0;
  const { bytes, hash, report } = await emitArtifact(program, { cache, clock: () => performance.now() });
  writeWhole(values.output, bytes);
  if (values.dump) {
    const plan = dumpPlan(program, decodeArtifact(bytes).plan);
    process.stdout.write(`#### plan\n${plan}#### report\n${JSON.stringify(report, null, 2)}\n`);
  }
  console.error(`${values.output}: ${report.rules} rules, ${bytes.length} bytes, sha256 ${hash}`);
  return 0;
}
