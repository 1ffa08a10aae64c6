import type { Parts } from '../../parts.js';

/** What is asked for operations, specifications and hosts. */
export type ApisParts = Pick<Parts, 'database' | 'currentSettings' | 'now' | 'nodeToken'>;
