// What Hyperscan refuses of a list: replaced, left out, or an error, and known the next time.
import t from 'tap';
import { hyperscanLibrary } from '#engine';
import type { PatternSpec } from '#engine/compile';
import { DatabaseCompiler, type PatternList } from './database-compiler.js';

const spec = (id: number, source: string): PatternSpec => ({
  id,
  source,
  caseless: false,
  dotAll: false,
  multiline: false,
  prefilter: false,
});
const backReference = '(a)\\1'; // not regular: refused by every version

function listOf(instead: PatternList['instead']): PatternList {
  return {
    patterns: [spec(0, 'fine'), spec(1, backReference), spec(2, 'good'), spec(3, `x${backReference}`)],
    instead,
    name: '',
  };
}

t.test('refused patterns are replaced or left out, and not tried again', async (t) => {
  const kept = new Map<string, Uint8Array>();
  const list = listOf(
    new Map([
      [1, spec(1, 'aa')],
      [3, null],
    ]),
  );
  const attempt = async (): Promise<{ bytes: Uint8Array; compileMs: number }> => {
    const compiler = new DatabaseCompiler(
      { find: (key) => kept.get(key) ?? null, keep: (key, bytes) => void kept.set(key, bytes) },
      hyperscanLibrary().version,
      1,
    );
    try {
      const [compiled] = await compiler.compile([list]);
      t.same(compiled?.refused, [1, 3]);
      t.same(
        compiled?.patterns.map(({ id, source }) => [id, source]),
        [
          [0, 'fine'],
          [1, 'aa'],
          [2, 'good'],
        ],
      );
      t.equal(compiled?.key, compiler.keyOf(compiled?.patterns ?? []), 'the key names what the database holds');
      return compiled as { bytes: Uint8Array; compileMs: number };
    } finally {
      await compiler.close();
    }
  };
  const first = await attempt();
  const second = await attempt();
  t.ok(first.compileMs > 0);
  t.equal(second.compileMs, 0, 'from the cache');
  t.same(second.bytes, first.bytes);
  const scanner = hyperscanLibrary().createScanner([hyperscanLibrary().load(first.bytes, 'refused')]);
  const text = Buffer.from('xaa good', 'latin1');
  const hits = new Int32Array(16);
  const found = scanner.scan(text, Int32Array.from([0, 0, text.length]), 1, hits);
  t.same(Array.from({ length: found }, (_, index) => hits[2 * index + 1]).sort(), [1, 2]);
  scanner.release();
});

t.test('a refused pattern without a replacement is an error', async (t) => {
  for (const instead of [
    null,
    new Map<number, PatternSpec | null>([[3, null]]),
    new Map<number, PatternSpec | null>([
      [1, spec(1, backReference)],
      [3, null],
    ]),
  ]) {
    const compiler = new DatabaseCompiler({ find: () => null, keep: () => undefined }, hyperscanLibrary().version, 1);
    await t.rejects(compiler.compile([listOf(instead)]), /refused a pattern list/);
    await compiler.close();
  }
});
