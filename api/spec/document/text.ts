// The text of a specification → its value, and the line of each part of it. JSON goes through JSON.parse, which is
// twenty times as fast as a parser of YAML; the YAML library reads it again only when a line is asked for.
import { isAlias, isCollection, isMap, isPair, isSeq, LineCounter, parseDocument, type Document } from 'yaml';
import { isYamlDeeper } from '../../http-kit/limits/yaml-depth.js';
import type { SpecProblem } from './problem.js';

export interface SpecText {
  readonly value: unknown;
  readonly format: 'json' | 'yaml';
  /** Where a part stands; of a part that is not there, where the nearest part around it stands. Lines begin with 1. */
  readonly lineOf: (path: readonly (string | number)[]) => number;
}

/** References to one anchor may repeat it; beyond it a document of a few lines could become one of gigabytes. */
const aliasesMax = 1000;

/** Of collections within each other, also of a text that turns out to be no specification. */
const levelsMax = 250;

type Parsed = ReturnType<typeof parseText>;

function parseText(text: string) {
  const counter = new LineCounter();
  const document: Document.Parsed = parseDocument(text, { lineCounter: counter, uniqueKeys: true, version: '1.2' });
  return { document, counter };
}

function lineIn({ document, counter }: Parsed, path: readonly (string | number)[]): number {
  let node: unknown = document.contents;
  let at = 0;
  for (const name of path) {
    if (isAlias(node)) node = node.resolve(document);
    if (isMap(node)) {
      const pair = node.items.find(
        (one) => isPair(one) && String((one.key as { value?: unknown })?.value) === `${name}`,
      );
      if (pair === undefined) break;
      at = (pair.key as { range?: readonly number[] }).range?.[0] ?? at;
      node = pair.value;
    } else if (isSeq(node)) {
      const item: unknown = node.items[Number(name)];
      if (item === undefined) break;
      at = (item as { range?: readonly number[] }).range?.[0] ?? at;
      node = item;
    } else break;
  }
  if (at === 0 && isCollection(document.contents)) at = document.contents.range?.[0] ?? 0;
  return counter.linePos(at).line;
}

/** Without the place, which stands beside it. */
const firstLine = (message: string): string =>
  (message.split('\n')[0] ?? '').replace(/ at line \d+, column \d+:?$/, '');

/** Never throws: what cannot be read is a problem with its line. */
export function readText(text: string): { readonly text: SpecText | null; readonly problems: readonly SpecProblem[] } {
  const held: { parsed: Parsed | null } = { parsed: null };
  const lineOf = (path: readonly (string | number)[]): number => lineIn((held.parsed ??= parseText(text)), path);
  if (/^\s*[{[]/.test(text)) {
    try {
      return { text: { value: JSON.parse(text) as unknown, format: 'json', lineOf }, problems: [] };
    } catch {
      // flow style of YAML begins with a brace, too; what is neither is told by the YAML library, which knows lines
    }
  }
  if (isYamlDeeper(text, levelsMax)) {
    const reason = `nests deeper than ${levelsMax} levels`;
    const fix = 'use $ref for repeated parts';
    return { text: null, problems: [{ severity: 'error', path: '', line: 1, reason, fix }] };
  }
  const parsed = parseText(text);
  held.parsed = parsed;
  const { errors } = parsed.document;
  if (errors.length > 0) {
    const problems = errors.slice(0, 20).map(
      ({ linePos, message }): SpecProblem => ({
        severity: 'error',
        path: '',
        line: linePos?.[0].line ?? 1,
        reason: `is not valid YAML or JSON: ${firstLine(message)}`,
        fix: 'fix the text at this line',
      }),
    );
    return { text: null, problems };
  }
  try {
    const value: unknown = parsed.document.toJS({ maxAliasCount: aliasesMax });
    return { text: { value: plain(value), format: 'yaml', lineOf }, problems: [] };
  } catch (error) {
    const reason = `cannot be expanded: ${error instanceof Error ? error.message : String(error)}`;
    const fix = `repeat an anchor ${aliasesMax} times at most`;
    return { text: null, problems: [{ severity: 'error', path: '', line: 1, reason, fix }] };
  }
}

/** As JSON has it: shared parts copied, no dates, no maps. An anchor that contains itself has no such form. */
function plain(value: unknown): unknown {
  return value === undefined ? null : (JSON.parse(JSON.stringify(value)) as unknown);
}
