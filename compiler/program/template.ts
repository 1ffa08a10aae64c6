// Text with macros: "%{COLLECTION.member}" → Template.
import type { MacroRef, Template } from '#engine/compile';
import { canonicalVariableName } from './names.js';

const macroPattern = /%\{([A-Za-z_]+)(?:[.:]([^}]*))?\}/g;

/**
 * Splits text at its macros. What looks like a macro but names no variable stays as text; `onUnknown` is told its
 * index and length. Adjacent strings are one entry; '' gives an empty template.
 */
export function parseTemplate(text: string, onUnknown?: (index: number, length: number) => void): Template {
  const parts: (string | MacroRef)[] = [];
  let from = 0;
  for (const match of text.matchAll(macroPattern)) {
    const variable = canonicalVariableName(match[1] as string);
    if (variable === null) {
      onUnknown?.(match.index, match[0].length);
      continue;
    }
    if (match.index > from) parts.push(text.slice(from, match.index));
    const key = match[2];
    parts.push({ variable, key: key === undefined || key === '' ? null : key.toLowerCase() });
    from = match.index + match[0].length;
  }
  if (from < text.length) parts.push(text.slice(from));
  return parts;
}

/** Lower-cases the literal parts: names of members are compared without regard to case. */
export function lowerTemplate(template: Template): Template {
  return template.map((part) => (typeof part === 'string' ? part.toLowerCase() : part));
}

export function hasMacro(template: Template): boolean {
  return template.some((part) => typeof part !== 'string');
}

/** The text a template was parsed from, in canonical spelling. */
export function printTemplate(template: Template): string {
  return template
    .map((part) =>
      typeof part === 'string' ? part : part.key === null ? `%{${part.variable}}` : `%{${part.variable}.${part.key}}`,
    )
    .join('');
}
