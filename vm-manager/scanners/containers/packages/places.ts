// Where the packages of a distribution are listed in a file system, and in which form.
import { readRpmBerkeley, readRpmNdb, readRpmSqlite } from './rpm.js';
import { readApk, readDpkg } from './text-databases.js';
import type { Installed } from './database.js';

export type Database = 'dpkg' | 'apk' | 'rpm-sqlite' | 'rpm-ndb' | 'rpm-bdb';

const databases: readonly (readonly [end: RegExp, of: Database])[] = [
  [/^var\/lib\/dpkg\/status$/, 'dpkg'],
  [/^var\/lib\/dpkg\/status\.d\/[^/]+(?<!\.md5sums)$/, 'dpkg'],
  [/^(?:usr\/)?lib\/apk\/db\/installed$/, 'apk'],
  [/^(?:var\/lib\/rpm|usr\/lib\/sysimage\/rpm|usr\/share\/rpm)\/rpmdb\.sqlite$/, 'rpm-sqlite'],
  [/^(?:var\/lib\/rpm|usr\/lib\/sysimage\/rpm|usr\/share\/rpm)\/Packages\.db$/, 'rpm-ndb'],
  [/^(?:var\/lib\/rpm|usr\/lib\/sysimage\/rpm)\/Packages$/, 'rpm-bdb'],
];

/** Of a path from the root of the file system. */
export const databaseOf = (path: string): Database | null => databases.find(([of]) => of.test(path))?.[1] ?? null;
export const isRelease = (path: string): boolean => /^(?:etc|usr\/lib)\/os-release$/.test(path);

export interface InRoot {
  /** The directory that is the root of the file system, with `/` at its end; '': the source itself. */
  readonly root: string;
  /** From there. */
  readonly path: string;
}

/** A database or os-release of a file system that lies in a directory; null: it is neither. */
export function inRoot(path: string): InRoot | null {
  if (!/(?:^|\/)(?:var\/lib\/(?:dpkg|rpm)|lib\/apk\/db|usr\/lib\/sysimage\/rpm|usr\/share\/rpm|os-release)/.test(path))
    return null;
  const parts = path.split('/');
  // the shortest way to the end that is one: `usr/lib/apk` before `lib/apk`
  for (let from = 0; from < parts.length - 1; from++) {
    const rest = parts.slice(from).join('/');
    if (databaseOf(rest) !== null || isRelease(rest))
      return { root: path.slice(0, path.length - rest.length), path: rest };
  }
  return null;
}

export function readDatabase(database: Database, path: string, bytes: Buffer): Installed[] {
  switch (database) {
    case 'dpkg':
      return readDpkg(bytes.toString('utf8'), !path.includes('/status.d/'));
    case 'apk':
      return readApk(bytes.toString('utf8'));
    case 'rpm-sqlite':
      return readRpmSqlite(bytes);
    case 'rpm-ndb':
      return readRpmNdb(bytes);
    case 'rpm-bdb':
      return readRpmBerkeley(bytes);
  }
}
