// Files, ids and spans. The only way to the outside is the injected reader: the compiler itself opens nothing.

/** Reads rule files. Text is latin1: one code unit per byte. Implementations decide what may be read. */
export interface SourceReader {
  /** The file's bytes as latin1, or null when there is none (or it may not be read). Must not throw. */
  readonly read: (path: string) => string | null;
  /** Paths that match a shell pattern, in any order; the compiler sorts them by name. */
  readonly glob: (pattern: string) => readonly string[];
}

/** A piece of rule text. */
export interface SourceText {
  /** What diagnostics name, and where data files are looked for. */
  readonly path: string;
  readonly text: string;
  /**
   * What the program calls the file; default its path. The same rules in two directories must give the same artifact,
   * byte for byte: control planes on several machines recognise by its hash what a node serves.
   */
  readonly name?: string;
}

/** Half-open range of offsets into a file's text. */
export interface Span {
  readonly file: number;
  readonly start: number;
  readonly end: number;
}

export class SourceFile {
  private starts: number[] | null = null;

  constructor(
    readonly id: number,
    readonly path: string,
    readonly text: string,
    readonly name: string = path,
  ) {}

  private lineStarts(): number[] {
    if (this.starts !== null) return this.starts;
    const starts = [0];
    for (let at = this.text.indexOf('\n'); at !== -1; at = this.text.indexOf('\n', at + 1)) starts.push(at + 1);
    this.starts = starts;
    return starts;
  }

  /** Line and column (both from 1) of an offset. */
  position(offset: number): { line: number; column: number } {
    const starts = this.lineStarts();
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] as number) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - (starts[low] as number) + 1 };
  }

  /** The offset of a line and column (both from 1). */
  offset(line: number, column: number): number {
    return (this.lineStarts()[line - 1] ?? this.text.length) + column - 1;
  }

  /** The text of a line without its line ending. */
  lineText(line: number): string {
    const starts = this.lineStarts();
    const start = starts[line - 1];
    if (start === undefined) return '';
    const end = starts[line] ?? this.text.length + 1;
    const text = this.text.slice(start, end - 1);
    return text.endsWith('\r') ? text.slice(0, -1) : text;
  }
}

export const noReader: SourceReader = { read: () => null, glob: () => [] };

/** Folder part of a path with `/`, without the slash; '' when there is none. */
function folderOf(path: string): string {
  const slash = path.lastIndexOf('/');
  return slash === -1 ? '' : slash === 0 ? '/' : path.slice(0, slash);
}

function join(folder: string, path: string): string {
  if (folder === '' || path.startsWith('/')) return path;
  return folder.endsWith('/') ? `${folder}${path}` : `${folder}/${path}`;
}

/** Every file of one compilation. */
export class SourceSet {
  readonly files: SourceFile[] = [];

  constructor(readonly reader: SourceReader) {}

  add(path: string, text: string, name?: string): SourceFile {
    const file = new SourceFile(this.files.length, path, text, name);
    this.files.push(file);
    return file;
  }

  file(id: number): SourceFile {
    const file = this.files[id];
    if (file === undefined) throw new RangeError(`no source file ${id}`);
    return file;
  }

  /** A data file named in `from`: relative to that file's folder first, then as given. */
  readData(from: SourceFile, path: string): { path: string; text: string } | null {
    for (const candidate of new Set([join(folderOf(from.path), path), path])) {
      const text = this.reader.read(candidate);
      if (text !== null) return { path: candidate, text };
    }
    return null;
  }

  /** The files an Include names, sorted by name; empty when nothing matches. */
  resolveInclude(from: SourceFile, pattern: string): string[] {
    for (const candidate of new Set([join(folderOf(from.path), pattern), pattern])) {
      if (/[*?[]/.test(candidate)) {
        const found = [...this.reader.glob(candidate)].sort((left, right) =>
          left < right ? -1 : left > right ? 1 : 0,
        );
        if (found.length > 0) return found;
      } else if (this.reader.read(candidate) !== null) return [candidate];
    }
    return [];
  }
}
