// Servers that tests run for themselves: found on the machine, or their tests are skipped with one line that says what
// was not tested. Continuous integration has them all: there a missing one fails, so that nothing looks tested that was
// not.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** The first directory that has all these programs: of the PATH, else of `others`; null: nowhere. */
export function findPrograms(names: readonly string[], others: readonly string[] = []): string | null {
  const onPath = (process.env['PATH'] ?? '').split(':').filter((directory) => directory !== '');
  const hasAll = (directory: string): boolean => names.every((name) => existsSync(join(directory, name)));
  return [...onPath, ...others].find(hasAll) ?? null;
}

/** Where Debian keeps PostgreSQL's programs, the newest version first. */
export function debianDirectories(): string[] {
  const root = '/usr/lib/postgresql';
  if (!existsSync(root)) return [];
  const versions = readdirSync(root).sort((a, b) => Number(b) - Number(a));
  return versions.map((version) => join(root, version, 'bin'));
}

export interface Wanted {
  readonly server: string;
  /** What stays untested without it. */
  readonly untested: string;
  readonly install: string;
  /** Set to 1 where it is not to be tested, whatever is installed. */
  readonly variable: string;
}

/** For `skip`: why, or false. */
export function skipWithout(
  directory: string | null,
  { server, untested, install, variable }: Wanted,
  environment: NodeJS.ProcessEnv = process.env,
): string | false {
  if (environment[variable] === '1') return `${variable}=1: ${untested} is not tested`;
  if (directory !== null || environment['CI'] === 'true') return false;
  return `${server} is not on this machine, so ${untested} is not tested: ${install}`;
}

/** For a test that was not skipped, where the program is missing all the same. */
export function required(directory: string | null, { server, install, variable }: Wanted): string {
  if (directory !== null) return directory;
  throw new Error(`there is no ${server}: ${install}, or set ${variable}=1 where it is not to be tested`);
}
