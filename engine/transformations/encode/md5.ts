import { createHash } from 'node:crypto';
import type { Transformation } from '../transformation.js';

/** The MD5 digest as 16 raw bytes (not hexadecimal; rules add t:hexEncode). Not a security use: it names content. */
export const md5: Transformation = {
  name: 'md5',
  triggers: null,
  // gatehouse:ignore weak-hash a transformation of the rules
  apply: (value) => createHash('md5').update(value, 'latin1').digest('binary'),
};
