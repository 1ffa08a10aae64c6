// All rules of the scanner of source code.
import type { Rule } from '../../contract.js';
import { injections } from './injections.js';
import { weaknesses } from './weaknesses.js';

export const sastRules: readonly Rule[] = [...injections, ...weaknesses];
