// The table of texts says what applying every pipeline to the value would say, whatever it skipped or shared.
import fc from 'fast-check';
import t from 'tap';
import { transformations } from '../../transformations/index.js';
import type { Transformation } from '../../transformations/transformation.js';
import { createByteGroups } from './byte-groups.js';
import { ReachableSteps } from './reachable-steps.js';
import { TextTable, transformationsMax, type PipelineStep } from './text-table.js';

const seed = Number(process.env['SEED'] ?? 20_261_121);
const names = [...transformations.keys()];
const context = { unicodeMap: new Map([[0x2032, 0x27]]) };
const pieces = [
  'a',
  'B',
  '%41',
  '%',
  '%u2032',
  '&lt;',
  '&#x41;',
  '\\x41',
  '\\',
  '/*',
  '*/',
  '--',
  '\0',
  ' ',
  '\t',
  '../',
  '\\..\\',
  '^',
  '"',
  '\xe9',
  '\xff',
  '+',
  'QQ==',
  '41',
  '0x4142',
];
const value = fc.oneof(
  fc.array(fc.constantFrom(...pieces), { maxLength: 12 }).map((parts) => parts.join('')),
  fc.array(fc.integer({ min: 0, max: 255 }), { maxLength: 80 }).map((codes) => String.fromCharCode(...codes)),
);

/** The trie of some pipelines, as the hit finder builds it, and the step at each pipeline's end. */
function trie(pipelines: readonly (readonly string[])[]): {
  steps: PipelineStep[];
  ends: number[];
  groups: ReturnType<typeof createByteGroups>;
} {
  const used = [...new Set(pipelines.flat())];
  const groups = createByteGroups(used.map((name) => transformations.get(name)?.triggers ?? []));
  const steps: PipelineStep[] = [
    { parent: 0, transformation: { name: 'none', apply: (text) => text, triggers: [] }, kind: 0, mask: 0 },
  ];
  const at = new Map([['', 0]]);
  const ends = pipelines.map((pipeline) => {
    let path = '';
    let step = 0;
    for (const name of pipeline) {
      path += `,${name}`;
      let next = at.get(path);
      if (next === undefined) {
        const transformation = transformations.get(name) as Transformation;
        next =
          steps.push({
            parent: step,
            transformation,
            kind: used.indexOf(name),
            mask: transformation.triggers === null ? -1 : groups.maskOf(transformation.triggers),
          }) - 1;
        at.set(path, next);
      }
      step = next;
    }
    return step;
  });
  return { steps, ends, groups };
}

t.test('equals applying every pipeline', (t) => {
  // One table for all runs: what an earlier value left in it must not matter.
  const sink = {
    takenFlags: 0,
    taken: [] as string[],
    flagsOf: (_: string) => 0,
    take(text: string) {
      this.takenFlags = this.flagsOf(text);
      return this.taken.push(text);
    },
  };
  const table = new TextTable(sink);
  let shared = 0;
  fc.assert(
    fc.property(
      fc.array(fc.array(fc.constantFrom(...names), { maxLength: 5 }), { minLength: 1, maxLength: 30, size: 'max' }),
      value,
      (pipelines, text) => {
        const { steps, ends, groups } = trie(pipelines);
        sink.taken.length = 0;
        sink.flagsOf = (one) => groups.maskOf([...one].map((character) => character.charCodeAt(0)));
        const flags = sink.flagsOf(text);
        const reachable = new ReachableSteps(steps, ends).of(flags);
        table.fill(steps, reachable.steps, text, -1, flags, context);
        const distinct = table.texts.slice(0, table.count);
        if (new Set(distinct).size !== distinct.length || sink.taken.length !== distinct.length - 1) return false;
        if (distinct.length < ends.length) shared += 1;
        return pipelines.every((pipeline, index) => {
          const naive = pipeline.reduce(
            (one, name) => (transformations.get(name) as Transformation).apply(one, context),
            text,
          );
          const found = table.ofStep[ends[index] as number] as number;
          return (
            (found === 0 || reachable.positions.includes(index)) &&
            distinct[found] === naive &&
            table.flags[found] === sink.flagsOf(naive) &&
            table.offsets[found] === (found === 0 ? -1 : sink.taken.indexOf(naive) + 1)
          );
        });
      },
    ),
    { seed, numRuns: 1500 },
  );
  t.ok(shared > 300, `${shared} runs shared texts, seed ${seed}`);
  t.ok(names.length <= transformationsMax, 'every transformation has a number below the table’s width');
  t.end();
});

t.test('one transformation of one text runs once, however many pipelines share it', (t) => {
  let calls = 0;
  const counted: Transformation = {
    name: 'counted',
    triggers: null,
    apply: (text) => ((calls += 1), text.toLowerCase()),
  };
  const steps: PipelineStep[] = [0, 0, 1, 2, 3].map((parent, index) => ({
    parent,
    transformation: counted,
    kind: 0,
    mask: index === 0 ? 0 : -1,
  }));
  const table = new TextTable({ takenFlags: 0, take: () => 0 });
  const all = Uint16Array.from(steps.keys()).subarray(1);
  table.fill(steps, all, 'ABC', 0, 0, context);
  t.same([...table.ofStep.subarray(0, 5)], [0, 1, 1, 1, 1]);
  t.equal(calls, 2, 'once for the value, once for its lower case');
  table.fill(steps, all, 'abc', 0, 0, context);
  t.same([...table.ofStep.subarray(0, 5)], [0, 0, 0, 0, 0], 'nothing of the value before is left');
  t.end();
});

t.test('what one set of byte groups reaches is remembered, and only the groups that a step asks count', (t) => {
  const step = (parent: number, mask: number): PipelineStep => ({
    parent,
    transformation: transformations.get('lowercase') as Transformation,
    kind: 0,
    mask,
  });
  const reachable = new ReachableSteps([step(0, 0), step(0, 1), step(1, 2), step(0, 4), step(3, -1)], [0, 2, 3, 4]);
  const cases: readonly (readonly [flags: number, steps: readonly number[], positions: readonly number[]])[] = [
    [0, [4], [3]],
    [1, [1, 2, 4], [1, 3]],
    [2, [2, 4], [1, 3]],
    [4, [3, 4], [2, 3]],
    [7, [1, 2, 3, 4], [1, 2, 3]],
  ];
  for (const [flags, steps, positions] of cases) {
    const found = reachable.of(flags);
    t.same([...found.steps], steps, `steps of ${flags}`);
    t.same([...found.positions], positions, `positions of ${flags}`);
    t.equal(reachable.of(flags | 64), found, 'a group that no step asks about changes nothing');
  }
  t.end();
});
