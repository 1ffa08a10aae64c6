// Artifact → Ruleset: databases that this machine refuses are built again from their sources, and nothing leaks.
import t from 'tap';
import { createCompiledInspector, creatingInspector } from '../compiled/inspect.js';
import { encodeArtifact } from './artifact.js';
import { hyperscanLibrary } from '../native/hyperscan.js';
import type { MatcherLibrary, PatternSpec } from '../native/matcher.js';
import { re2Library } from '../native/re2.js';
import type { PlanIR } from './plan.js';
import { loadingRuleset, loadRuleset } from './ruleset.js';
import { exchange, link, operator, program as programOf, rule, target } from '../testing/program.js';

const patterns: readonly PatternSpec[] = [
  { id: 0, source: 'evil', caseless: false, dotAll: true, multiline: false, prefilter: false },
];
const library = hyperscanLibrary();
const blob = Buffer.from(library.compile(patterns));
const program = programOf(
  [rule(7, 1, [link([target('ARGS_GET')], operator('rx evil'))], { disruptive: { kind: 'deny', status: 403 } })],
  { ruleEngine: 'On' },
);

function planWith(keys: readonly string[]): PlanIR {
  return {
    pipelines: [[]],
    atoms: [{ pipeline: 0, item: 0, link: 0 }],
    classes: [
      {
        sources: ['argGetValue'],
        union: { pipeline: 0, database: 0, byAlphabet: [] },
        groups: [],
        families: [],
        sets: [],
        called: [],
      },
    ],
    databases: keys.map((key) => ({ key, patterns, atomOf: [0] })),
    alphabets: [],
    linkAtoms: [[[0]]],
    active: [[], [0], [], [], [], []],
    certain: [],
    initialTx: [],
    constantArguments: [],
  };
}

function artifact(blobs: readonly (readonly [string, Uint8Array])[], keys: readonly string[] = ['k']): Buffer {
  return encodeArtifact({
    meta: { compiler: '1', components: [], matcher: 'hyperscan', probes: [] },
    program,
    plan: planWith(keys),
    blobs: new Map(blobs),
  });
}

/** Verdicts of the loaded rule set, to see that it works and not only loads. */
function judges(bytes: Uint8Array, over: MatcherLibrary = library): { rebuilt: number; evil: string; plain: string } {
  const ruleset = loadRuleset(bytes, over);
  const inspector = createCompiledInspector(ruleset);
  const found = {
    rebuilt: ruleset.rebuilt.length,
    evil: exchange(inspector, { uri: '/?a=evil' }).verdict.kind,
    plain: exchange(inspector, { uri: '/?a=good' }).verdict.kind,
  };
  inspector.release();
  ruleset.release();
  return found;
}

function damagedAt(position: number): Buffer {
  const copy = Buffer.from(blob);
  copy[position] = (copy[position] as number) ^ 0x40;
  return copy;
}

t.test('databases that cannot be loaded are rebuilt from their sources', (t) => {
  const rows: readonly [string, Buffer, MatcherLibrary, number][] = [
    ['whole', artifact([['k', blob]]), library, 0],
    ['missing', artifact([]), library, 1],
    ['under another key', artifact([['other', blob]]), library, 1],
    ['empty', artifact([['k', Buffer.alloc(0)]]), library, 1],
    ['cut', artifact([['k', blob.subarray(0, blob.length - 9)]]), library, 1],
    ['damaged in its header', artifact([['k', damagedAt(3)]]), library, 1],
    ['of another library version', artifact([['k', damagedAt(25)]]), library, 1],
    ['damaged in its body', artifact([['k', damagedAt(blob.length - 40)]]), library, 1],
    ['for another library', artifact([['k', blob]]), re2Library(), 1],
  ];
  for (const [name, bytes, over, rebuilt] of rows)
    t.same(judges(bytes, over), { rebuilt, evil: 'block', plain: 'pass' }, name);
  t.end();
});

