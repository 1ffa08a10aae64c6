import type { Transformation } from '../transformation.js';

/** The value's length in bytes, as decimal text. */
export const length: Transformation = { name: 'length', triggers: null, apply: (value) => String(value.length) };
