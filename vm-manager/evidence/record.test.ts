import t from 'tap';
import type { Host } from '../host.js';
import { findRecord } from './record.js';

const at = new Date('2026-03-01T12:00:00Z');
const entry = { id: 7, text: '[]', hash: 'h' };

const logs: readonly [
  name: string,
  found: { id: number } | null,
  older: readonly (typeof entry)[],
  ok: boolean | null,
][] = [
  ['an entry with these sums', { id: 3 }, [entry], true],
  ['an entry, the oldest that is left', { id: 3 }, [], true],
  ['entries of then, and none with these sums', null, [entry], false],
  ['a log that begins later', null, [], null],
];
for (const [name, found, older, ok] of logs)
  t.test(name, async (t) => {
    const audit = {
      find: async () => found,
      excerpt: async ({ to }: { readonly to: Date }) => (to > at ? older : []),
    } as unknown as Host['audit'];
    t.same(await findRecord({ audit }, { file: '1' }, at), { ok, id: found?.id ?? null });
  });
