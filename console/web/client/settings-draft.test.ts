import fc from 'fast-check';
import t from 'tap';
import { mergePatch } from './settings-draft.js';

/** RFC 7396 section 2, written from its pseudocode. */
function applyPatch(target: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const result: Record<string, unknown> =
    typeof target === 'object' && target !== null && !Array.isArray(target) ? { ...target } : {};
  for (const [name, value] of Object.entries(patch))
    if (value === null) delete result[name];
    else result[name] = applyPatch(result[name], value);
  return result;
}

t.test('a merge patch leads from one to the other', async () => {
  const tree = fc.letrec((tie) => ({
    value: fc.oneof({ maxDepth: 3 }, fc.integer(), fc.string(), fc.boolean(), fc.array(fc.integer()), tie('object')),
    object: fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), tie('value'), { noNullPrototype: true }),
  })).object;
  fc.assert(
    fc.property(tree, tree, (from, to) => {
      const got = applyPatch(from, mergePatch(from, to));
      return JSON.stringify(sorted(got)) === JSON.stringify(sorted(to));
    }),
    { seed: 7 },
  );
});

function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, inner]) => [name, sorted(inner)]),
  );
}
