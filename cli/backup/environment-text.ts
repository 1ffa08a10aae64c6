// The environment file in a backup and after a restore: what of it belongs to what is stored, and what to the machine.
import { fileVariableOf, variables, type EnvironmentVariable, type Values } from '#settings/environment';

/** Generated secrets that belong to this machine, not to what is stored. */
const ofThisMachine: ReadonlySet<string> = new Set(['POSTGRES_PASSWORD', 'ADMIN_INITIAL_PASSWORD']);
/** Taken over besides the generated secrets: who may log in first, and whom backups are sealed for. */
const alsoTaken: ReadonlySet<string> = new Set(['ADMIN_EMAIL', 'BACKUP_RECIPIENT']);
const rows: readonly EnvironmentVariable[] = variables;

/** What a restore takes over: without these what is stored cannot be read, or nobody can log in. */
export const takenRows: readonly EnvironmentVariable[] = rows.filter(
  ({ name, generated }) => alsoTaken.has(name) || (generated !== undefined && !ofThisMachine.has(name)),
);

/** Whether what is stored cannot be read, or nodes not be reached, with another value. */
export const isNeeded = (name: string): boolean => !alsoTaken.has(name);

/** Of a backup's environment what a restore takes over, as lines. */
export const takenLines = (theirs: Readonly<Record<string, string>>): string =>
  takenRows
    .filter(({ name }) => (theirs[name] ?? '') !== '')
    .map(({ name }) => `${name}=${theirs[name] ?? ''}\n`)
    .join('');

/**
 * The text of an environment file with `taken` in place of its own values, and of files (`…_FILE`) that it names for
 * them; variables that it lacks are added at the end.
 */
export function withValues(text: string, taken: Readonly<Record<string, string>>): string {
  const left = new Map(Object.entries(taken));
  const byFile = new Map(Object.keys(taken).map((name) => [fileVariableOf(name), name]));
  const lines = text.split('\n').map((line) => {
    const found = /^\s*(?:export\s+)?([A-Z][A-Z0-9_]*)\s*=(.*)$/.exec(line);
    const given = found?.[1] ?? '';
    const name = byFile.get(given) ?? given;
    const value = taken[name];
    if (value === undefined || (byFile.has(given) && found?.[2]?.trim() === '')) return line;
    const isFirst = left.delete(name);
    return isFirst ? `${name}=${value}` : `# ${given}: see ${name}`;
  });
  const added = [...left].map(([name, value]) => `${name}=${value}`);
  return added.length === 0 ? lines.join('\n') : [...lines, ...added, ''].join('\n');
}

/**
 * What a backup seals: the file with the secrets in force, wherever they came from (the environment of a container, a
 * file that `…_FILE` names). A restore needs no such place.
 */
export const textInForce = (text: string, values: Values): string =>
  withValues(
    text,
    Object.fromEntries(
      takenRows.flatMap(({ name }) => {
        const value = values[name as keyof Values];
        return value === '' ? [] : [[name, value]];
      }),
    ),
  );