t.test('the reason of a rebuild says what was wrong', (t) => {
  const ruleset = loadRuleset(artifact([['k', damagedAt(blob.length - 40)]]), library);
  t.equal(ruleset.rebuilt[0]?.key, 'k');
  t.match(ruleset.rebuilt[0]?.reason, /damaged/);
  ruleset.release();
  t.throws(() => loadRuleset(Buffer.from('no artifact, only text that is long enough for a header'), library), {
    code: 'not-an-artifact',
  });
  t.end();
});

/** Counts what is open, and refuses the n-th load for good. */
function countingLibrary(failAt: number): { library: MatcherLibrary; open: () => number } {
  let open = 0;
  let loads = 0;
  const counting: MatcherLibrary = {
    ...library,
    load(bytes, key) {
      loads += 1;
      if (loads === failAt) throw new Error('the machine is on fire');
      const database = library.load(bytes, key);
      open += 1;
      return {
        bytes: database.bytes,
        release() {
          open -= 1;
          database.release();
        },
      };
    },
  };
  return { library: counting, open: () => open };
}

t.test('release gives every database back, once', (t) => {
  const { library: counting, open } = countingLibrary(0);
  const ruleset = loadRuleset(
    artifact(
      [
        ['a', blob],
        ['b', blob],
      ],
      ['a', 'b'],
    ),
    counting,
  );
  t.equal(open(), 2);
  ruleset.release();
  ruleset.release();
  t.equal(open(), 0, 'a second release does nothing');
  const failing = countingLibrary(2);
  t.throws(
    () =>
      loadRuleset(
        artifact(
          [
            ['a', blob],
            ['b', blob],
          ],
          ['a', 'b'],
        ),
        failing.library,
      ),
    /on fire/,
  );
  t.equal(failing.open(), 0, 'a load that fails half-way keeps nothing');
  t.end();
});

t.test('loading and releasing does not grow the process', (t) => {
  // A hundred kilobytes of patterns, so that a leak of the databases would show as tens of megabytes.
  const many: PatternSpec[] = Array.from({ length: 400 }, (_, id) => ({
    id,
    source: `word${id}[a-z]{2,9}end${id * 7}`,
    caseless: true,
    dotAll: true,
    multiline: false,
    prefilter: false,
  }));
  const large = Buffer.from(library.compile(many));
  const plan: PlanIR = {
    ...planWith(['large']),
    databases: [{ key: 'large', patterns: many, atomOf: many.map(() => 0) }],
  };
  const bytes = encodeArtifact({
    meta: { compiler: '1', components: [], matcher: 'hyperscan', probes: [] },
    program,
    plan,
    blobs: new Map([['large', large]]),
  });
  const cycle = (): void => {
    const ruleset = loadRuleset(bytes, library);
    const inspector = createCompiledInspector(ruleset);
    exchange(inspector, { uri: '/?a=evil' });
    inspector.release();
    ruleset.release();
  };
  for (let round = 0; round < 50; round += 1) cycle();
  const before = process.memoryUsage().rss;
  for (let round = 0; round < 50; round += 1) cycle();
  const grownBytes = process.memoryUsage().rss - before;
  const boundBytes = Math.max(40 * 1024 * 1024, 25 * large.length);
  t.ok(grownBytes < boundBytes, `50 cycles grew the process by ${grownBytes} bytes; a database has ${large.length}`);
  t.end();
});

t.test('R13: loading has a place to pause at behind each database, and ends as it does in one go', (t) => {
  const keys = ['a', 'b', 'c'];
  const bytes = artifact(
    keys.map((key) => [key, blob] as const),
    keys,
  );
  const loading = loadingRuleset(bytes, library);
  let pauses = 0;
  let next = loading.next();
  for (; next.done !== true; next = loading.next()) pauses += 1;
  t.ok(pauses >= keys.length, `${pauses} pauses`);
  t.equal(next.value.hash, loadRuleset(bytes, library).hash);
  const creating = creatingInspector(next.value);
  t.not(creating.next().done, true, 'so has what is made of it');
  next.value.release();
  t.end();
});
