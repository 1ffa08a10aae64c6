// `gatehouse compile`: settings and rule files → an artifact, with everything there is to say about them.
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { decodeArtifact } from '#engine';
import type { Program } from '#engine/compile';
import type { Diagnostic } from '../diagnostics/diagnostics.js';
import { formatDiagnostics } from '../diagnostics/format.js';
import { dumpPlan, dumpProgram } from '../artifact/dump.js';
import { emitArtifact } from '../artifact/emit.js';
import type { CompileCache } from '../plan/database-compiler.js';
import { renderPolicy, resolvePolicy } from '../policy/policy.js';
import { loadCoreRuleSet } from '../policy/crs.js';
import { compileProgram } from '../compile-program.js';
import type { SourceReader, SourceText } from '../text/source.js';
import { automataCacheDirectory, projectRoot } from './directories.js';
import { createFileCache } from './file-cache.js';
import { openPatternBook } from './pattern-book.js';
import { diskReader, expandGlob, expandRules, RefusedError, UsageError } from './rule-files.js';

const usage = 'Usage: gatehouse compile [--settings FILE] [--rules GLOB]… [--crs DIR] [--dump] [--notes] [-o FILE]';

function dataDirectory(): string {
  return process.env.GATEHOUSE_DATA ?? join(projectRoot, 'data');
}

/** The rule set to use: the argument, CRS_DIR, or what set-up unpacked below data/crs. */
function findCrsDirectory(given: string | undefined): string {
  const named = given ?? process.env.CRS_DIR;
  if (named !== undefined && named !== '') return named;
  const [found] = expandGlob(join(dataDirectory(), 'crs/*/rules/REQUEST-901-INITIALIZATION.conf')).reverse();
  if (found === undefined)
    throw new UsageError('There is no rule set: run `node bin/crs.mjs`, set CRS_DIR, or give --crs DIR.');
  return join(found, '../..');
}

/** `unicode.mapping` is found wherever set-up put it. */
function readerWithMapping(): SourceReader {
  const named = process.env.GATEHOUSE_UNICODE_MAPPING ?? '';
  const mapping = named === '' ? join(dataDirectory(), 'crs/unicode.mapping') : named;
  return {
    ...diskReader,
    read: (path) => diskReader.read(path) ?? (path === 'unicode.mapping' ? diskReader.read(mapping) : null),
  };
}

function readSettings(path: string): unknown {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new RefusedError(
      `--settings ${path}: cannot be read (${error instanceof Error ? error.message : String(error)}).`,
    );
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new RefusedError(`--settings ${path}: is not JSON (${error.message}).`);
  }
}

interface GatheredSources {
  /** null when the settings cannot be used. */
  readonly sources: readonly (SourceText | string)[] | null;
  readonly diagnostics: readonly Diagnostic[];
}

/** Settings (or, without --rules, the defaults) first, then the rule files in the order given. */
function gatherSources(
  settings: string | undefined,
  rules: readonly string[],
  crs: string | undefined,
  reader: SourceReader,
): GatheredSources {
  const files = expandRules(rules);
  if (settings === undefined && files.length > 0) return { sources: files, diagnostics: [] };
  const ruleSet = loadCoreRuleSet(findCrsDirectory(crs), reader);
  if (ruleSet.crs === null) return { sources: null, diagnostics: ruleSet.diagnostics };
  const resolved = resolvePolicy(settings === undefined ? {} : readSettings(settings), ruleSet.crs);
  return {
    sources: resolved.policy === null ? null : [...renderPolicy(resolved.policy), ...files],
    diagnostics: resolved.diagnostics,
  };
}

/**
 * The program that the data plane keeps as the active one; null where none has served yet. Throws RefusedError when it
 * cannot be read.
 */
function readActive(): NamedProgram | null {
  const path = join(dataDirectory(), 'current.json');
  if (!existsSync(path)) return null;
  try {
    const { id, sha256 } = JSON.parse(readFileSync(path, 'utf8')) as { readonly id: number; readonly sha256: string };
    if (sha256 === '') return null; // it serves without rules
    return {
      program: decodeArtifact(readFileSync(join(dataDirectory(), 'artifacts', sha256))).program,
      name: `generation ${id} of ${path}`,
    };
  } catch (error) {
    throw new RefusedError(
      `${path}: the rules that it names cannot be read (${error instanceof Error ? error.message : String(error)}). Give --settings FILE or --rules GLOB.`,
    );
  }
}

export interface NamedProgram {
  readonly program: Program;
  /** Where the rules come from, for people. */
  readonly name: string;
}

/** The rules that serve; before any did those of data/settings.json, or of the defaults where there is no such file. */
export function loadActive(): NamedProgram {
  const usual = join(dataDirectory(), 'settings.json');
  return readActive() ?? compileSettings(existsSync(usual) ? usual : undefined);
}

/**
 * The program of a settings file; undefined = of the defaults. Throws RefusedError with every error of the settings or
 * the rules.
 */
export function compileSettings(path: string | undefined): NamedProgram {
  const name = path ?? 'the defaults';
  const reader = readerWithMapping();
  const { sources, diagnostics } = gatherSources(path, [], undefined, reader);
  const compiled = sources === null ? null : compileProgram(sources, { reader });
  if (compiled?.program != null) return { program: compiled.program, name };
  const errors = [...diagnostics, ...(compiled?.diagnostics ?? [])].filter(({ severity }) => severity === 'error');
  throw new RefusedError(`${name}: cannot be used.\n${formatDiagnostics(errors)}`);
}

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
  const { values } = parseArgs({
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
  const book = cache === null ? null : openPatternBook(cache);
  try {
    return await compileTo(values, cache);
  } finally {
    book?.close();
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
  const { sources, diagnostics: fromSettings } = gatherSources(values.settings, values.rules, values.crs, reader);
  const { program, diagnostics: fromRules } =
    sources === null ? { program: null, diagnostics: [] } : compileProgram(sources, { reader });
  const shown = [...fromSettings, ...fromRules].filter(({ severity }) => severity !== 'info' || values.notes);
  if (shown.length > 0) process.stderr.write(formatDiagnostics(shown));
  if (program === null || sources === null) return 1;
  if (values.dump) process.stdout.write(`#### sources\n${dumpSources(sources)}#### program\n${dumpProgram(program)}`);
  if (values.output === undefined || cache === null) return 0;
  const { bytes, hash, report } = await emitArtifact(program, { cache, clock: () => performance.now() });
  writeWhole(values.output, bytes);
  if (values.dump)
    process.stdout.write(
      `#### plan\n${dumpPlan(program, decodeArtifact(bytes).plan)}#### report\n${JSON.stringify(report, null, 2)}\n`,
    );
  console.error(`${values.output}: ${report.rules} rules, ${bytes.length} bytes, sha256 ${hash}`);
  return 0;
}
