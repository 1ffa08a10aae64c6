// The chain engine in memory over a large organisation: 10,000 applications with 40 open findings each, in projects of
// a hundred, in one single project, and without projects. Asked are the first build, the answer after one finding has
// changed, and the answer when nothing has.
import { ChainEngine, chainsAnswer, rankFixes, type ChainApplication, type ChainFinding } from '#vm-manager/chains';
import type { BenchContext } from '../context.js';

const applications = 10_000;
const findingsEach = 40;

/** Weaknesses of made-up findings: CWE and title. */
export const weaknesses: readonly (readonly [number | null, string])[] = [
  [918, 'Server-side request forgery in the preview'],
  [89, 'SQL injection in search'],
  [79, 'Reflected script in the error page'],
  [78, 'Command injection in the converter'],
  [798, 'Hard-coded password of the database'],
  [732, 'IAM role with wildcard actions'],
  [732, 'Bucket policy allows public read'],
  [250, 'Privileged container'],
  [639, 'Orders of others can be read'],
  [862, 'Missing authorisation of the report'],
  [614, 'Cookie without Secure flag'],
  [null, 'Missing X-Frame-Options header'],
  [1104, 'Component that nobody maintains'],
  [null, 'Network policy missing in the namespace'],
];

/** Numbers that look random and are the same in every run. */
function* numbers(): Generator<number> {
  for (let state = 20_261_122; ; ) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    yield state / 2 ** 32;
  }
}

type Row = readonly [ChainApplication, readonly ChainFinding[]];

function organisation(projectOf: (index: number) => string | null, count: number): Row[] {
  const random = numbers();
  const below = (limit: number): number => Math.floor((random.next().value as number) * limit);
  return Array.from({ length: count }, (_, index): Row => {
    const id = String(index + 1);
    const application: ChainApplication = {
      id,
      name: `Application ${id}`,
      environment: below(3) === 0 ? 'prod' : 'staging',
      criticality: ['critical', 'high', 'medium', 'low', null][below(5)] ?? null,
      projectId: projectOf(index),
    };
    const findings = Array.from({ length: findingsEach }, (_, at): ChainFinding => {
      const [cwe, title] = weaknesses[below(weaknesses.length)] as (typeof weaknesses)[number];
      return {
        id: String(index * findingsEach + at + 1),
        applicationId: id,
        title,
        cwe,
        severity: 'high',
        status: 'new',
        source: 'dast',
        riskScore: below(101),
        riskOverride: null,
        priorityScore: below(10_000),
        reachable: below(4) === 0,
        exploitConfirmed: below(50) === 0,
        location: null,
      };
    });
    return [application, findings];
  });
}

const median = (values: readonly number[]): number =>
  [...values].sort((one, other) => one - other)[values.length >> 1] ?? Number.NaN;

const shapes: readonly (readonly [string, (index: number) => string | null])[] = [
  ['projects of 100', (index) => String(Math.floor(index / 100))],
  ['one project', () => 'all'],
  ['no projects', () => null],
];

export function chainsCase(context: BenchContext): void {
  const count = context.options.short ? applications / 10 : applications;
  for (const [shape, projectOf] of shapes) {
    context.progress(`chains: ${count} applications, ${shape}`);
    const rows = organisation(projectOf, count);
    const add = (what: string, ms: number): void =>
      context.recorder.add(`chains / ${count} applications, ${shape} / ${what}`, 'ms', 'lower', ms);
    const timed = (what: () => unknown): number => {
      const start = performance.now();
      what();
      return performance.now() - start;
    };
    const engine = new ChainEngine();
    add(
      'first build',
      timed(() => {
        for (const [application, findings] of rows) engine.set(application, findings);
        engine.read();
      }),
    );
    const changes = Array.from({ length: 15 }, (_, round) => {
      const [application, findings] = rows[(round * 611) % count] as Row;
      const changed = findings.map((finding, at) => (at === 0 ? { ...finding, riskScore: round } : finding));
      return timed(() => {
        engine.set(application, changed);
        chainsAnswer(engine.read());
      });
    });
    add('one changed finding', median(changes));
    add('one changed finding, slowest', Math.max(...changes));
    add('read', median(Array.from({ length: 15 }, () => timed(() => chainsAnswer(engine.read())))));
    if (!context.options.short)
      add(
        'fix ranking',
        timed(() => rankFixes(engine)),
      );
  }
}
