// One suite for every MatcherLibrary: what matcher.ts promises, run by hyperscan.test.ts and re2.test.ts.
import type { Test } from 'tap';
import { DatabaseRefused, type MatcherLibrary, PatternRefused, type PatternSpec, type Scanner } from './matcher.js';

export interface ContractOptions {
  readonly create: () => MatcherLibrary;
  /** Cases that do not apply, each with its reason. */
  readonly skip: readonly { readonly reason: string; readonly tests: readonly string[] }[];
}

export function spec(id: number, source: string, flags: Partial<PatternSpec> = {}): PatternSpec {
  return { id, source, caseless: false, dotAll: true, multiline: false, prefilter: false, ...flags };
}

/** The ids that hit `value` (latin1), sorted. */
export function idsIn(scanner: Scanner, value: string, database = 0): number[] {
  const data = Buffer.from(value, 'latin1');
  const hits = new Int32Array(4096);
  const pairs = scanner.scan(data, Int32Array.of(database, 0, data.length), 1, hits);
  return Array.from({ length: pairs }, (_, pair) => hits[pair * 2 + 1]!).sort((one, other) => one - other);
}

/** `run` must throw an instance of exactly this class of errors. */
function throwsKind(t: Test, run: () => unknown, kind: abstract new (...values: never[]) => Error, name: string): void {
  let thrown: unknown = null;
  try {
    run();
  } catch (error) {
    thrown = error;
  }
  t.ok(thrown instanceof kind, `${name}: ${thrown instanceof Error ? thrown.message : 'nothing thrown'}`);
}

interface Case {
  readonly name: string;
  readonly patterns: readonly PatternSpec[];
  readonly values: readonly (readonly [string, readonly number[]])[];
}

const matching: readonly Case[] = [
  {
    name: 'bytes, not characters',
    patterns: [spec(0, '^.$'), spec(1, '\\xe9'), spec(2, '[^a]')],
    values: [
      ['\xe9', [0, 1, 2]],
      ['\xc3\xa9', [2]],
      ['a', [0]],
    ],
  },
  {
    name: 'caseless folds ASCII only',
    patterns: [spec(0, 'k', { caseless: true }), spec(1, '\\xe9', { caseless: true })],
    values: [
      ['K', [0]],
      ['\xc9', []],
      ['\xe9', [1]],
    ],
  },
  {
    name: 'dot and newline',
    patterns: [spec(0, 'a.b'), spec(1, 'a.b', { dotAll: false })],
    values: [
      ['a\nb', [0]],
      ['a-b', [0, 1]],
    ],
  },
  {
    name: 'ends of text',
    patterns: [spec(0, 'a$'), spec(1, 'a\\z'), spec(2, 'a\\Z'), spec(3, '^a')],
    values: [
      ['a', [0, 1, 2, 3]],
      ['a\n', [0, 2, 3]],
      ['a\n\n', [3]],
      ['\na', [0, 1, 2]],
    ],
  },
  {
    name: 'ends of lines',
    patterns: [
      spec(0, 'a$', { multiline: true }),
      spec(1, '^a', { multiline: true }),
      spec(2, '^$', { multiline: true }),
    ],
    values: [
      ['a\nb', [0, 1]],
      ['b\na', [0, 1]],
      ['b\n', []],
      ['b\n\nc', [2]],
      ['', [2]],
    ],
  },
  {
    name: 'empty text and empty matches',
    patterns: [spec(0, ''), spec(1, 'x*'), spec(2, '^$'), spec(3, 'x')],
    values: [
      ['', [0, 1, 2]],
      ['y', [0, 1]],
    ],
  },
  {
    name: 'NUL in text and pattern',
    patterns: [spec(0, 'a\\x00b'), spec(1, 'a\0b')],
    values: [
      ['a\0b', [0, 1]],
      ['ab', []],
    ],
  },
  {
    name: 'one hit however often it occurs',
    patterns: [spec(7, 'a+'), spec(65_535, 'aa')],
    values: [['aaaa aaaa', [7, 65_535]]],
  },
  {
    name: 'prefilter never misses',
    patterns: [spec(0, 'a.{3}b', { prefilter: true })],
    values: [['a123b a456b', [0]]],
  },
  {
    name: 'white space includes VT',
    patterns: [spec(0, '\\s')],
    values: [
      ['\v', [0]],
      ['\x85', []],
      ['\xa0', []],
    ],
  },
];

function runMatching(t: Test, create: () => MatcherLibrary, skipped: ReadonlyMap<string, string>): void {
  for (const { name, patterns, values } of matching) {
    t.test(name, skipped.has(name) ? { skip: skipped.get(name)! } : {}, (t) => {
      const library = create();
      const database = library.load(library.compile(patterns), `contract ${name}`);
      const scanner = library.createScanner([database]);
      for (const [value, expected] of values) t.strictSame(idsIn(scanner, value), expected, JSON.stringify(value));
      scanner.release();
      database.release();
      t.end();
    });
  }
}

