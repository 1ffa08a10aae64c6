import type { Transformation } from '../transformation.js';

/** Two lower-case hexadecimal digits per byte. */
export const hexEncode: Transformation = {
  name: 'hexEncode',
  triggers: null,
  apply: (value) => (value === '' ? value : Buffer.from(value, 'latin1').toString('hex')),
};
