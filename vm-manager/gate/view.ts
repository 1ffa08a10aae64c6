// How an evaluation is shown: as JSON, and as what pipelines and code hosts read (JUnit, SARIF 2.1.0).
import { Nullable, OneOf, Time } from '#http-kit';
import { Type } from '@sinclair/typebox';
import type { FindingRow } from '../findings/fields.js';
import { severityOf } from '../findings/fields.js';
import type { Queryable } from '../database.js';
import { reachable, type Reach } from '../kit/caller.js';
import { exitCodeOf, verdictOf, type EvaluationRow } from './evaluate.js';

const Ids = Type.Array(Type.String());
const Verdict = OneOf(['pass', 'fail', 'warn']);

export const EvaluationView = Type.Object({
  evaluation_id: Type.String(),
  application_id: Type.String(),
  commit: Type.String(),
  branch: Type.String(),
  verdict: Verdict,
  computed_verdict: Verdict,
  exit_code: Type.Integer({ description: '0 go on, 1 stop, 2 nothing was scanned for the commit' }),
  reason: Type.String(),
  evaluated: Type.Boolean({ description: 'false: nothing was scanned for the commit, so that nothing was asked' }),
  gaps: Type.Array(Type.String(), { description: 'why the reports of the commit prove nothing' }),
  gate: Type.Unknown(),
  baseline: Type.Unknown(),
  run_ids: Ids,
  conditions: Type.Array(Type.Unknown()),
  blocking_vuln_ids: Ids,
  new_vuln_ids: Ids,
  new_findings: Type.Integer(),
  open_findings: Type.Integer(),
  excluded: Type.Integer({ description: 'findings of the commit that users accepted, muted or called wrong' }),
  chains: Type.Array(Type.Unknown()),
  override: Nullable(Type.Unknown()),
  created_by: Type.String(),
  created_at: Time,
});

/** Chains that run through applications out of reach keep their number and their hops within reach, nothing else. */
async function seenChains(sql: Queryable, reach: Reach, row: EvaluationRow) {
  const { chains } = row.snapshot;
  const hops = [...new Set(chains.flatMap(({ hop_vuln_ids }) => hop_vuln_ids))];
  if (hops.length === 0) return { chains: [], hidden: new Set<string>() };
  const ids = [...new Set(chains.flatMap(({ application_ids }) => application_ids))];
  const applications = await sql<{ id: string }[]>`
    select a.id::text as id from vm_applications a
    where a.id in ${sql(ids)} and ${reachable(sql, reach, sql`a.id`, sql`a.project_id`)}`;
  const findings = await sql<{ id: string }[]>`
    select f.id::text as id from vm_findings f
    where f.id in ${sql(hops)} and ${reachable(sql, reach, sql`f.application_id`, sql`f.project_id`)}`;
  const seen = new Set(applications.map(({ id }) => id));
  const own = new Set(findings.map(({ id }) => id));
  const shown = chains.map((chain) =>
    chain.application_ids.every((id) => seen.has(id))
      ? chain
      : {
          ...chain,
          id: '',
          name: 'A chain through applications that you do not see',
          hop_vuln_ids: chain.hop_vuln_ids.filter((id) => own.has(id)),
          application_ids: chain.application_ids.filter((id) => seen.has(id)),
        },
  );
  return { chains: shown, hidden: new Set(hops.filter((id) => !own.has(id))) };
}

