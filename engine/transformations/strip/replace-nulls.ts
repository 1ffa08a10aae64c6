import type { Transformation } from '../transformation.js';

/** NUL bytes become spaces. Idempotent. */
export const replaceNulls: Transformation = {
  name: 'replaceNulls',
  triggers: [0],
  apply: (value) => (value.includes('\0') ? value.replaceAll('\0', ' ') : value),
};
