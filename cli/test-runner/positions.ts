// Positions in what tests print, as places in the sources. Test processes run without Node's own source maps: to read
// one for each module costs every process 0.1 to 0.4 s, and only what failed is looked up.
import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface Position {
  /** Relative to the root where it is below it. */
  readonly file: string;
  /** Both from 1. */
  readonly line: number;
  readonly column: number;
}

const inText = /(?<file>(?:file:\/\/)?[^\s:()'"]*build\/[^\s:()'"]+\.js):(?<line>\d+):(?<column>\d+)/g;

export class Positions {
  private readonly maps = new Map<string, SourceMap | null>();

  /** Files are relative to `root`, as test processes run there. */
  constructor(private readonly root: string) {}

  /** Where the source of a position in a built file is; itself where that is not known. */
  toSource(position: Position): Position {
    const { file, line, column } = position;
    const path = resolve(this.root, file.startsWith('file://') ? fileURLToPath(file) : file);
    const entry = this.mapOf(path)?.findEntry(line - 1, column - 1);
    if (entry === undefined || !('originalSource' in entry)) return position;
    const source = relative(this.root, join(dirname(path), entry.originalSource));
    return { file: source, line: entry.originalLine + 1, column: entry.originalColumn + 1 };
  }

  /** A line of text with the positions that it has (FILE:LINE:COLUMN) as places in the sources. */
  inLine(text: string): string {
    if (!text.includes('.js:')) return text;
    return text.replace(inText, (all, file: string, line: string, column: string) => {
      const given = { file, line: Number(line), column: Number(column) };
      const found = this.toSource(given);
      return found === given ? all : `${found.file}:${found.line}:${found.column}`;
    });
  }

  private mapOf(path: string): SourceMap | null {
    const known = this.maps.get(path);
    if (known !== undefined) return known;
    let map: SourceMap | null = null;
    try {
      map = new SourceMap(
        JSON.parse(readFileSync(`${path}.map`, 'utf8')) as ConstructorParameters<typeof SourceMap>[0],
      );
    } catch {
      // not one of ours
    }
    this.maps.set(path, map);
    return map;
  }
}
