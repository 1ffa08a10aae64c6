// /findings/groups: one row for each piece of work that closes findings, such as the update of a package or one rule.
import { Nullable, OneOf } from '#http-kit';
import { Type } from '@sinclair/typebox';
import { advisoryNameOf, parsePurl } from '../../components/purl.js';
import type { Fragment, Sql } from '../../database.js';
import { endpoint, type Endpoint } from '../../kit/endpoint.js';
import { List, limitMax } from '../../kit/list.js';
import { comparatorOf } from '../../osv/versions/index.js';
import { FindingFilters, whereOf } from '../query.js';
import { severityNames } from '../words.js';

const closed = { additionalProperties: false } as const;
/** The most urgent findings that fit the filters; more are not grouped at once. */
const lookedMax = 200_000;
const idsShown = 20;
const versionsMax = 50;

/** What a row is grouped by, of `f` (vm_findings) and `d` (vm_finding_details); `of`: which findings have one. */
interface GroupKey {
  readonly about: string;
  readonly key: (sql: Sql) => Fragment;
  readonly of: (sql: Sql) => Fragment;
  readonly join?: (sql: Sql) => Fragment;
}

const none = (sql: Sql): Fragment => sql``;
const always = (sql: Sql): Fragment => sql`true`;

export const groupKeys = {
  component_fix: {
    about: 'a package to update; findings with a known fix',
    key: (sql) => sql`coalesce(nullif(regexp_replace(split_part(split_part(d.location ->> 'purl', '?', 1), '#', 1),
      '@[^/@]*$', ''), ''), d.location ->> 'name')`,
    of: (sql) => sql`f.fix_state = 'fixed_available' and d.location ->> 'kind' = 'package'`,
  },
  cwe: {
    about: 'a class of weakness; a finding with several is in each',
    key: (sql) => sql`'CWE-' || w.cwe`,
    of: always,
    join: (sql) => sql`cross join lateral jsonb_array_elements_text(f.cwes) as w(cwe)`,
  },
  rule: {
    about: 'a rule of a tool',
    key: (sql) => sql`f.tool || ': ' || f.rule_id`,
    of: (sql) => sql`f.rule_id <> ''`,
  },
  endpoint: {
    about: 'a method and a route; parts of the path that look like ids stand for any',
    key: (sql) => sql`coalesce(d.location ->> 'method', 'GET') || ' ' || regexp_replace(
      split_part(split_part(d.location ->> 'url', '?', 1), '#', 1),
      '/(\\d+|[0-9a-fA-F]{8}-[0-9a-fA-F-]{27}|[0-9a-fA-F]{16,})(?=/|$)', '/{id}', 'g')`,
    of: (sql) => sql`d.location ->> 'kind' = 'web'`,
  },
  image_layer: {
    about: 'a layer of a container image, by the digest that the tool told',
    key: (sql) => sql`d.extra ->> 'layer'`,
    of: (sql) => sql`d.extra ->> 'layer' <> ''`,
  },
  commit: {
    about: 'the commit whose report had it first',
    key: (sql) => sql`r.input ->> 'commit'`,
    of: (sql) => sql`r.input ->> 'commit' <> ''`,
    join: (sql) => sql`join lateral (select o.first_run from vm_occurrences o where o.finding_id = f.id
        order by o.first_seen, o.id limit 1) o on true
      join vm_runs r on r.id = o.first_run`,
  },
} satisfies Record<string, GroupKey>;
type GroupBy = keyof typeof groupKeys;

interface GroupRow {
  readonly key: string;
  readonly findings: number;
  readonly applications: number;
  readonly worst: number;
  readonly risk: number;
  readonly kev: number;
  readonly counts: readonly number[];
  readonly ids: readonly number[];
  readonly versions: readonly string[] | null;
}

const GroupView = Type.Object({
  key: Type.String(),
  findings: Type.Integer({ description: 'closed by it' }),
  applications: Type.Integer(),
  severity: OneOf(severityNames),
  by_severity: Type.Record(Type.String(), Type.Integer()),
  risk: Type.Integer({ description: 'the sum of the effective risks' }),
  kev: Type.Integer({ description: 'of them exploited in the wild' }),
  fix: Nullable(Type.String({ description: 'the version that closes all of them' })),
  vuln_ids: Type.Array(Type.String(), { description: `the ${idsShown} most urgent` }),
});

