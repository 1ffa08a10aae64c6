// Filters of findings as they come in a query string, as conditions on the table.
import { escapeLike, Moment, parseMoment } from '#http-kit';
import { Type, type Static } from '@sinclair/typebox';
import { allOf, anyOf, json, type Fragment, type Queryable } from '../database.js';
import { reachable, type Reach } from '../kit/caller.js';
import { hasOneOf, listOf, SomeOf } from '../kit/comma-list.js';
import { unfit } from '../kit/endpoint.js';
import { fixStates, severityBases, severityNames, severityNumbers, sources, statuses } from './words.js';

const Id = Type.String({ maxLength: 20 });

export const FindingFilters = {
  application_id: Type.Optional(Id),
  project_id: Type.Optional(Id),
  severity: Type.Optional(SomeOf(severityNames)),
  severity_basis: Type.Optional(SomeOf(severityBases)),
  status: Type.Optional(SomeOf([...statuses, 'open', 'closed'])),
  source: Type.Optional(SomeOf(sources, 'quality: what linters say; hidden without this filter')),
  tool: Type.Optional(Type.String({ maxLength: 200 })),
  cwe: Type.Optional(Type.String({ pattern: '^(?:[Cc][Ww][Ee]-)?\\d{1,5}$', description: '79 or CWE-79' })),
  cve: Type.Optional(Type.String({ maxLength: 60, description: 'CVE, GHSA or another id of a vulnerability' })),
  reachable: Type.Optional(Type.Boolean()),
  exploit_confirmed: Type.Optional(Type.Boolean()),
  kev: Type.Optional(Type.Boolean()),
  epss_gte: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
  sla_state: Type.Optional(SomeOf(['ok', 'at_risk', 'breached', 'paused', 'none'])),
  assignee: Type.Optional(Type.String({ maxLength: 100, description: 'id of a user; none: unassigned' })),
  fix_state: Type.Optional(SomeOf(fixStates)),
  tag: Type.Optional(Type.String({ maxLength: 60 })),
  first_seen_gte: Type.Optional(Moment('UTC')),
  q: Type.Optional(Type.String({ maxLength: 200, description: 'words in title and location' })),
};
const Filters = Type.Object(FindingFilters);
export type GivenFilters = Static<typeof Filters>;

const isId = (text: string): boolean => /^\d{1,18}$/.test(text);

/** Rows of vm_findings within reach. */
export const visibleFindings = (sql: Queryable, reach: Reach): Fragment =>
  reachable(sql, reach, sql`application_id`, sql`project_id`);

/** Conditions of the filters; the reach is another one. */
export function toConditions(sql: Queryable, given: GivenFilters, now: Date): Fragment[] {
  const found: Fragment[] = [];
  for (const name of ['application_id', 'project_id'] as const) {
    const id = given[name];
    if (id !== undefined) found.push(isId(id) ? sql`${sql(name)} = ${id}` : sql`false`);
  }
  if (given.severity !== undefined) {
    const numbers = listOf(given.severity).map((name) => severityNumbers[name] ?? 0);
    found.push(sql`severity in ${sql(numbers)}`);
  }
  if (given.status !== undefined) found.push(statusIs(sql, listOf(given.status)));
  if (given.source === undefined) found.push(sql`source <> 'quality'`);
  for (const name of ['severity_basis', 'source', 'fix_state'] as const) {
    const value = given[name];
    if (value !== undefined) found.push(hasOneOf(sql, name, value));
  }
  if (given.tool !== undefined) found.push(sql`tool = ${given.tool}`);
  for (const name of ['reachable', 'exploit_confirmed', 'kev'] as const) {
    const value = given[name];
    if (value !== undefined) found.push(sql`${sql(name)} = ${value}`);
  }
  if (given.cwe !== undefined) found.push(sql`cwes @> ${json(sql, [Number(given.cwe.replace(/\D/g, ''))])}`);
  if (given.cve !== undefined) found.push(sql`vuln_ids @> ${json(sql, [given.cve.toUpperCase()])}`);
  if (given.epss_gte !== undefined) found.push(sql`epss >= ${given.epss_gte}`);
  if (given.assignee !== undefined)
    found.push(given.assignee === 'none' ? sql`assignee_id is null` : sql`assignee_id = ${given.assignee}`);
  if (given.tag !== undefined) found.push(sql`tags @> ${json(sql, [given.tag])}`);
  if (given.first_seen_gte !== undefined)
    found.push(sql`first_seen >= ${parseMoment(given.first_seen_gte, 'first_seen_gte')}`);
  if (given.sla_state !== undefined)
    found.push(
      anyOf(
        sql,
        listOf(given.sla_state).map((state) => slaIs(sql, state, now)),
      ),
    );
  if (given.q !== undefined) {
    // the first is the expression of the index vm_findings_by_folded_words, which takes different signs for one
    found.push(sql`vm_folded(title || ' ' || location) like '%' || vm_folded(${escapeLike(given.q)}) || '%'`);
    found.push(sql`position(lower(${given.q}) in lower(title || ' ' || location)) > 0`);
  }
  return found;
}

function statusIs(sql: Queryable, wanted: readonly string[]): Fragment {
  if (wanted.length === 0) throw unfit('status', 'is an empty list');
  const named = wanted.filter((status) => status !== 'open' && status !== 'closed');
  return anyOf(sql, [
    ...(wanted.includes('open') ? [sql`is_open`] : []),
    ...(wanted.includes('closed') ? [sql`not is_open`] : []),
    ...(named.length > 0 ? [sql`status in ${sql(named)}`] : []),
  ]);
}

function slaIs(sql: Queryable, state: string, now: Date): Fragment {
  if (state === 'none') return sql`due_at is null`;
  if (state === 'paused') return sql`due_at is not null and sla_paused_at is not null`;
  const running = sql`is_open and due_at is not null and sla_paused_at is null`;
  if (state === 'breached') return sql`${running} and due_at <= ${now}`;
  const left = sql`due_at > ${now} and (due_at - ${now}::timestamptz) <= (due_at - sla_start) / 5`;
  if (state === 'at_risk') return sql`${running} and ${left}`;
  return sql`${running} and due_at > ${now} and (due_at - ${now}::timestamptz) > (due_at - sla_start) / 5`;
}

export const whereOf = (sql: Queryable, reach: Reach, given: GivenFilters, now: Date): Fragment =>
  allOf(sql, [visibleFindings(sql, reach), ...toConditions(sql, given, now)]);

/** Words, and members of lists: their indexes have no order. */
export const isScattered = ({ q, cve, cwe, tag }: GivenFilters): boolean =>
  [q, cve, cwe, tag].some((given) => given !== undefined);
