// What a filled organisation has of webhooks, clusters and evidence, and the bodies that fit their endpoints.
import type { onBothDatabases } from '#api/testing/databases';
import type { Json } from '../import-client.js';

type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];
interface Maker {
  made(url: string, body: object): Promise<string>;
}

/** Of the audit log, what this room wrote. */
export async function newestEntry({ sql }: Database): Promise<string> {
  const [row] = await sql<{ id: number }[]>`select max(id) as id from audit_entries where action like 'vm.%'`;
  return String(row?.id);
}

export async function insertViolation(sql: Database['sql'], policy: string, finding: string): Promise<string> {
  const [row] = await sql<{ id: number }[]>`
    insert into vm_violations (policy_id, finding_id, application_id, since)
    select ${policy}, id, application_id, now() from vm_findings where id = ${finding} returning id`;
  return String(row?.id);
}

export async function fillWebhooks(make: Maker, sql: Database['sql']): Promise<Record<string, string>> {
  const hook = await make.made('/webhooks', { url: 'https://hook.example/filled', events: [] });
  const [delivery] = await sql<{ id: number }[]>`
    insert into vm_notices
      (route_id, channel_id, event_id, type, entity, entity_id, event, state, not_before, created_at)
    select id, channel_id, '1', 'finding.created', 'finding', '1', ${sql.json({ title: null })}, 'failed', now(), now()
    from vm_notice_routes where channel_id = ${hook}
    returning id`;
  return { '/webhooks': hook, '/webhooks/deliveries': String(delivery?.id) };
}

/** Modules whose objects belong to the application or its project. */
export const confinedRecords = ['/graph/capabilities', '/findings/clusters', '/sla/clocks', '/policies/violations'];

export const recordBodies = (application: string, finding: string): Record<string, Json> => ({
  'PUT /projects/:id/members': { items: [] },
  'POST /assessments/:id/transition': { to: 'active' },
  'PUT /assessments/:id/checklist': { checklist: [{ item: 'i', result: 'pass' }] },
  'POST /findings/deduplications': { application_id: application, dry_run: true },
  'POST /webhooks': { url: 'https://hook.example/new', predicate: null, secret: undefined },
  'PATCH /webhooks/:id': { url: 'https://hook.example/x', predicate: null, secret: undefined },
  'POST /vulnerabilities/:id/duplicates': { vuln_ids: [String(Number(finding) + 1)] },
  'POST /sla/clocks/:id/pause': { until: undefined },
  'PATCH /acceptances/:id': { expires_at: '2026-04-01T00:00:00Z' },
  'POST /acceptances/:id/extend': { expires_at: '2026-05-01T00:00:00Z' },
  'POST /policies/violations/:id/waive': { expires_at: '2026-04-01T00:00:00Z' },
  'POST /threat-intel/feeds': { set: 'kev', url: 'https://mirror.example/kev.json' },
  'POST /vex/statements': { application_id: application, vulnerability: 'CVE-2026-1' },
  'POST /findings/clusters/merge': { vuln_ids: [finding, String(Number(finding) + 1)], canonical_id: finding },
});
