import t from 'tap';
import type { CompileCache } from './database-compiler.js';
import { rememberIn } from './memory-cache.js';

function counting(): CompileCache & { readonly asked: string[]; readonly kept: Map<string, Uint8Array> } {
  const [asked, kept]: [string[], Map<string, Uint8Array>] = [[], new Map()];
  return {
    asked,
    kept,
    find: (key) => {
      asked.push(key);
      return kept.get(key) ?? null;
    },
    keep: (key, bytes) => void kept.set(key, bytes),
  };
}

t.test('what was found or made is not asked for again', async (t) => {
  const slower = counting();
  slower.kept.set('old', Buffer.from('1'));
  const cache = rememberIn(slower, 100);
  t.equal(cache.find('none'), null);
  cache.keep('made', Buffer.from('2'));
  t.same([...slower.kept.keys()], ['old', 'made'], 'it outlives the thread');
  for (const [key, text] of [
    ['old', '1'],
    ['made', '2'],
    ['old', '1'],
    ['made', '2'],
  ] as const)
    t.equal(Buffer.from(cache.find(key) ?? []).toString(), text);
  t.same(slower.asked, ['none', 'old']);
  cache.find('none');
  t.same(slower.asked, ['none', 'old', 'none'], 'what is absent may come to be');
});

t.test('beyond its size it forgets what was not used for longest', async (t) => {
  const slower = counting();
  const cache = rememberIn(slower, 10);
  for (const key of ['a', 'b']) cache.keep(key, Buffer.alloc(4));
  cache.find('a');
  cache.keep('c', Buffer.alloc(4));
  for (const key of ['a', 'c', 'b']) cache.find(key);
  t.same(slower.asked, ['b'], 'b was the oldest');
  cache.keep('huge', Buffer.alloc(11));
  slower.asked.length = 0;
  t.equal(cache.find('huge')?.length, 11);
  t.same(slower.asked, ['huge'], 'what is larger than all of it is left to the slower one');
  cache.keep('a', Buffer.alloc(4));
  cache.keep('a', Buffer.alloc(9));
  t.equal(cache.find('a')?.length, 9, 'replaced, counted once');
});
