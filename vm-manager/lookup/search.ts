// One word over everything that a person may see: applications, findings, vulnerabilities, components, operations of
// APIs. Each kind under the permission of its own lists, at most twenty of it.
import { escapeLike } from '#http-kit';
import { Type } from '@sinclair/typebox';
import { json, type Tx } from '../database.js';
import { visibleByApplication } from '../assets/resources.js';
import { readableSite } from '../assets/site.js';
import { severityOf, type FindingRow } from '../findings/fields.js';
import { visibleFindings } from '../findings/query.js';
import { isUnconfined, reachable, type Reach } from '../kit/caller.js';
import { endpoint, unfit, type Call, type Endpoint } from '../kit/endpoint.js';
import { readInTime } from '../kit/values/in-time.js';
import type { VmPermission } from '../kit/permissions.js';

const kindMax = 20;
/** The index of titles and places knows letters in threes. */
const lettersMin = 3;
const secondsMax = 5;
/** Sites whose operations are looked through, and operations of each. */
const sitesMax = 20;
const operationsMax = 2000;

const Hit = Type.Object({
  id: Type.String(),
  title: Type.String(),
  about: Type.String({ description: 'what distinguishes it from others of the same title' }),
});
type Hit = { id: string; title: string; about: string };

/** Whoever types CVE-2021-44228 means that one. */
const isOfIds = (q: string): boolean => /^[a-z]{2,12}-/i.test(q);

async function applications(sql: Tx, reach: Reach, like: string): Promise<Hit[]> {
  const rows = await sql<{ id: number; name: string; environment: string; owner: string }[]>`
    select id, name, environment, owner from vm_applications a
    where ${reachable(sql, reach, sql`a.id`, sql`a.project_id`)} and (name ilike ${like} or external_id ilike ${like})
    order by length(name), id limit ${kindMax}`;
  return rows.map(({ id, name, environment, owner }) => ({
    id: String(id),
    title: name,
    about: [environment, owner].filter((part) => part !== '').join(', '),
  }));
}

async function findings(sql: Tx, reach: Reach, q: string): Promise<Hit[]> {
  const wanted = /^[1-9]\d{0,17}$/.test(q) ? sql`or id = ${q}` : sql``;
  const rows = await sql<FindingRow[]>`
    select * from vm_findings where ${visibleFindings(sql, reach)} and
      (vm_folded(title || ' ' || location) like '%' || vm_folded(${escapeLike(q)}) || '%'
        or vuln_ids @> ${json(sql, [q.toUpperCase()])} ${wanted})
    order by is_open desc, priority_score desc, id limit ${kindMax}`;
  return rows.map((row) => ({
    id: String(row.id),
    title: row.title,
    about: [severityOf(row), row.status, row.location].filter((part) => part !== '').join(', '),
  }));
}

async function vulnerabilities(sql: Tx, reach: Reach, like: string): Promise<Hit[]> {
  const rows = await sql<{ vuln: string; n: number }[]>`
    select one as vuln, count(*)::int as n from vm_findings, jsonb_array_elements_text(vuln_ids) one
    where ${visibleFindings(sql, reach)} and is_open and one ilike ${like}
    group by one order by n desc, one limit ${kindMax}`;
  return rows.map(({ vuln, n }) => ({ id: vuln, title: vuln, about: `${n} open findings` }));
}

async function components(sql: Tx, reach: Reach, like: string): Promise<Hit[]> {
  const rows = await sql<{ id: number; name: string; version: string; purl: string | null }[]>`
    select id, name, version, purl from vm_components
    where ${visibleByApplication('vm_components')(sql, reach)} and (name ilike ${like} or purl ilike ${like})
    order by length(name), name, version, id limit ${kindMax}`;
  return rows.map(({ id, name, version, purl }) => ({
    id: String(id),
    title: `${name} ${version}`,
    about: purl ?? '',
  }));
}

async function operations(host: Call['host'], sql: Call['sql'], reach: Reach, q: string): Promise<Hit[]> {
  if (host.apis === undefined) return [];
  const rows = await sql<{ site: string }[]>`
    select distinct site from (
      select ${readableSite(sql, reach, 'a')} as site from vm_applications a
      where ${reachable(sql, reach, sql`a.id`, sql`a.project_id`)}) readable
    where site is not null order by site limit ${sitesMax}`;
  const found: Hit[] = [];
  for (const { site } of rows)
    for (const { method, template } of await host.apis.operations(site, operationsMax))
      if (`${method} ${template}`.toLowerCase().includes(q.toLowerCase()))
        found.push({ id: `${site} ${method} ${template}`, title: `${method} ${template}`, about: site });
  return found.slice(0, kindMax);
}

const search = endpoint({
  method: 'GET',
  path: '/search',
  permission: 'self',
  kind: 'A',
  fromReplica: true,
  summary: `Applications, findings, vulnerabilities, components, API operations by a word, at most ${kindMax} of each`,
  query: Type.Object(
    { q: Type.String({ minLength: lettersMin, maxLength: 100, description: 'part of a name, an id, a place' }) },
    { additionalProperties: false },
  ),
  answer: Type.Object({
    applications: Type.Array(Hit),
    findings: Type.Array(Hit),
    vulnerabilities: Type.Array(Hit),
    components: Type.Array(Hit),
    operations: Type.Array(Hit),
  }),
  handle: async (call) => {
    const { host, sql, caller } = call;
    const q = call.query.q.trim();
    if (q.length < lettersMin) throw unfit('q', `has fewer than ${lettersMin} characters`);
    const like = `%${escapeLike(q)}%`;
    const under = async (permission: VmPermission, look: (reach: Reach) => Promise<Hit[]>): Promise<Hit[]> => {
      const reach = caller.reach(permission, false);
      return reach === null ? [] : look(reach);
    };
    const find = async (tx: Tx) => ({
      applications: await under('view_assets', (reach) => applications(tx, reach, like)),
      findings: await under('view_findings', (reach) => findings(tx, reach, q)),
      vulnerabilities: await under('view_findings', async (reach) =>
        isOfIds(q) ? vulnerabilities(tx, reach, like) : [],
      ),
      components: await under('view_findings', (reach) => components(tx, reach, like)),
    });
    const found = await readInTime(sql, secondsMax, find, () =>
      unfit('q', `takes more than ${secondsMax} seconds to look for`, 'write more of the word, or a whole id'),
    );
    // they are of the firewall, and an application says itself which site is its own
    const ofSites = async (reach: Reach): Promise<Hit[]> =>
      isUnconfined(reach) ? operations(host, sql, reach, q) : [];
    return { ...found, operations: await under('view_assets', ofSites) };
  },
});

export const searchEndpoints: readonly Endpoint[] = [search];
