// What the program says by itself. A value that equals a part of its own text proves nothing: a text that came without
// this value before is not made by it, and neither is one that stands in the program's files.
import { readFileSync, statSync } from 'node:fs';
import Module from 'node:module';

const textsMax = 2000;
const charactersMax = 4096;
const fileBytesMax = 524_288;
const allBytesMax = 4_194_304;

/** Texts of statements that were looked at, so that each is judged once, however often it is sent. */
export class SeenTexts {
  readonly #texts = new Set<string>();

  holds(text: string): boolean {
    return this.#texts.has(text);
  }

  /** Whether it was seen before; from now on it was. The oldest are forgotten. */
  hasSeen(text: string): boolean {
    if (text.length > charactersMax) return false;
    if (this.#texts.has(text)) return true;
    if (this.#texts.size >= textsMax)
      for (const oldest of this.#texts) {
        this.#texts.delete(oldest);
        break;
      }
    this.#texts.add(text);
    return false;
  }
}

let kept: { readonly at: number; readonly texts: ReadonlyMap<string, string> } | null = null;
const keptMs = 60_000;

function readBounded(file: string): string {
  try {
    return statSync(file).size <= fileBytesMax ? readFileSync(file, 'utf8') : '';
  } catch (error) {
    // bundled, moved or of an archive: what cannot be read says nothing
    if (error instanceof Error && 'code' in error) return '';
    throw error;
  }
}

/** The application's own files that are loaded: all of CommonJS, and those of the stack. At most 4 MiB. */
function ownTexts(files: readonly string[], now: number): Iterable<string> {
  if (kept === null || now - kept.at > keptMs) {
    const texts = new Map<string, string>();
    let bytes = 0;
    const cache = (Module as unknown as { readonly _cache?: Readonly<Record<string, unknown>> })._cache ?? {};
    for (const file of Object.keys(cache)) {
      if (file.includes('node_modules') || bytes > allBytesMax) continue;
      const text = readBounded(file);
      bytes += text.length;
      texts.set(file, text);
    }
    kept = { at: now, texts };
  }
  const more = files.filter((file) => kept?.texts.has(file) !== true).map(readBounded);
  return [...kept.texts.values(), ...more];
}

const spellings = (value: string): Set<string> => {
  const json = JSON.stringify(value).slice(1, -1);
  return new Set([value, json, value.replace(/['\\]/g, '\\$&'), value.replace(/[`\\$]/g, '\\$&')]);
};

/**
 * Whether the value stands in the application's own files, in one of the ways to write a text: then it may as well be
 * theirs. `files` are of the stack.
 */
export function isOwnText(value: string, files: readonly string[], now = Date.now()): boolean {
  const wanted = [...spellings(value)];
  for (const text of ownTexts(files, now)) if (wanted.some((one) => text.includes(one))) return true;
  return false;
}

/** Whether a variable of the environment has it: addresses of other services stand there. */
export const isInEnvironment = (value: string): boolean =>
  Object.values(process.env).some((one) => one?.includes(value) === true);

const depthOf = (line: string): number => /^\s*/.exec(line)?.[0].length ?? 0;
/** The end of a function that stands beside or before. */
const isEnd = (line: string, depth: number): boolean => /^\s*\}[);,]*\s*$/.test(line) && depthOf(line) < depth;

/** The lines of the same function around a place, at most `count` on each side. */
export function linesAround(file: string, line: number, count: number): string {
  const lines = readBounded(file).split('\n');
  const at = line - 1;
  const depth = depthOf(lines[at] ?? '');
  let [from, to] = [at, at];
  while (from > 0 && at - from < count && !isEnd(lines[from - 1] ?? '', depth)) from--;
  while (to < lines.length - 1 && to - at < count && !isEnd(lines[to + 1] ?? '', depth)) to++;
  return lines.slice(from, to + 1).join('\n');
}
