// Artifacts for the in-process cases, compiled by the same command that people use.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { HarnessProblem, runToEnd } from './processes.js';
import { benchData, gatehouseSettings, type Rules } from './systems.js';

export interface CompileRun {
  readonly file: string;
  readonly tookMs: number;
  readonly bytes: number;
}

/** Compiles with `data` as GATEHOUSE_DATA: an empty one is a cold compile, a used one has the automata of before. */
export async function compileSettings(root: string, rules: Rules, data: string, settings: object): Promise<CompileRun> {
  const settingsFile = join(data, 'settings.json');
  const file = join(data, 'bench.artifact');
  writeFileSync(settingsFile, JSON.stringify(settings));
  const env = {
    ...process.env,
    GATEHOUSE_DATA: data,
    CRS_DIR: rules.directory,
    GATEHOUSE_UNICODE_MAPPING: rules.unicodeMapping ?? '',
  };
  const { code, stdout, stderr, tookMs } = await runToEnd(
    process.execPath,
    [join(root, 'bin/gatehouse'), 'compile', '--settings', settingsFile, '-o', file],
    env,
  );
  if (code !== 0) throw new HarnessProblem(`gatehouse compile ended with ${code}:\n${(stderr + stdout).slice(-3000)}`);
  return { file, tookMs, bytes: readFileSync(file).length };
}

/** The artifact of a paranoia level; automata are cached below data/bench. */
export async function artifactOf(root: string, rules: Rules, paranoia: number): Promise<Buffer> {
  const { file } = await compileSettings(root, rules, benchData(root, `pl${paranoia}`), gatehouseSettings(paranoia, 1));
  return readFileSync(file);
}
