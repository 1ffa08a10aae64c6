// Two files of a report never become one: where what is left of their paths is the same, one of them keeps more of its
// path. Which one follows from what they are, and not from the order of the report, as far as it was read before.
import { isAbsolute, withoutRoot } from './paths.js';

type Place = (path: string) => string;

/** What a stored path was made of. */
interface Owners {
  /** A file below the root, or one whose path is relative: they are the same one. */
  below: string | null;
  isRelative: boolean;
  /** A file that lies elsewhere; without a root it may be written from the repository, with a slash before it. */
  beside: string | null;
}

/** The file that a path is of; on Windows case tells none apart. */
const fileOf = (path: string): string => (/^[A-Z]:/.test(path) ? path.toLowerCase() : path);

export class Unlike {
  private readonly made = new Map<string, string>();
  private readonly owners = new Map<string, Owners>();
  private hasRoot = false;

  /** The same for the same path. */
  pathOf(path: string, place: Place): string {
    const before = this.made.get(path);
    if (before !== undefined) return before;
    const bare = withoutRoot(path);
    const made = [place(path), bare, path, `/${bare}`].find((one) => this.take(path, one)) ?? path;
    this.made.set(path, made);
    return made;
  }

  /** Paths below a root come first: one beside it is the one that stays longer. */
  order(paths: readonly string[], place: Place): void {
    const all = [...new Set(paths)].sort();
    for (const path of all) if (!isBeside(path, place(path))) this.pathOf(path, place);
    for (const path of all) this.pathOf(path, place);
  }

  /** Whether the stored path is this file's, or becomes it. */
  private take(path: string, made: string): boolean {
    const owners = this.owners.get(made) ?? { below: null, isRelative: false, beside: null };
    const file = fileOf(path);
    if (!isAbsolute(path)) {
      if (this.hasRoot && owners.beside !== null) return false;
      owners.isRelative = true;
    } else if (isBeside(path, made)) {
      if (this.hasRoot && owners.isRelative) return false;
      if ((owners.below ?? owners.beside ?? file) !== file) return false;
      owners.beside = file;
    } else {
      if ((owners.below ?? owners.beside ?? file) !== file) return false;
      owners.below = file;
      this.hasRoot = true;
    }
    this.owners.set(made, owners);
    return true;
  }
}

const isBeside = (path: string, made: string): boolean =>
  isAbsolute(path) && (made === withoutRoot(path) || made === path);
