import fc from 'fast-check';
import t, { type Test } from 'tap';
import * as draft from './settings-draft.js';

type SettingsValues = draft.SettingsValues;
const { mergePatch } = draft;

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

/** A control plane with settings that two people save. */
function serve(t: Test, first: SettingsValues) {
  let [stored, version] = [first, 1];
  const put = (change: SettingsValues): void => {
    stored = { ...stored, ...change };
    version += 1;
  };
  const answer = (status: number, body: unknown): Response =>
    new Response(JSON.stringify(body), {
      status,
      headers: { 'content-type': 'application/json', etag: `"${version}"` },
    });
  const before = globalThis.fetch;
  t.teardown(() => {
    globalThis.fetch = before;
  });
  globalThis.fetch = async (_address, init) => {
    if (init?.method !== 'PATCH') return answer(200, stored);
    if (new Headers(init.headers).get('if-match') !== `"${version}"`) return answer(412, {});
    put(JSON.parse(init.body as string) as SettingsValues);
    return answer(200, stored);
  };
  return { put, stored: () => stored };
}

t.test('two editors: nothing is overwritten unasked, and what is given up shows what is stored', async (t) => {
  const begin = async () => {
    const server = serve(t, { a: 1, b: 1, c: 1 });
    draft.discard();
    await draft.loadSettings();
    draft.edit('a', 2);
    server.put({ a: 3, b: 3 });
    return server;
  };
  await t.test('left without a choice and discarded', async (t) => {
    const server = await begin();
    t.equal(await draft.save(['a']), false);
    t.same(draft.conflicts(), [{ name: 'a', mine: 2, theirs: 3 }]);
    draft.leaveConflicts();
    t.equal(await draft.save(['a']), false, 'saving asks again');
    draft.leaveConflicts();
    draft.discard(['a']);
    t.same(draft.saved(), server.stored());
    draft.edit('a', 4);
    t.equal(await draft.save(['a']), true, 'what is typed over theirs is no conflict');
    t.same(server.stored(), { a: 4, b: 3, c: 1 });
  });
  await t.test('read anew under the draft, as every page does that is opened', async (t) => {
    const server = await begin();
    await draft.loadSettings();
    t.equal(await draft.save(['a']), false);
    t.same(server.stored(), { a: 3, b: 3, c: 1 });
    await draft.resolveConflicts('theirs');
    t.same(draft.saved(), { a: 3, b: 3, c: 1 });
  });
  await t.test('one part saved, another waiting', async (t) => {
    const server = await begin();
    draft.edit('c', 2);
    t.equal(await draft.save(['c']), true, 'only the other one is in conflict');
    t.equal(await draft.save(['a']), false);
    draft.leaveConflicts();
    t.same(server.stored(), { a: 3, b: 3, c: 2 });
  });
});
