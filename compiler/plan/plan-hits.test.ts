// The plan and the hit finder that reads it: for any value, the hits hold every atom that truly holds on it, whichever
// database, alphabet, set, memo or slot answered. "Truly" is: apply the pipeline, ask the operator.
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { hyperscanLibrary } from '#engine';
import {
  createHitFinder,
  createMatcher,
  re2Library,
  transformations,
  type HitFinder,
  type LinkIR,
  type MatcherLibrary,
  type MemoSize,
  type OperatorIR,
  type PlanIR,
  type Program,
  type RuleIR,
  type ScanSource,
} from '#engine/compile';
import { long, manyRules, planned, ruleOf, rules, value, type Planned } from '../testing/planned-rules.js';
import { dropLowercase } from './atom-means.js';

const seed = Number(process.env['SEED'] ?? 20_261_121);

function operatorOf(program: Program, plan: PlanIR, atom: number): { operator: OperatorIR; link: LinkIR } {
  const { item, link } = plan.atoms[atom] as { item: number; link: number };
  const found = (program.items[item] as RuleIR).links[link] as LinkIR;
  return { operator: found.operator as OperatorIR, link: found };
}

function finderOf(
  program: Program,
  plan: PlanIR,
  blobs: ReadonlyMap<string, Uint8Array>,
  library: MatcherLibrary,
  memo: MemoSize,
): HitFinder {
  const databases = plan.databases.map(({ key, patterns }) =>
    library.load(library.name === 'hyperscan' ? (blobs.get(key) as Uint8Array) : library.compile(patterns), key),
  );
  return createHitFinder(program, plan, library.createScanner(databases), memo);
}

/** Atoms of a class that hold on some stage of the link's own pipeline, the slow way. */
function truth(program: Program, plan: PlanIR, scanClass: number): (value: string) => number[] {
  const { union, sets, called } = plan.classes[scanClass] as PlanIR['classes'][number];
  const atoms = [
    ...new Set([
      ...(plan.databases[union.database]?.atomOf ?? []),
      ...sets.flatMap((set) => set.atoms),
      ...called.map(({ atom }) => atom),
    ]),
  ];
  const asked = atoms.map((atom) => {
    const { operator, link } = operatorOf(program, plan, atom);
    // An atom of a multiMatch link stands for one of its stages: the one whose scanned pipeline it names.
    const stages = link.multiMatch
      ? link.transformations.map((_, length) => link.transformations.slice(0, length + 1)).concat([[]])
      : [link.transformations];
    const mine = stages.filter((stage) =>
      [stage, dropLowercase(stage).pipeline].some(
        (one) => one.join() === plan.pipelines[(plan.atoms[atom] as { pipeline: number }).pipeline]?.join(),
      ),
    );
    return {
      atom,
      matcher: createMatcher(operator, operator.argument),
      stage: mine[0] ?? link.transformations,
      isSure: mine.length === 1,
    };
  });
  return (value) =>
    asked
      .filter(
        ({ matcher, stage, isSure }) =>
          isSure &&
          matcher.matches(
            stage.reduce((text, name) => transformations.get(name)?.apply(text, { unicodeMap: null }) ?? text, value),
          ),
      )
      .map(({ atom }) => atom);
}

t.test('hits hold every atom that holds', (t) => checkHits(t, rules));

t.test('hits hold every atom that holds, with patterns cut down to the alphabets', async (t) => {
  const { program, plan } = await checkHits(t, manyRules);
  t.same(
    settledSets(program, plan),
    [
      [
        [true, true, true],
        [19, 200],
      ],
      [[false, false, false], [20]],
    ],
    'what RE2 is asked about any other value, the union answers for those',
  );
  const [{ union }] = plan.classes as [PlanIR['classes'][number]];
  const sizeOf = (database: number): number =>
    (plan.databases[database]?.patterns ?? []).reduce((sum, { source }) => sum + source.length, 0);
  t.ok(
    union.byAlphabet.every((database) => sizeOf(database) - 2 * long.length < sizeOf(union.database)),
    'what is left of the patterns is shorter',
  );
});

t.test('hits hold every atom that holds, with a pattern that Hyperscan refuses cut down, too', async (t) => {
  const { program, plan } = await checkHits(
    t,
    `${manyRules}SecRule ARGS "@rx (?:e|[;<]v)$(?:vil|)" "id:201,phase:2,log,pass"\n`,
  );
  t.same(
    settledSets(program, plan),
    [
      [
        [true, false, false],
        [19, 200, 201],
      ],
      [[false, false, false], [20]],
    ],
    'of hexadecimal digits too little is left of it to be refused',
  );
});

