// data/settings.json: what a data plane without a control plane goes by.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { shown } from '../environment/directories.js';
import { Refusal, withFiles } from '../refusal.js';

/** A first settings file: everything at the specification's defaults, the sites left to UPSTREAM_*. */
const firstSettings = { mode: 'On', paranoia_level: 1, inbound_threshold: 5, outbound_threshold: 4, sites: [] };

/** Where it is; one is written where there is none. */
export function settingsFile(data: string): string {
  const file = join(data, 'settings.json');
  if (existsSync(file)) return file;
  withFiles(() => {
    mkdirSync(data, { recursive: true });
    writeFileSync(file, `${JSON.stringify(firstSettings, null, 2)}\n`, { flag: 'wx' });
  });
  return file;
}

export function readSettings(file: string): unknown {
  const text = withFiles(() => readFileSync(file, 'utf8'));
  try {
    return JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new Refusal(
      `${shown(file)} is not JSON: ${error.message}\n` +
        '  Mend the file (or move it away: a fresh one is written at the next start).',
    );
  }
}
