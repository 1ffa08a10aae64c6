// Attack chains of a whole organisation over HTTP on PostgreSQL: 10,000 applications with 40 open findings each. Asked
// are the first answer of a control plane that has just started, the answer after one finding has changed, and the
// answer when nothing has.
import type { BenchContext } from '../../context.js';
import { quantile } from '../../statistics.js';
import { makeApplications, makeFindings, Stage, type Asked } from './stage.js';

const applications = 10_000;
const findingsEach = 40;
const rounds = 20;
const shapes: readonly (readonly [string, number | null])[] = [
  ['projects of 100', 100],
  ['one project', applications],
  ['no projects', null],
];
const path = '/graph/attack-chains';

const worst = (asked: readonly Asked[], share: number): Pick<Asked, 'wallMs' | 'cpuMs'> => {
  const of = (pick: (one: Asked) => number): number => quantile(asked.map(pick), share);
  return { wallMs: of(({ wallMs }) => wallMs), cpuMs: of(({ cpuMs }) => cpuMs) };
};

async function measureShape(stage: Stage, key: string, count: number): Promise<void> {
  const first = await stage.ask(path);
  stage.record(`${key} / first build`, first);
  const stats = first.body['stats'] as Record<string, number>;
  if ((stats['chains'] ?? 0) < count) throw new Error(`only ${stats['chains']} chains: the organisation is wrong`);
  const changed: Asked[] = [];
  for (let round = 0; round < rounds; round++) {
    const risk = round;
    await stage.sql`update vm_findings set effective_risk = ${risk}, version = version + 1
      where id = (select id from vm_findings where application_id = ${1 + ((round * 611) % count)} and is_open
        order by priority_score desc limit 1)`;
    changed.push(await stage.ask(path));
  }
  stage.record(`${key} / one changed finding, median`, worst(changed, 0.5));
  stage.record(`${key} / one changed finding, slowest`, worst(changed, 1));
  const read: Asked[] = [];
  for (let round = 0; round < rounds; round++) read.push(await stage.ask(path));
  stage.record(`${key} / read, median`, worst(read, 0.5));
  stage.record(`${key} / read, slowest`, worst(read, 1));
}

export async function vmChainsCase(context: BenchContext): Promise<void> {
  const count = context.options.short ? applications / 10 : applications;
  const stage = await Stage.open(context, 'vm-chains');
  if (stage === null) return;
  try {
    for (const [shape, perProject] of shapes) {
      context.progress(`vm-chains: ${count} applications, ${shape}`);
      await makeApplications(stage.sql, { applications: count, perProject });
      await makeFindings(stage.sql, 1, findingsEach, 100);
      await stage.start();
      const key = `vm-chains / ${count} applications, ${shape}`;
      await measureShape(stage, key, count);
      context.recorder.add(`${key} / memory`, 'MB', 'lower', stage.residentMb());
      await stage.rest();
    }
  } finally {
    await stage.close();
  }
}
