// data/settings.json: what a data plane without a control plane goes by.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findRuleIds } from '#compiler';
import { formatProblems, initialSettings, readLocalFile, type Settings } from '#settings';
import { shown } from '../environment/directories.js';
import { isSystemError, Refusal, withFiles } from '../refusal.js';

/** A first settings file: what a new installation begins with, the sites left to UPSTREAM_*. */
function firstSettings() {
  const { mode, second_opinion, paranoia_level, inbound_threshold, outbound_threshold } = initialSettings();
  return { mode, second_opinion, paranoia_level, inbound_threshold, outbound_threshold, sites: [] };
}

/** Where it is; one is written where there is none. */
export function settingsFile(data: string): string {
  const file = join(data, 'settings.json');
  if (existsSync(file)) return file;
  withFiles(() => {
    mkdirSync(data, { recursive: true, mode: 0o750 });
    writeFileSync(file, `${JSON.stringify(firstSettings(), null, 2)}\n`, { flag: 'wx', mode: 0o640 });
  });
  return file;
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw isSystemError(error) ? new Refusal(`${shown(file)} cannot be read: ${error.message}`) : error;
  }
}

/**
 * Throws Refusal with every problem and its place. `tellNote` hears what is read under an old name, or by a new
 * default.
 */
export function readSettings(
  file: string,
  tellNote: (note: string) => void = () => {},
  purpose: 'serve' | 'compile' = 'serve',
): Settings {
  const read = readLocalFile(textOf(file), purpose, { inText: findRuleIds, ofCve: () => [] });
  if (read.kind === 'refused') {
    const problems = formatProblems(read.problems, 'the file').replace(/^/gm, '  ');
    const fix =
      purpose === 'compile'
        ? 'Fix the file.'
        : 'Fix the file (or move it away: a fresh one is written at the next start).';
    throw new Refusal(`${shown(file)} cannot be used; nothing was changed:\n${problems}\n  ${fix}`);
  }
  for (const { path, note } of read.notes) tellNote(`${shown(file)}: ${path} ${note}`);
  return read.settings;
}
