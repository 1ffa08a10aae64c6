import type { Operator } from './operator.js';

export const unconditionalMatch: Operator = { name: 'unconditionalMatch', create: () => ({ matches: () => true }) };
export const noMatch: Operator = { name: 'noMatch', create: () => ({ matches: () => false }) };
