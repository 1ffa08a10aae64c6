// A JSON text's nesting is measured before it is parsed: V8's parser and every schema walker recurse.

/**
 * True when arrays and objects nest deeper than `depthMax`. Looks at structure only; malformed text is the parser's
 * business.
 */
export function isNestedDeeper(text: string, depthMax: number): boolean {
  let depth = 0;
  let inString = false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (inString) {
      if (code === 0x5c) i++;
      else if (code === 0x22) inString = false;
    } else if (code === 0x22) inString = true;
    else if (code === 0x7b || code === 0x5b) {
      if (++depth > depthMax) return true;
    } else if (code === 0x7d || code === 0x5d) depth--;
  }
  return false;
}
