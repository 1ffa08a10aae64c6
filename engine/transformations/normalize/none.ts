import type { Transformation } from '../transformation.js';

/** Nothing. The compiler drops `t:none` after it emptied the list; it is here so that every known name has an entry. */
export const none: Transformation = { name: 'none', triggers: [], apply: (value) => value };
