// What a restore takes over of the environment in the backup. Everything that can be refused is refused before anything
// has changed; what is in force already is left where it stands (.env, a file that `…_FILE` names, a container).
import { accessSync, constants, copyFileSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { BackupError } from '#api/main';
import { fileVariableOf, parseEnvironmentFile, type Values } from '#settings/environment';
import { createEnvFile, envFilePath } from '../environment/env-file.js';
import { withFiles } from '../refusal.js';
import { isNeeded, takenRows, withValues } from './environment-text.js';

const isGivenBy = (name: string, given: NodeJS.ProcessEnv): boolean =>
  [name, fileVariableOf(name)].some((each) => Boolean(given[each]));

const textOf = (file: string): string => withFiles(() => readFileSync(file, 'utf8'));

/** In a container the file is a device, under systemd the service may only read it. */
function isChangeable(file: string): boolean {
  if (existsSync(file) && !statSync(file).isFile()) return false;
  try {
    for (const place of existsSync(file) ? [dirname(file), file] : [dirname(file)]) accessSync(place, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * Returns what takes over the environment `text` of a backup; `values` are in force here. Throws BackupError for what
 * stored data needs and cannot be taken over; nothing has changed then.
 */
export function adoptionOf(text: string, values: Values, now: Date): () => void {
  const { values: theirs, problems } = parseEnvironmentFile(text);
  if (problems.length > 0)
    throw new BackupError(`The environment file in the backup has a wrong line ${problems[0]?.line}.`);
  const others = takenRows
    .map(({ name }) => ({ name, value: theirs[name] ?? '' }))
    .filter(({ name, value }) => value !== '' && value !== values[name as keyof Values]);
  const taken = others.filter(({ name }) => !isGivenBy(name, process.env));
  const file = envFilePath();
  const refused = (isChangeable(file) ? others.filter((one) => !taken.includes(one)) : others)
    .map(({ name }) => name)
    .filter(isNeeded);
  if (refused.length > 0)
    throw new BackupError(
      `The backup has another ${refused.join(', ')} than the environment of this process, which would win over the ` +
        '.env that the backup brings. Set those of the backup there (`gatehouse backup environment FILE` prints ' +
        'them), or unset them where .env may be written; then restore.',
    );
  if (taken.length === 0 || !isChangeable(file)) return () => undefined;
  return () => {
    const before = existsSync(file) ? textOf(file) : null;
    if (before === null) createEnvFile(file);
    const current = textOf(file);
    const next = withValues(current, Object.fromEntries(taken.map(({ name, value }) => [name, value])));
    withFiles(() => {
      if (before !== null) copyFileSync(file, `${file}.before-restore-${now.toISOString().replace(/[:.]/g, '-')}`);
      writeFileSync(file, next, { mode: 0o600 });
    });
  };
}

/** Why the environment of a backup cannot be taken over here; null: it can. */
export function hindranceOf(text: string, values: Values): string | null {
  try {
    adoptionOf(text, values, new Date());
    return null;
  } catch (error) {
    if (error instanceof BackupError) return error.message;
    throw error;
  }
}
