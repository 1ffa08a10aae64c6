// Golden files: what a test file says must come out, and what does. `UPDATE=1` rewrites the files instead of failing.
//
// A file holds cases. A case begins with `==== title`, then the sources, then `----`, then the expected dump or
// diagnostics. A line `++++ path` inside the sources begins a further file that the case may include.

export interface GoldenCase {
  readonly title: string;
  readonly input: string;
  /** Further files by path. */
  readonly files: ReadonlyMap<string, string>;
  readonly expected: string;
}

export function parseGolden(text: string): GoldenCase[] {
  const cases: GoldenCase[] = [];
  for (const part of text.split(/^==== /m).slice(1)) {
    const titleEnd = part.indexOf('\n');
    const body = part.slice(titleEnd + 1);
    const separator = /^----\n/m.exec(body);
    const sources = separator === null ? body : body.slice(0, separator.index);
    const expected = separator === null ? '' : body.slice(separator.index + separator[0].length).replace(/\n+$/, '\n');
    const [input, ...others] = sources.split(/^\+\+\+\+ /m);
    const files = new Map(
      others.map((other): [string, string] => [
        other.slice(0, other.indexOf('\n')),
        other.slice(other.indexOf('\n') + 1),
      ]),
    );
    cases.push({ title: part.slice(0, titleEnd).trim(), input: input ?? '', files, expected });
  }
  return cases;
}

export function printGolden(cases: readonly GoldenCase[]): string {
  return cases
    .map(({ title, input, files, expected }) => {
      const others = [...files].map(([path, text]) => `++++ ${path}\n${text}`).join('');
      return `==== ${title}\n${input}${others}----\n${expected}`;
    })
    .join('\n');
}
