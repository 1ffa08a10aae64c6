// File systems that lie unpacked in a directory: what their distribution has installed, with its release.
import { nothing, type FoundPackage, type InputFile, type Outcome } from '../contract.js';
import type { Installed } from '../containers/packages/database.js';
import { databaseOf, inRoot, isRelease, readDatabase, type Database } from '../containers/packages/places.js';
import { purlOfInstalled, readRelease, type Release } from '../containers/packages/release.js';

interface Listed {
  readonly path: string;
  readonly root: string;
  readonly database: Database;
  readonly installed: readonly Installed[];
}

export const isOfFileSystem = (path: string): boolean => inRoot(path) !== null;

export class FileSystems {
  readonly #lists: Listed[] = [];
  /** Root → release. */
  readonly #releases = new Map<string, Release>();

  /** Whether it was one of theirs. Throws for a database that cannot be read. */
  take({ path, bytes }: InputFile): boolean {
    const at = inRoot(path);
    if (at === null) return false;
    const { root } = at;
    if (isRelease(at.path)) {
      // etc is the one that counts, and a link to the other in most
      const release = readRelease(bytes.toString('utf8'));
      if (release.id !== '' && (at.path.startsWith('etc/') || !this.#releases.has(root)))
        this.#releases.set(root, release);
      return true;
    }
    const database = databaseOf(at.path);
    if (database !== null)
      this.#lists.push({ path, root, database, installed: readDatabase(database, at.path, bytes) });
    return true;
  }

  end(): Outcome {
    const packages = this.#lists.flatMap(({ path, root, database, installed }) =>
      installed.map(
        (one): FoundPackage => ({
          purl: purlOfInstalled(database, one, this.#releases.get(root) ?? null),
          ...{ name: one.name, version: one.version, path, line: null, scope: 'runtime', relation: 'unknown' },
        }),
      ),
    );
    return { ...nothing, packages, scanned: this.#lists.map(({ path }) => path) };
  }
}
