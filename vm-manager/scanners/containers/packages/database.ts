// What readers of package databases give: packages as their distribution has them.

export interface Installed {
  readonly name: string;
  /** As the distribution writes it, with epoch and release where they belong to it. */
  readonly version: string;
  readonly arch: string;
  /** Of the package that it was built of; empty: the same. */
  readonly source: string;
  readonly sourceVersion: string;
  /** Of RPM, which has it apart. */
  readonly epoch?: string;
}

export const installedMax = 200_000;

/** Blocks of `Key: value` lines, which empty lines part; a line that begins with a blank continues the one before. */
export function* blocksOf(text: string): Generator<ReadonlyMap<string, string>> {
  let block = new Map<string, string>();
  for (const line of text.split('\n')) {
    if (line.trim() === '') {
      if (block.size > 0) yield block;
      block = new Map();
      continue;
    }
    const at = line.indexOf(':');
    if (at > 0 && line[0] !== ' ' && line[0] !== '\t') block.set(line.slice(0, at), line.slice(at + 1).trim());
  }
  if (block.size > 0) yield block;
}
