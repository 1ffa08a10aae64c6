// The grammar of `.env`, the only one: the commands and the control plane read the same file.
//
// A line is `NAME=value`, `export` may stand before it. The value is all that follows `=`, without the white space
// around it; one pair of quotes around the whole of it is taken off. A line that begins with `#` is a comment; a `#`
// further on belongs to the value, as do `=`, `$` and backslashes. Nothing is escaped, replaced or continued on the
// next line. An empty value is the same as none. Where a name stands twice, the last one counts.
//
// Not by `parseEnv` of node:util, which reads the same file otherwise in every release: 20.12 takes `#A=b` for a
// setting, 20.20 ends `A=b#c` before the `#` and 22.12 does not, 22.12 also finds a setting `a` in `A=a=b`, 24.1 takes
// the line after `A= ` for its value. A key with a `#` in it would be another key after an update of Node.js. A shell
// that sources the file reads the same where a value has no white space, quote, `$`, backslash or the like outside of
// quotes; what Gatehouse writes never has.

export interface EnvironmentFileProblem {
  readonly line: number;
  readonly message: string;
}

export interface EnvironmentFile {
  readonly values: Readonly<Record<string, string>>;
  readonly problems: readonly EnvironmentFileProblem[];
}

const setting = /^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*?)\s*$/;

/** Never throws: lines that are none of the grammar are problems with their numbers. */
export function parseEnvironmentFile(text: string): EnvironmentFile {
  const values: Record<string, string> = {};
  const problems: EnvironmentFileProblem[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '' || line.trimStart().startsWith('#')) continue;
    const [, name, value = ''] = setting.exec(line) ?? [];
    if (name === undefined)
      problems.push({ line: index + 1, message: `"${line.trim()}" is not NAME=value; fix or remove the line.` });
    else values[name] = value.replace(/^(["'])(.*)\1$/, '$2');
  }
  return { values, problems };
}
