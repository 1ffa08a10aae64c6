// Hyperscan databases take seconds to compile (the union of PL4 about 18 s), so they are compiled in a piscina pool, in
// parallel, largest first, and kept in a cache by the hash of what went in: changing one custom rule recompiles the
// databases that hold it and no other.
import { createHash } from 'node:crypto';
import { availableParallelism } from 'node:os';
import type { Piscina } from 'piscina';
import {
  databaseWorker,
  type CompileReply,
  type CompileTask,
  type PatternFit,
  type PatternSpec,
} from '#engine/compile';

/** Where compiled databases and pattern classifications outlive a compile. Keys are hex hashes. */
export interface CompileCache {
  find(key: string): Uint8Array | null;
  keep(key: string, bytes: Uint8Array): void;
}

export interface CompiledDatabase {
  readonly key: string;
  readonly bytes: Uint8Array;
  /** What it holds: the list's patterns but for those refused. */
  readonly patterns: readonly PatternSpec[];
  /** Ids of patterns that were replaced or left out. */
  readonly refused: readonly number[];
  readonly compileMs: number; // 0 when it came from the cache
}

export interface PatternList {
  readonly patterns: readonly PatternSpec[];
  /**
   * By id, what stands in for a pattern that Hyperscan refuses; null = it may be left out. Other patterns must not be
   * refused.
   */
  readonly instead: ReadonlyMap<number, PatternSpec | null> | null;
  /** Equal names are equal patterns, in this thread and as long as it lives; '' = not named. */
  readonly name: string;
}

/** Hashing the texts of all lists takes a change of one rule 20 ms; it touches few of them. Emptied when full. */
const knownKeys = new Map<string, string>();
const knownKeysMax = 500;
const knownFitKeys = new Map<string, string>();
const knownFitKeysMax = 10_000;

function remember(known: Map<string, string>, max: number, name: string, make: () => string): string {
  let found = known.get(name);
  if (found !== undefined) return found;
  found = make();
  if (known.size >= max) known.clear();
  known.set(name, found);
  return found;
}

export class DatabaseCompiler {
  private pool: Promise<Piscina<CompileTask, CompileReply>> | null = null;

  constructor(
    private readonly cache: CompileCache,
    /** Names library, version and CPU features: bytes of another platform must not be taken from the cache. */
    private readonly platform: string,
    private readonly threads: number = availableParallelism(),
  ) {}

  /** Most changes find everything in the cache and need neither threads nor the package, which takes 15 ms to load. */
  private async run(task: CompileTask): Promise<CompileReply> {
    this.pool ??= import('piscina').then(
      ({ Piscina: Pool }) =>
        new Pool({
          filename: databaseWorker.href,
          minThreads: 0,
          maxThreads: Math.max(1, this.threads),
          idleTimeout: 1000,
        }),
    );
    return (await this.pool).run(task);
  }

  keyOf(patterns: readonly PatternSpec[]): string {
    return createHash('sha256')
      .update(`${this.platform}\n`)
      .update(JSON.stringify(patterns.map((p) => [p.id, p.source, p.caseless, p.dotAll, p.multiline, p.prefilter])))
      .digest('hex');
  }

  /**
   * Compiles all lists; equal lists once. Rejects when a pattern is refused that has no replacement (classify those
   * first).
   * Parallel to `lists`.
   */
  async compile(lists: readonly PatternList[]): Promise<readonly CompiledDatabase[]> {
    const keys = lists.map(({ patterns, name }) =>
      name === ''
        ? this.keyOf(patterns)
        : remember(knownKeys, knownKeysMax, `${this.platform} ${name}`, () => this.keyOf(patterns)),
    );
    const wanted = new Map<string, PatternList>();
    lists.forEach((list, index) => wanted.set(keys[index] as string, list));
    const done = new Map<string, CompiledDatabase>();
    const work = [...wanted].sort(([, a], [, b]) => weight(b.patterns) - weight(a.patterns));
    await Promise.all(work.map(async ([key, list]) => void done.set(key, await this.compileList(key, list))));
    return keys.map((key) => done.get(key) as CompiledDatabase);
  }

