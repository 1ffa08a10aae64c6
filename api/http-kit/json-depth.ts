// What a JSON text unfolds to is measured before it is parsed: V8's parser and every schema walker recurse, and two
// bytes (`{}`) are fifty of memory.

export interface JsonBounds {
  readonly depthMax: number;
  /** Members, elements, objects and arrays together. */
  readonly valuesMax: number;
}

/**
 * What a JSON text has too much of; null: nothing. Looks at structure only; malformed text is the parser's business.
 */
export function beyondBounds(text: string, { depthMax, valuesMax }: JsonBounds): 'depth' | 'values' | null {
  let depth = 0;
  let values = 0;
  let inString = false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (inString) {
      if (code === 0x5c) i++;
      else if (code === 0x22) inString = false;
    } else if (code === 0x22) inString = true;
    else if (code === 0x7b || code === 0x5b) {
      if (++depth > depthMax) return 'depth';
      if (++values > valuesMax) return 'values';
    } else if (code === 0x2c) {
      if (++values > valuesMax) return 'values';
    } else if (code === 0x7d || code === 0x5d) depth--;
  }
  return null;
}

/** True when arrays and objects nest deeper than `depthMax`. */
export const isNestedDeeper = (text: string, depthMax: number): boolean =>
  beyondBounds(text, { depthMax, valuesMax: Infinity }) === 'depth';