/** Of the first class: for which alphabets its RE2 sets are not asked, and their rules. */
function settledSets(program: Program, plan: PlanIR): [readonly boolean[], number[]][] {
  const [{ sets }] = plan.classes as [PlanIR['classes'][number]];
  return sets.map(({ settledByAlphabet, atoms }) => [
    settledByAlphabet,
    atoms.map((atom) => ruleOf({ program, plan }, atom)),
  ]);
}

async function checkHits(t: Test, text: string): Promise<Planned> {
  const made = await planned(text);
  const { program, plan, blobs } = made;
  t.ok(plan.classes.length >= 3, `${plan.classes.length} classes`);
  t.ok(
    plan.classes.some(({ sets }) => sets.length > 0),
    'some patterns are in RE2 sets',
  );
  t.ok(
    plan.classes.some(({ called }) => called.length >= 5),
    'some operators are called',
  );
  t.ok(
    plan.classes.some(({ union }) =>
      union.byAlphabet.some((database) => database !== union.database && database !== -1),
    ),
    'some alphabet has a database of its own',
  );
  const memo = { entriesMax: 50, bytesMax: 4000, valueBytesMax: 300 };
  const finders: readonly [string, HitFinder][] = [
    ['Hyperscan, memo', finderOf(program, plan, blobs, hyperscanLibrary(), memo)],
    ['Hyperscan, no memo', finderOf(program, plan, blobs, hyperscanLibrary(), null)],
    ['RE2, memo', finderOf(program, plan, blobs, re2Library(), memo)],
  ];
  const truths = plan.classes.map((_, index) => truth(program, plan, index));
  let held = 0;
  let silent = 0;
  const query = fc.record({ scanClass: fc.nat({ max: plan.classes.length - 1 }), slot: fc.nat({ max: 3 }), value });
  fc.assert(
    fc.property(fc.array(query, { minLength: 1, maxLength: 30, size: 'max' }), (queries) => {
      for (const [name, finder] of finders) {
        // Several values a flush; slots are shared by all classes on purpose.
        const records = queries.map((one) => finder.findAt(one.slot, one.scanClass, one.value));
        finder.flush();
        for (const [index, one] of queries.entries()) {
          const { hits, value: recorded } = records[index] as (typeof records)[number];
          const wanted = (truths[one.scanClass] as (text: string) => number[])(one.value);
          held += wanted.length;
          if (hits.length === 0) silent += 1;
          const missed = wanted.filter((atom) => !hits.includes(atom));
          if (missed.length > 0 || recorded !== one.value)
            throw new Error(
              `${name}: class ${one.scanClass} missed ${missed.map((atom) => `rule ${ruleOf(made, atom)}`).join()} ` +
                `on ${JSON.stringify(one.value)}`,
            );
          const known = finder.peek(one.scanClass, one.value);
          if (known !== undefined && (known.scanClass !== one.scanClass || known.value !== one.value))
            throw new Error(`${name}: the memo answered for something else`);
        }
      }
    }),
    { seed, numRuns: 400 },
  );
  t.ok(held > 3000 && silent > 1000, `${held} atoms held, ${silent} values had no hit, seed ${seed}`);
  const counters = (finders[0] as [string, HitFinder])[1].counters();
  t.ok(counters.found > 100, `the memo answered ${counters.found} of ${counters.lookups}`);
  return made;
}

t.test('a slot answers for its own class only', async (t) => {
  const { program, plan, blobs } = await planned(rules);
  const finder = finderOf(program, plan, blobs, hyperscanLibrary(), {
    entriesMax: 10,
    bytesMax: 1000,
    valueBytesMax: 100,
  });
  const classOf = (source: ScanSource): number => plan.classes.findIndex(({ sources }) => sources.includes(source));
  const names = (hits: readonly number[]): number[] =>
    hits.map((atom) => ruleOf({ program, plan }, atom)).sort((a, b) => a - b);
  const first = finder.findAt(0, classOf('headerValue'), 'curl');
  finder.flush();
  const second = finder.findAt(0, classOf('requestFilename'), 'curl');
  const third = finder.findAt(0, classOf('headerValue'), 'curl');
  finder.flush();
  t.same([names(first.hits), names(second.hits), names(third.hits)], [[31], [], [31]]);
  t.not(second, first);
});