  private async compileList(key: string, { patterns, instead }: PatternList): Promise<CompiledDatabase> {
    const cached = this.cache.find(key);
    if (cached !== null) return { key, bytes: cached, patterns, refused: [], compileMs: 0 };
    const refused = this.findRefused(key);
    for (;;) {
      const left = refused.length === 0 ? patterns : replaceRefused(patterns, refused, instead);
      const leftKey = refused.length === 0 ? key : this.keyOf(left);
      const known = refused.length === 0 ? null : this.cache.find(leftKey);
      if (known !== null) return { key: leftKey, bytes: known, patterns: left, refused, compileMs: 0 };
      const reply = await this.run({ kind: 'database', patterns: left });
      if (reply.kind === 'database') {
        this.cache.keep(leftKey, reply.bytes);
        if (refused.length > 0) this.cache.keep(refusedKeyOf(key), Buffer.from(JSON.stringify(refused), 'latin1'));
        return { key: leftKey, bytes: reply.bytes, patterns: left, refused, compileMs: reply.compileMs };
      }
      if (reply.kind !== 'refused' || instead?.has(reply.patternId) !== true || refused.includes(reply.patternId)) {
        throw new Error(
          'Hyperscan refused a pattern list that had been checked: ' +
            `${reply.kind === 'refused' ? reply.message : 'an answer to another question'}`,
        );
      }
      refused.push(reply.patternId);
    }
  }

  /** What Hyperscan is known to refuse in the list of this key: the attempt may have taken seconds. */
  private findRefused(key: string): number[] {
    const cached = this.cache.find(refusedKeyOf(key));
    return cached === null ? [] : (JSON.parse(Buffer.from(cached).toString('latin1')) as number[]);
  }

  /** Tries each pattern alone. Parallel to `patterns`. */
  async classify(patterns: readonly PatternSpec[]): Promise<readonly PatternFit[]> {
    const keys = patterns.map((pattern) => this.fitKeyOf(pattern));
    const fits = new Map<string, PatternFit>();
    const missing = new Map<string, PatternSpec>();
    keys.forEach((key, index) => {
      const cached = this.cache.find(key);
      if (cached !== null) fits.set(key, Buffer.from(cached).toString('latin1') as PatternFit);
      else missing.set(key, patterns[index] as PatternSpec);
    });
    const entries = [...missing].sort(([, a], [, b]) => b.source.length - a.source.length);
    const batches: [string, PatternSpec][][] = [];
    // Long patterns one by one (they may take a second each), short ones in handfuls.
    while (entries.length > 0)
      batches.push(entries.splice(0, (entries[0] as [string, PatternSpec])[1].source.length > 1500 ? 1 : 24));
    await Promise.all(
      batches.map(async (batch) => {
        const reply = await this.run({ kind: 'classify', patterns: batch.map(([, pattern]) => pattern) });
        if (reply.kind !== 'classify') throw new Error('the classification worker answered something else');
        batch.forEach(([key], index) => {
          const fit = reply.fits[index] as PatternFit;
          fits.set(key, fit);
          this.cache.keep(key, Buffer.from(fit, 'latin1'));
        });
      }),
    );
    return keys.map((key) => fits.get(key) as PatternFit);
  }

  private fitKeyOf(pattern: PatternSpec): string {
    const { source, caseless, dotAll, multiline, prefilter } = pattern;
    const flags = [caseless, dotAll, multiline, prefilter].map(Number).join('');
    return remember(knownFitKeys, knownFitKeysMax, `${this.platform} ${flags} ${source}`, () =>
      createHash('sha256')
        .update('fit\n')
        .update(this.keyOf([{ ...pattern, id: 0 }]))
        .digest('hex'),
    );
  }

  async close(): Promise<void> {
    await (await this.pool)?.destroy();
  }
}

function refusedKeyOf(key: string): string {
  return createHash('sha256').update('refused\n').update(key).digest('hex');
}

function replaceRefused(
  patterns: readonly PatternSpec[],
  refused: readonly number[],
  instead: PatternList['instead'],
): PatternSpec[] {
  return patterns
    .map((pattern) => (refused.includes(pattern.id) ? (instead?.get(pattern.id) ?? null) : pattern))
    .filter((pattern) => pattern !== null);
}

function weight(patterns: readonly PatternSpec[]): number {
  let total = 0;
  for (const { source } of patterns) total += 20 + source.length;
  return total;
}