/** The latest of the versions that tools name, by the rules of the ecosystem; null: they cannot be compared. */
export function latestOf(key: string, versions: readonly string[]): string | null {
  const told = [...new Set(versions.flatMap((one) => one.split(/\s*,\s*/)).filter((one) => one !== ''))];
  if (told.length < 2) return told[0] ?? null;
  const purl = parsePurl(`${key}@0`);
  const ecosystem = purl === null ? undefined : advisoryNameOf(purl)?.package.split('|')[0];
  const compare = ecosystem === undefined ? null : comparatorOf(ecosystem, 'ECOSYSTEM');
  if (compare === null) return null;
  let latest = told[0] ?? '';
  for (const one of told.slice(1)) {
    const order = compare(one, latest);
    if (order === null) return null;
    if (order > 0) latest = one;
  }
  return latest;
}

const viewGroup = (row: GroupRow) => ({
  key: row.key,
  findings: row.findings,
  applications: row.applications,
  severity: severityNames[row.worst] ?? 'info',
  by_severity: Object.fromEntries(severityNames.map((name, index) => [name, row.counts[index] ?? 0])),
  risk: row.risk,
  kev: row.kev,
  fix: latestOf(row.key, row.versions ?? []),
  vuln_ids: row.ids.map(String),
});

async function readGroups(sql: Sql, by: GroupBy, where: Fragment, limit: number, offset: number) {
  const { key, of, join = none }: GroupKey = groupKeys[by];
  const severities = sql.unsafe(
    severityNames.map((_, index) => `count(*) filter (where severity = ${index})`).join(', '),
  );
  const rows = await sql<(GroupRow & { readonly total: number; readonly looked: number })[]>`
    with found as materialized (
      select * from vm_findings where ${where} order by priority_score desc, id desc limit ${lookedMax + 1}),
    keyed as (
      select ${key(sql)} as key, f.id, f.application_id, f.severity, f.effective_risk, f.kev, f.priority_score,
        nullif(d.fix ->> 'version', '') as fix_version
      from found f left join vm_finding_details d on d.finding_id = f.id ${join(sql)}
      where ${of(sql)}),
    grouped as (
      select key, count(distinct id)::int as findings, count(distinct application_id)::int as applications,
        max(severity)::int as worst, sum(effective_risk)::int as risk, count(*) filter (where kev)::int as kev,
        to_jsonb(array[${severities}]::int[]) as counts,
        to_jsonb((array_agg(id order by priority_score desc, id desc))[1:${idsShown}]) as ids,
        to_jsonb((array_agg(distinct fix_version) filter (where fix_version is not null))[1:${versionsMax}]) as versions
      from keyed where key <> '' group by key)
    select *, (select count(*)::int from grouped) as total, (select count(*)::int from found) as looked
    from grouped order by risk desc, key limit ${limit} offset ${offset}`;
  return rows;
}

const groups = endpoint({
  method: 'GET',
  path: '/findings/groups',
  permission: 'view_findings',
  kind: 'A',
  fromReplica: true,
  summary: 'What closes most: findings by what fixes them together, the most risk first; open ones unless status says',
  query: Type.Object(
    {
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: limitMax, default: 50 })),
      offset: Type.Optional(Type.Integer({ minimum: 0, maximum: 100_000, default: 0 })),
      by: Type.Optional(OneOf(Object.keys(groupKeys) as GroupBy[])),
      ...FindingFilters,
    },
    closed,
  ),
  answer: Type.Object({
    ...List(GroupView).properties,
    by: OneOf(Object.keys(groupKeys) as GroupBy[]),
    about: Type.String(),
    is_partial: Type.Boolean({ description: `more than ${lookedMax} findings fit: the less urgent are left out` }),
  }),
  handle: async ({ sql, reach, query, now }) => {
    const { limit = 50, offset = 0, by = 'component_fix', ...filters } = query;
    const where = whereOf(sql, reach, { ...filters, status: filters.status ?? 'open' }, now);
    const rows = await readGroups(sql, by, where, limit, offset);
    const items = rows.map(viewGroup);
    const page = { total_is_estimate: false, limit, offset, next_cursor: null };
    const isPartial = (rows[0]?.looked ?? 0) > lookedMax;
    return { ...page, items, total: rows[0]?.total ?? 0, by, about: groupKeys[by].about, is_partial: isPartial };
  },
});

export const groupEndpoints: readonly Endpoint[] = [groups];
