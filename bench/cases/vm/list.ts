// The list of findings over HTTP on PostgreSQL with five million rows: what people filter and sort by, page 1 and page
// 10,000 (fifty rows each), by offset, and the page after one by cursor. 10,000 applications in projects of 100, four
// findings of ten open.
import type { BenchContext } from '../../context.js';
import { quantile } from '../../statistics.js';
import { inBulk, makeApplications, makeFindings, Stage, type Asked } from './stage.js';

const applications = 10_000;
const findingsEach = 500;
/** Findings that are made by one statement. */
const perStatement = 100;
const openShare = 40;
const rounds = 7;
const pageRows = 50;
const deepOffset = 9_999 * pageRows;

/** What is asked, and whether it has so many rows that there is a page 10,000. */
export const questions: readonly (readonly [string, string, boolean])[] = [
  ['everything by priority', '', true],
  ['open by priority', 'status=open', true],
  ['open, high and critical by priority', 'status=open&severity=high&severity=critical', true],
  ['high by priority', 'severity=high', true],
  ['high by first sight', 'severity=high&sort=-first_seen', true],
  ['open by risk', 'status=open&sort=-risk', true],
  ['open by severity', 'status=open&sort=-severity', true],
  ['open by due date', 'status=open&sort=due_at', true],
  ['everything by last sight', 'sort=-last_seen', true],
  ['open by last sight', 'status=open&sort=-last_seen', true],
  ['everything by first sight', 'sort=first_seen', true],
  ['open by first sight', 'status=open&sort=-first_seen', true],
  ['one source, open', 'source=dast&status=open', true],
  ['triaged', 'status=triaged', true],
  ['one project, open', 'project_id=7&status=open', false],
  ['one project by risk', 'project_id=7&sort=-risk', false],
  ['one application', 'application_id=4711', false],
  ['one application, open by risk', 'application_id=4711&status=open&sort=-risk', false],
  ['one CVE', 'cve=CVE-2024-12345', false],
  ['one weakness, open', 'cwe=CWE-918&status=open', false],
  ['known exploited, open', 'kev=true&status=open', false],
  ['past due', 'sla_state=breached', true],
  ['reachable, open', 'reachable=true&status=open', false],
  ['one file', 'q=file-77.ts', false],
  ['no such words', 'q=nowhere-to-be-found', false],
];

const pageOf = (query: string, more: string): string =>
  `/vulnerabilities?limit=${pageRows}${query === '' ? '' : `&${query}`}${more}`;

async function slowOf(stage: Stage, path: string): Promise<Asked & { readonly median: number }> {
  await stage.ask(path); // what nobody has read for long comes from the disk once
  const asked: Asked[] = [];
  for (let round = 0; round < rounds; round++) asked.push(await stage.ask(path));
  const wall = asked.map(({ wallMs }) => wallMs);
  const cpuMs = asked.reduce((sum, one) => sum + one.cpuMs, 0) / asked.length;
  return {
    wallMs: quantile(wall, 1),
    median: quantile(wall, 0.5),
    cpuMs,
    body: asked[0]?.body ?? {},
  };
}

async function measureQuestion(stage: Stage, key: string, query: string, isDeep: boolean): Promise<void> {
  const pages: [string, string][] = [['page 1', '']];
  if (isDeep) pages.push(['page 10,000', `&offset=${deepOffset}`]);
  for (const [page, more] of pages) {
    const slow = await slowOf(stage, pageOf(query, more));
    stage.record(`${key} / ${page}, median`, { wallMs: slow.median, cpuMs: slow.cpuMs });
    stage.record(`${key} / ${page}, slowest`, slow);
  }
  const { body } = await stage.ask(pageOf(query, ''));
  const cursor = body['next_cursor'];
  if (typeof cursor !== 'string') return;
  const next = await slowOf(stage, pageOf(query, `&cursor=${encodeURIComponent(cursor)}`));
  stage.record(`${key} / page 2 by cursor, median`, { wallMs: next.median, cpuMs: next.cpuMs });
}

export async function vmListCase(context: BenchContext): Promise<void> {
  const each = context.options.short ? findingsEach / 50 : findingsEach;
  const stage = await Stage.open(context, 'vm-list');
  if (stage === null) return;
  try {
    context.progress(`vm-list: ${applications * each} findings are made`);
    await makeApplications(stage.sql, { applications, perProject: 100 });
    await inBulk(stage.sql, async () => {
      for (let from = 1; from <= each; from += perStatement) {
        const to = Math.min(from + perStatement - 1, each);
        await makeFindings(stage.sql, from, to, openShare);
        context.progress(`vm-list: ${applications * to} are there`);
      }
    });
    await stage.sql`truncate vm_chain_changes`;
    await stage.sql`vacuum analyze vm_findings`;
    await stage.start();
    for (const [name, query, isDeep] of questions) {
      context.progress(`vm-list: ${name}`);
      await measureQuestion(
        stage,
        `vm-list / ${applications * each} findings / ${name}`,
        query,
        isDeep && !context.options.short,
      );
    }
  } finally {
    await stage.close();
  }
}
