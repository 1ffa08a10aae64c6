// The one language of templates: {{names}} of a fixed list and nothing else, so that a text can neither loop, nor read
// what it was not given, nor become markup: each value is escaped for the place that it goes to.
import { unfit } from '../kit/endpoint.js';

const held = /\{\{\s*([^{}]*?)\s*\}\}/g;

export interface TemplateFault {
  /** Both from 1; columns in characters. */
  readonly line: number;
  readonly column: number;
  readonly reason: string;
  readonly fix: string;
}

function placeOf(text: string, index: number): Pick<TemplateFault, 'line' | 'column'> {
  const before = text.slice(0, index).split('\n');
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

/** So many are listed. */
const faultsMax = 20;

/** What is wrong with a template, in the order in which it stands there. `whose`: "which no … has". */
export function faultsOf(text: string, names: readonly string[], whose: string): readonly TemplateFault[] {
  const found: (TemplateFault & { readonly index: number })[] = [];
  for (const { 0: whole, 1: name = '', index } of text.matchAll(held))
    if (!names.includes(name))
      found.push({
        ...placeOf(text, index),
        index,
        reason: `has ${whole.slice(0, 60)}, which no ${whose} has`,
        fix: `use one of ${names.join(', ')}`,
      });
  const blank = text.replace(held, (whole) => ' '.repeat(whole.length));
  for (const { index } of blank.matchAll(/\{\{|\}\}/g))
    found.push({
      ...placeOf(text, index),
      index,
      reason: 'has braces that do not belong together',
      fix: 'write a placeholder as {{title}}',
    });
  return found
    .sort((a, b) => a.index - b.index)
    .slice(0, faultsMax)
    .map(({ index: _, ...fault }) => fault);
}

/** Throws 422 with the first fault and where it is; `path` is where the template stands in the body. */
export function checkText(text: string, names: readonly string[], whose: string, path: string): void {
  const [fault] = faultsOf(text, names, whose);
  if (fault !== undefined) throw unfit(path, `${fault.reason} (line ${fault.line}, column ${fault.column})`, fault.fix);
}

/** Of a filled text, in characters: more than any tracker, mail or report takes. */
export const filledMax = 100_000;

/**
 * The text with its placeholders filled; a line goes whose placeholders all are empty. `valueOf` escapes; it is asked
 * once for each name, however often a template has it. What is beyond `filledMax` characters is left out, with a mark.
 */
export function fillText(
  template: string,
  valueOf: (name: string) => string,
  isEmpty?: (name: string) => boolean,
): string {
  const values = new Map<string, string>();
  let room = filledMax;
  const read = (name: string): string => {
    const value = values.get(name) ?? valueOf(name);
    values.set(name, value);
    return value;
  };
  const isBlank = isEmpty ?? ((name) => read(name) === '');
  const valued = (name: string): string => {
    const value = read(name);
    if (value.length <= room) {
      room -= value.length;
      return value;
    }
    // never half an escape: what does not fit is left out as a whole
    return '…';
  };
  const lines = template.replace(/\r\n?/g, '\n').split('\n');
  const filled = lines.flatMap((line) => {
    const names = [...line.matchAll(held)].map(([, name = '']) => name);
    if (names.length > 0 && names.every(isBlank)) return [];
    return [line.replace(held, (_, name: string) => valued(name))];
  });
  return filled
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}
