// Packages of lock files, manifests and bills. A manifest without a lock file gives ranges: it is reported as not
// looked at, and never a vulnerability on the lower end of a range.
import {
  failed,
  nothing,
  together,
  type Engine,
  type FoundPackage,
  type InputFile,
  type Outcome,
} from '../contract.js';
import { Lines } from '../lines.js';
import { FileSystems } from './file-systems.js';
import { folderOf, hasLock, isGoSum, isPom, manifestOf, nameIn, readBill, readerOf } from './files.js';
import { purlOf, type Listing } from './listing.js';
import { needsGoSum } from './readers/compiled.js';
import { listPom, readPom, type Pom } from './readers/maven.js';

const packagesMax = 500_000;

/** UTF-8, or what a mark at the beginning says. */
function textOfFile({ bytes }: InputFile): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return bytes.toString('utf16le', 2);
  return bytes.toString('utf8').replace(/^\ufeff/, '');
}

const reason = {
  development: 'packages for development alone',
  unresolved: 'packages without an exact version: their version is not known',
  unlocked: 'manifests without a lock file: the versions of their packages are not known',
} as const;

function outcomeOf(
  { type, packages, purls = [], unresolved = [], listsDevelopment = false }: Listing,
  path: string,
  lines: Lines,
): Outcome {
  if (packages.length + purls.length > packagesMax) return failed(path, `files with more than ${packagesMax} packages`);
  let at = 0;
  const lineOf = (mark: string | undefined): number | null => {
    if (mark === undefined) return null;
    const behind = lines.text.indexOf(mark, at);
    const found = behind === -1 ? lines.text.indexOf(mark) : behind;
    if (found === -1) return null;
    at = found;
    return lines.lineAt(found);
  };
  const listed = packages.map(
    ({ name, version, isDevelopment, relation, mark, qualifiers }): FoundPackage => ({
      purl: purlOf(type, name, version, qualifiers),
      name,
      version,
      path,
      line: lineOf(mark),
      scope: isDevelopment === true ? 'development' : 'runtime',
      relation: relation ?? 'unknown',
    }),
  );
  const given = purls.map((one): FoundPackage => ({ ...one, path, line: null, scope: 'runtime', relation: 'unknown' }));
  const kept = listed.filter(({ scope }) => listsDevelopment || scope === 'runtime');
  return {
    ...nothing,
    packages: [...kept, ...given],
    scanned: [path],
    notScanned: [
      ...unresolved.map((name) => ({ path: `${path}: ${name}`, reason: reason.unresolved, isFault: true })),
      ...Array.from({ length: listed.length - kept.length }, () => ({
        path,
        reason: reason.development,
        isFault: false,
      })),
    ],
  };
}

export class ScaEngine implements Engine {
  readonly #systems = new FileSystems();
  readonly #poms: { readonly pom: Pom; readonly lines: Lines }[] = [];
  readonly #sums: { readonly path: string; readonly outcome: Outcome }[] = [];
  readonly #manifests: string[] = [];
  /** Folders whose go.mod names every package. */
  readonly #wholeGoMods = new Set<string>();
  /** Folder → names of its lock files. */
  readonly #seen = new Map<string, string[]>();

  take(file: InputFile): Outcome {
    const { path } = file;
    if (this.#systems.take(file)) return nothing;
    const text = textOfFile(file);
    const manifest = manifestOf(path);
    if (manifest !== null) {
      if (manifest.needs.test(text)) this.#manifests.push(path);
      return nothing;
    }
    const names = this.#seen.get(folderOf(path));
    if (names === undefined) this.#seen.set(folderOf(path), [nameIn(path)]);
    else names.push(nameIn(path));
    const lines = new Lines(text);
    if (isPom(path)) {
      this.#poms.push({ pom: readPom(text, path), lines });
      return nothing;
    }
    if (nameIn(path) === 'go.mod' && !needsGoSum(text)) this.#wholeGoMods.add(folderOf(path));
    const reader = readerOf(path) ?? (/"(?:bomFormat|spdxVersion)"/.test(text) ? readBill : null);
    if (reader === null || reader === undefined) return nothing;
    const outcome = outcomeOf(reader(text, path), path, lines);
    if (!isGoSum(path)) return outcome;
    this.#sums.push({ path, outcome });
    return nothing;
  }

  end(): Outcome {
    const known = this.#poms.map(({ pom }) => pom);
    const poms = this.#poms.map(({ pom, lines }) => outcomeOf(listPom(pom, known), pom.path, lines));
    const sums = this.#sums.filter(({ path }) => !this.#wholeGoMods.has(folderOf(path))).map(({ outcome }) => outcome);
    const read = this.#sums
      .filter(({ path }) => this.#wholeGoMods.has(folderOf(path)))
      .map(({ path }): Outcome => ({ ...nothing, scanned: [path] }));
    const open = this.#manifests.map((path) => {
      const manifest = manifestOf(path);
      return manifest === null || hasLock(path, manifest, this.#seen) ? nothing : failed(path, reason.unlocked);
    });
    return together([...poms, ...sums, ...read, ...open, this.#systems.end()]);
  }
}
