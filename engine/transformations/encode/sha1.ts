import { createHash } from 'node:crypto';
import type { Transformation } from '../transformation.js';

/** The SHA-1 digest as 20 raw bytes (not hexadecimal; rules add t:hexEncode). Not a security use: it names content. */
export const sha1: Transformation = {
  name: 'sha1',
  triggers: null,
  // gatehouse:ignore weak-hash a transformation of the rules
  apply: (value) => createHash('sha1').update(value, 'latin1').digest('binary'),
};