export async function viewEvaluation(sql: Queryable, reach: Reach, row: EvaluationRow, now: Date) {
  const { snapshot } = row;
  const { chains, hidden } = await seenChains(sql, reach, row);
  const visible = (ids: readonly string[]): string[] => ids.filter((id) => !hidden.has(id));
  const known = new Set(chains.map(({ id }) => id));
  return {
    evaluation_id: String(row.id),
    application_id: String(row.application_id),
    commit: row.commit,
    branch: row.branch,
    verdict: verdictOf(row, now),
    computed_verdict: row.verdict,
    exit_code: exitCodeOf(row, now),
    ...snapshot,
    gaps: snapshot.gaps ?? [],
    conditions: snapshot.conditions.map((one) => ({
      ...one,
      vuln_ids: visible(one.vuln_ids),
      chain_ids: one.chain_ids.filter((id) => known.has(id)),
    })),
    blocking_vuln_ids: visible(snapshot.blocking_vuln_ids),
    chains,
    override: row.override === null ? null : { ...row.override, until: row.override_until?.toISOString() ?? null },
    created_by: row.created_by,
    created_at: row.created_at.toISOString(),
  };
}
export type EvaluationShown = Awaited<ReturnType<typeof viewEvaluation>>;

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};
/** Text of an XML document; characters that XML 1.0 cannot hold are replaced. */
export const xml = (text: string): string =>
  text
    .replace(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, '\uFFFD')
    .replace(/[&<>"']/g, (character) => entities[character] ?? '');

type Titles = ReadonlyMap<string, FindingRow>;
const lineOf = (id: string, titles: Titles): string => {
  const row = titles.get(id);
  return row === undefined
    ? `finding ${id}`
    : `${severityOf(row)}: ${row.title} (${row.location || 'no place'}), ${id}`;
};

/** JUnit: one test a condition; a condition that does not hold is a failure that lists what it counted. */
export function toJunit(shown: EvaluationShown, titles: Titles, brand: string): string {
  const isStopped = shown.verdict === 'fail';
  const none = { name: 'scan', ok: false, actual: 0, op: 'gte', threshold: 1, vuln_ids: [], chain_ids: [] };
  const listed = shown.evaluated ? shown.conditions : [none];
  const broken = listed.filter(({ ok }) => !ok).length;
  const cases = listed.map((one) => {
    const head = `<testcase classname="gatehouse.gate" name="${xml(`${one.name} ${one.op} ${one.threshold}`)}"`;
    if (one.ok) return `    ${head}/>`;
    const chains = shown.chains.filter(({ id }) => (one.chain_ids as readonly string[]).includes(id));
    const text = [...chains.map(({ name, score }) => `chain (${score}): ${name}`)].concat(
      one.vuln_ids.map((id) => lineOf(id, titles)),
    );
    const message = shown.evaluated ? `${one.name} is ${one.actual}` : shown.reason;
    const [open, close] = isStopped ? ['<failure', '</failure>'] : ['<system-out', '</system-out>'];
    const said = isStopped ? ` message="${xml(message)}" type="gate"` : '';
    return `    ${head}>${open}${said}>${xml([message, ...text].join('\n'))}${close}</testcase>`;
  });
  const counts = `tests="${listed.length}" failures="${isStopped ? broken : 0}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="${xml(brand)}" ${counts}>`,
    `  <testsuite name="${xml(`gate ${shown.gate.name}, commit ${shown.commit}`)}" ${counts}>`,
    ...cases,
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

const levels: Readonly<Record<string, string>> = { critical: 'error', high: 'error', medium: 'warning' };

/** SARIF 2.1.0: what stops the commit, at its place, so that a code host shows it beside the code. */
export function toSarif(shown: EvaluationShown, titles: Titles, brand: string): string {
  const rows = shown.blocking_vuln_ids.flatMap((id) => titles.get(id) ?? []);
  const ruleOf = (row: FindingRow): string => row.rule_id || `finding-${row.id}`;
  const rules = [...new Map(rows.map((row) => [ruleOf(row), row])).values()];
  const results = rows.map((row) => {
    const [, path = row.location, line] = /^(.*?)(?::(\d+))?$/.exec(row.location) ?? [];
    const region = line === undefined ? {} : { region: { startLine: Math.max(1, Number(line)) } };
    const place = { artifactLocation: { uri: encodeURI(path) }, ...region };
    return {
      ruleId: ruleOf(row),
      level: levels[severityOf(row)] ?? 'note',
      message: { text: row.title },
      ...(path === '' ? {} : { locations: [{ physicalLocation: place }] }),
      partialFingerprints: { 'gatehouse/v1': row.fingerprint },
      baselineState: shown.new_vuln_ids.includes(String(row.id)) ? 'new' : 'unchanged',
      properties: { finding_id: String(row.id), severity: severityOf(row) },
    };
  });
  const driver = {
    name: `${brand} gate`,
    rules: rules.map((row) => ({ id: ruleOf(row), shortDescription: { text: row.title } })),
  };
  const run = {
    tool: { driver },
    automationDetails: { id: `gate/${shown.application_id}/${shown.commit}` },
    results,
    properties: { verdict: shown.verdict, reason: shown.reason },
  };
  const schema = 'https://json.schemastore.org/sarif-2.1.0.json';
  return `${JSON.stringify({ $schema: schema, version: '2.1.0', runs: [run] }, null, 2)}\n`;
}

const colours = { pass: '#2f7d4f', warn: '#9a6b00', fail: '#b3261e', unknown: '#5f6772' } as const;

/** A small picture; the words are the house's own, so that nothing of a finding gets into it. */
export function toBadge(verdict: keyof typeof colours): string {
  const word = verdict === 'unknown' ? 'not evaluated' : verdict;
  const [left, right] = [74, word.length * 7 + 14];
  const text = (x: number, said: string): string => `<text x="${x}" y="14">${said}</text>`;
  const fill = colours[verdict];
  const size = `width="${left + right}" height="20"`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" ${size} role="img" aria-label="security: ${word}">`,
    `<rect width="${left}" height="20" fill="#3b4250"/>`,
    `<rect x="${left}" width="${right}" height="20" fill="${fill}"/>`,
    '<g fill="#fff" font-family="Verdana,sans-serif" font-size="11" text-anchor="middle">',
    `${text(left / 2, 'security')}${text(left + right / 2, word)}</g></svg>`,
    '',
  ].join('\n');
}
