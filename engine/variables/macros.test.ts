import t from 'tap';
import { limits } from '../transaction/limits.js';
import { expandWith } from './macros.js';

const resolve = (
  context: Readonly<Record<string, string>>,
  { variable, key }: { variable: string; key: string | null },
): string => context[`${variable}.${key ?? ''}`] ?? '';

t.equal(expandWith([], {}, resolve), '', 'an empty template');
t.equal(expandWith(['a', { variable: 'TX', key: 'x' }, 'b'], { 'TX.x': '1' }, resolve), 'a1b');
t.equal(expandWith([{ variable: 'TX', key: 'none' }], {}, resolve), '', 'what is not there is empty');
t.equal(
  expandWith([{ variable: 'TX', key: 'x' }], { 'TX.x': '%{TX.y}', 'TX.y': '!' }, resolve),
  '%{TX.y}',
  'values are not expanded again',
);
t.equal(
  expandWith(['a'.repeat(limits.expandedTextMax + 5)], {}, resolve).length,
  limits.expandedTextMax,
  'cut at the limit',
);