function runJobs(t: Test, create: () => MatcherLibrary): void {
  t.test('several databases and slices in one call', (t) => {
    const library = create();
    const databases = [
      library.load(library.compile([spec(1, 'a'), spec(2, 'b')]), 'contract ab'),
      library.load(library.compile([spec(1, 'c')]), 'contract c'),
    ];
    const scanner = library.createScanner(databases);
    const hits = new Int32Array(16);
    const jobs = Int32Array.of(0, 0, 2, 1, 1, 2, 0, 2, 1, 1, 0, 0);
    t.equal(scanner.scan(Buffer.from('abc'), jobs, 4, hits), 3);
    const pairs = [0, 1, 2].map((pair) => `${hits[pair * 2]}:${hits[pair * 2 + 1]}`).sort();
    t.strictSame(pairs, ['0:1', '0:2', '1:1']);
    t.equal(scanner.scan(Buffer.from('abc'), jobs, 0, hits), 0, 'no job');
    t.end();
  });

  t.test('too few places for hits', (t) => {
    const library = create();
    const scanner = library.createScanner([
      library.load(library.compile([spec(1, 'a'), spec(2, 'b'), spec(3, 'c')]), 'contract abc'),
    ]);
    const jobs = Int32Array.of(0, 0, 3);
    for (const places of [0, 1, 2, 5])
      t.equal(scanner.scan(Buffer.from('abc'), jobs, 1, new Int32Array(places)), -4, `${places} places`);
    t.equal(scanner.scan(Buffer.from('abc'), jobs, 1, new Int32Array(6)), 3);
    t.end();
  });
}

function runRefusals(t: Test, create: () => MatcherLibrary): void {
  t.test('wrong arguments throw', (t) => {
    const library = create();
    const database = library.load(library.compile([spec(0, 'a')]), 'contract a');
    const scanner = library.createScanner([database]);
    const data = Buffer.from('aaaa');
    const hits = new Int32Array(8);
    for (const [jobs, count] of [
      [[1, 0, 1], 1],
      [[-1, 0, 1], 1],
      [[0, -1, 1], 1],
      [[0, 0, -1], 1],
      [[0, 0, 5], 1],
      [[0, 4, 1], 1],
      [[0, 2_147_483_647, 2_147_483_647], 1],
      [[0, 0, 1], 2],
      [[0, 0, 1], -1],
      [[0, 0, 1], NaN],
    ] as const) {
      t.throws(() => scanner.scan(data, Int32Array.from(jobs), count, hits), TypeError, JSON.stringify([jobs, count]));
    }
    t.throws(() => scanner.scan([] as unknown as Uint8Array, Int32Array.of(0, 0, 0), 1, hits), TypeError);
    t.throws(() => scanner.scan(data, data as unknown as Int32Array, 1, hits), TypeError);
    t.throws(() => library.createScanner([{ bytes: 1, release: () => undefined }]), TypeError);
    scanner.release();
    scanner.release();
    t.throws(() => scanner.scan(data, Int32Array.of(0, 0, 1), 1, hits), TypeError, 'after release');
    database.release();
    database.release();
    t.throws(() => library.createScanner([database]), Error, 'released database');
    t.end();
  });

  t.test('patterns that cannot be are named', (t) => {
    const library = create();
    for (const source of ['a(b', '(?<=x)a', '(a)\\1', '[z-a]', 'x**']) {
      t.throws(() => library.compile([spec(3, 'fine'), spec(9, source)]), { name: 'Error', patternId: 9 }, source);
    }
    throwsKind(t, () => library.compile([spec(1, '(')]), PatternRefused, 'open group');
    for (const patterns of [[spec(-1, 'a')], [spec(65_536, 'a')], [spec(0.5, 'a')], [spec(1, 'a'), spec(1, 'b')], []])
      t.throws(() => library.compile(patterns), Error);
    throwsKind(t, () => library.compile([spec(1, '\u0100')]), PatternRefused, 'more than a byte');
    t.end();
  });

  t.test('damaged or foreign bytes are refused', (t) => {
    const library = create();
    const good = Buffer.from(library.compile([spec(0, 'abc'), spec(1, 'd.{0,20}e')]));
    const load = (bytes: Uint8Array): unknown => library.load(bytes, 'contract damaged');
    for (const bytes of [
      Buffer.alloc(0),
      Buffer.alloc(8),
      Buffer.alloc(4096),
      Buffer.from('{"not": "a database"}'),
      good.subarray(0, 20),
      good.subarray(0, good.length - 1),
    ])
      throwsKind(t, () => load(bytes), DatabaseRefused, `${bytes.length} bytes`);
    const otherFormat = Buffer.from(good);
    otherFormat[7] = otherFormat[7]! ^ 0xff;
    throwsKind(t, () => load(otherFormat), DatabaseRefused, 'other magic');
    t.doesNotThrow(() => load(good));
    t.end();
  });
}

/** Runs the contract as subtests of `t`. */
export function runMatcherContract(t: Test, { create, skip }: ContractOptions): void {
  const skipped = new Map(skip.flatMap(({ reason, tests }) => tests.map((name) => [name, reason] as const)));
  runMatching(t, create, skipped);
  runJobs(t, create);
  runRefusals(t, create);
}
