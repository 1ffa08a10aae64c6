// The directory that the absolute paths of a report have in common.
import {
  commonParts,
  innerAt,
  isAbsolute,
  isHeld,
  isOfRepositories,
  isOfRoot,
  isSystemName,
  partsOf,
} from './paths.js';

/** What some paths have in common, and what is directly in it. */
class Common {
  private parts: readonly string[] | null = null;
  private readonly children = new Set<string>();
  isWindows = false;

  add(path: string): void {
    const directory = partsOf(path).slice(0, -1);
    this.isWindows = /^[A-Z]:/.test(path);
    this.parts = this.parts === null ? directory : commonParts(this.parts, directory);
    if (this.children.size < childrenMax) this.children.add(partsOf(path).slice(0, 2).join('/'));
  }
  /** Above the first directory that repositories have; null: nothing was added. */
  get kept(): readonly string[] | null {
    if (this.parts === null) return null;
    const inner = innerAt(this.parts);
    return inner < 0 ? this.parts : this.parts.slice(0, inner);
  }
  /** Whether a repository begins in the first directory: what lies in it is what lies in repositories. */
  get isRepositoryIn(): boolean {
    return [...this.children].some((child) => {
      const [, name = ''] = child.split('/');
      return isOfRepositories(name) || isOfRoot(name);
    });
  }
}
const childrenMax = 1000;

/**
 * Collects absolute paths and gives the directory that all of them have in common, above `src` and its like. Paths in
 * places where checkouts are kept decide; without any, the others do, but for those of a system.
 */
export class CommonRoot {
  private readonly held = new Common();
  private readonly others = new Common();
  /** It has paths of a whole system: then what lies in `/opt` is a program of an image. */
  private isOfSystem = false;

  add(path: string): void {
    if (!isAbsolute(path)) return;
    if (isHeld(path)) {
      this.held.add(path);
      return;
    }
    this.isOfSystem = true;
    if (!isSystemName(partsOf(path)[0] ?? '')) this.others.add(path);
  }

  /** null: there is none, or it is the root of the file system. */
  get root(): string | null {
    const kept = this.held.kept;
    if (kept === null || (this.isOfSystem && /^(?:opt|var)$/.test(kept[0] ?? ''))) return null;
    return kept.length === 0 ? null : `${this.held.isWindows ? '' : '/'}${kept.join('/')}`;
  }

  /**
   * Where no list knows the place: the directory that is shared, unless the paths may be a repository's own with a
   * slash before them. null: there is none.
   */
  get unlisted(): string | null {
    const kept = this.held.kept === null ? this.others.kept : null;
    if (kept === null || kept.length === 0 || isOfRepositories(kept[0] ?? '')) return null;
    return kept.length > 1 || this.others.isRepositoryIn ? `/${kept.join('/')}` : null;
  }
}
