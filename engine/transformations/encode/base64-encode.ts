import type { Transformation } from '../transformation.js';

/** RFC 4648 base64 with padding, without line breaks. */
export const base64Encode: Transformation = {
  name: 'base64Encode',
  triggers: null,
  apply: (value) => (value === '' ? value : Buffer.from(value, 'latin1').toString('base64')),
};
