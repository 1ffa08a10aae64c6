// Values of people → rule text that cannot be anything else.
//
// Inside a double-quoted argument a backslash before a quote takes it literally and every other backslash stays, so
// that some strings cannot be written at all: those with a backslash before a quote or at the end, with leading blanks
// or line ends. For operators on literals there is an equivalent regular expression in which every byte is `\xHH`.

/** JSON text (UTF-16) as the bytes it has on the wire, one code unit per byte. */
export function toBytes(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}

/** True when `"@op value"` with `"` escaped reads back as exactly this value. */
export function canQuote(value: string): boolean {
  if (/^[ \t\v\f]|[\r\n\0]/.test(value)) return false;
  for (let at = 0; at < value.length; at += 1) {
    if (value[at] !== '\\') continue;
    const next = value[at + 1];
    if (next === undefined || next === '"') return false;
    // `\` + blanks + end of value never precedes a line end here, so only pairs matter.
    if (next === '\\') at += 1;
  }
  return true;
}

/** Requires `canQuote(value)`. */
export function quoteValue(value: string): string {
  return value.replaceAll('"', '\\"');
}

/** Every byte that is not a letter, digit or underscore as `\xHH`. */
export function hexEscape(value: string): string {
  return value.replace(/[^A-Za-z0-9_]/g, (char) => `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`);
}

/**
 * The operator and argument to write for `value`; null when the operator cannot take it. Literal operators fall back to
 * an equal @rx; in expressions a quote becomes `\x22`.
 */
export function renderOperator(
  operator: string,
  value: string,
): { readonly operator: string; readonly argument: string } | null {
  if (operator === 'rx') return renderExpression(value);
  if (canQuote(value)) return { operator, argument: quoteValue(value) };
  return renderLiteral(operator, value);
}

/** As `renderOperator`, for a literal that is found whatever the case of its letters is; else the operator itself. */
export function renderCaseless(
  operator: string,
  value: string,
): { readonly operator: string; readonly argument: string } | null {
  const literal = renderLiteral(operator, value);
  return literal === null ? renderOperator(operator, value) : { ...literal, argument: `(?i)${literal.argument}` };
}

/** A literal as an equal expression; null for other operators. */
function renderLiteral(
  operator: string,
  value: string,
): { readonly operator: string; readonly argument: string } | null {
  const hex = hexEscape(value);
  switch (operator) {
    case 'contains':
      return { operator: 'rx', argument: hex };
    case 'streq':
      return { operator: 'rx', argument: `\\A${hex}\\z` };
    case 'beginsWith':
      return { operator: 'rx', argument: `\\A${hex}` };
    case 'endsWith':
      return { operator: 'rx', argument: `${hex}\\z` };
    default:
      return null;
  }
}

function renderExpression(value: string): { readonly operator: string; readonly argument: string } | null {
  if (/[\r\n\0]/.test(value)) return null;
  let argument = '';
  for (let at = 0; at < value.length; at += 1) {
    const char = value[at] as string;
    if (char === '\\') {
      const next = value[at + 1];
      if (next === undefined) return null; // a lone backslash is no expression
      argument += next === '"' ? '\\x22' : `\\${next}`;
      at += 1;
    } else if (char === '"') argument += '\\x22';
    else argument += at === 0 && /[ \t\v\f]/.test(char) ? hexEscape(char) : char;
  }
  return { operator: 'rx', argument };
}

/** A label for msg or tag, inside single quotes inside double quotes: only harmless characters are left. */
export function renderLabel(text: string): string {
  return toBytes(text)
    .replace(/[\x00-\x1f\x7f]/g, ' ')
    .replace(/["'`]/g, '`')
    .replaceAll('\\', '/')
    .replaceAll('%{', '% {')
    .slice(0, 200);
}

/** A tag compared whole, also by engines that search tags with regular expressions. */
export function wholeTag(tag: string): string {
  return `^${tag}$`;
}
