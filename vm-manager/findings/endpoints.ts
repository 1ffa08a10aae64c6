// /vulnerabilities: a finding as a record, and what may be done with one.
import { Nullable, OneOf } from '#http-kit';
import { Type } from '@sinclair/typebox';
import { readCvss } from './cvss.js';
import { json, type Tx } from '../database.js';
import { endpoint, unfit, type Call, type Endpoint } from '../kit/endpoint.js';
import { List, ListQuery, readPage, SortQuery } from '../kit/list.js';
import { checkVersion } from '../kit/resource.js';
import { requireApplication } from '../assets/resources.js';
import { DetailView, findingSorts, FindingView, viewDetails, viewFinding, type FindingRow } from './fields.js';
import { FindingFilters, isScattered, whereOf } from './query.js';
import { refreshFindings } from './refresh.js';
import { insertManual, readDetails, requireFinding } from './store.js';
import { sourceUrlOf } from './source/of-finding.js';
import { severityNames, severityNumbers } from './words.js';

const closed = { additionalProperties: false } as const;
const Title = Type.String({ minLength: 1, maxLength: 500, pattern: '\\S', description: 'text that is not blank' });
const Tags = Type.Array(Type.String({ minLength: 1, maxLength: 60 }), { maxItems: 50, uniqueItems: true });
const Cwe = Type.Array(Type.String({ pattern: '^(?:CWE-)?0*[1-9]\\d{0,4}$', description: 'such as CWE-79' }), {
  maxItems: 20,
});
const VulnIds = Type.Array(Type.String({ minLength: 1, maxLength: 60 }), { maxItems: 50 });
const References = Type.Array(Type.String({ maxLength: 2000 }), { maxItems: 50 });
const Vector = Type.String({ maxLength: 300, description: 'CVSS vector: 2.0, 3.x or 4.0' });

const editable = {
  title: Type.Optional(Title),
  description: Type.Optional(Type.String({ maxLength: 50_000 })),
  severity: Type.Optional(OneOf(severityNames)),
  cwe: Type.Optional(Cwe),
  vuln_ids: Type.Optional(VulnIds),
  location: Type.Optional(Type.String({ maxLength: 2000 })),
  cvss_vector: Type.Optional(Nullable(Vector)),
  tags: Type.Optional(Tags),
  reachable: Type.Optional(Nullable(Type.Boolean())),
  references: Type.Optional(References),
};

const toNumbers = (cwe: readonly string[]): number[] => [
  ...new Set(cwe.map((text) => Number(text.replace(/\D/g, '')))),
];

function parseVector(vector: string | null | undefined) {
  if (vector === null || vector === undefined) return null;
  const made = readCvss(vector, null);
  if (made === null) throw unfit('/cvss_vector', 'is no CVSS vector of version 2.0, 3.0, 3.1 or 4.0');
  return made;
}

export async function showOne(call: Pick<Call, 'sql' | 'now' | 'reply'>, row: FindingRow) {
  call.reply.header('etag', `"${row.version}"`);
  const details = await readDetails(call.sql, row.id);
  return viewDetails(row, details, await sourceUrlOf(call.sql, row, details), call.now);
}

/** Filters and pages; also under /findings. */
export const findingsQuery = Type.Object({ ...ListQuery, sort: SortQuery(findingSorts), ...FindingFilters }, closed);

export const listFindings = async ({ sql, reach, query, now }: Call<unknown, typeof findingsQuery.static>) => {
  const page = await readPage<FindingRow>(
    sql,
    {
      table: 'vm_findings',
      where: whereOf(sql, reach, query, now),
      sorts: findingSorts,
      sort: '-priority',
      isScattered: isScattered(query),
    },
    query,
  );
  return { ...page, items: page.items.map((row) => viewFinding(row, now)) };
};

export const vulnerabilityEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/vulnerabilities',
    permission: 'view_findings',
    kind: 'C',
    fromReplica: true,
    summary: 'Findings, the most urgent first',
    query: findingsQuery,
    answer: List(FindingView),
    handle: (call) => listFindings(call as never),
  }),
  endpoint({
    method: 'POST',
    path: '/vulnerabilities',
    permission: 'edit_findings',
    kind: 'C',
    summary: 'Write a finding by hand',
    body: Type.Object(
      { ...editable, title: Title, application_id: Type.String({ maxLength: 20 }), severity: OneOf(severityNames) },
      closed,
    ),
    status: 201,
    answer: DetailView,
    handle: async (call) => {
      const { body } = call;
      const row = await call.audited(
        'vm.create',
        (made: FindingRow) => `wrote the finding ${made.id}`,
        async (tx) => {
          const { id, project_id } = await requireApplication(tx, call.reach, body.application_id);
          return insertManual(
            tx,
            {
              applicationId: id,
              projectId: project_id,
              title: body.title,
              severity: severityNumbers[body.severity] ?? 0,
              cwes: toNumbers(body.cwe ?? []),
              vulnIds: (body.vuln_ids ?? []).map((one) => one.toUpperCase()),
              location: body.location ?? '',
              description: body.description ?? '',
              cvss: parseVector(body.cvss_vector),
              tags: body.tags ?? [],
              reachable: body.reachable ?? null,
              references: body.references ?? [],
            },
            call.caller.actor,
            call.now,
          );
        },
      );
      return showOne(call, row);
    },
  }),
  endpoint({
    method: 'GET',
    path: '/vulnerabilities/:id',
    permission: 'view_findings',
    kind: 'C',
    summary: 'One finding with all that is known of it',
    answer: DetailView,
    handle: async (call) => showOne(call, await requireFinding(call.sql, call.reach, call.params['id'] ?? '')),
  }),
  endpoint({
    method: 'PATCH',
    path: '/vulnerabilities/:id',
    permission: 'edit_findings',
    kind: 'C',
    summary: 'Change a finding (merge patch; If-Match with its version is heeded)',
    body: Type.Object(editable, { ...closed, minProperties: 1 }),
    answer: DetailView,
    handle: async (call) => {
      const row = await call.audited(
        'vm.update',
        `changed the finding ${call.params['id']}`,
        (tx) => patch(tx, call as never),
        () => call.body,
      );
      return showOne(call, row);
    },
  }),
  endpoint({
    method: 'DELETE',
    path: '/vulnerabilities/:id',
    permission: 'edit_findings',
    kind: 'C',
    summary: 'Delete a finding; a report that has it makes it anew',
    status: 204,
    handle: async (call) =>
      call.audited('vm.delete', `deleted the finding ${call.params['id']}`, async (tx) => {
        const row = await requireFinding(tx, call.reach, call.params['id'] ?? '', true);
        checkVersion(call.request.headers['if-match'], row.version);
        await tx`delete from vm_findings where id = ${row.id}`;
      }),
  }),
];

type Patch = { [K in keyof typeof editable]?: unknown } & Record<string, unknown>;

async function patch(tx: Tx, call: Call<Record<string, string>, unknown, Patch>): Promise<FindingRow> {
  const before = await requireFinding(tx, call.reach, call.params['id'] ?? '', true);
  checkVersion(call.request.headers['if-match'], before.version);
  const { body, now } = call;
  const given = (name: string): boolean => body[name] !== undefined;
  const row: Record<string, unknown> = { updated_at: now, version: before.version + 1 };
  if (given('title')) row['title'] = body['title'];
  if (given('severity'))
    Object.assign(row, { severity: severityNumbers[body['severity'] as string], severity_basis: 'person' });
  if (given('cwe')) row['cwes'] = json(tx, toNumbers(body['cwe'] as string[]));
  if (given('vuln_ids'))
    row['vuln_ids'] = json(
      tx,
      (body['vuln_ids'] as string[]).map((one) => one.toUpperCase()),
    );
  if (given('location')) row['location'] = body['location'];
  if (given('tags')) row['tags'] = json(tx, body['tags']);
  if (given('reachable')) row['reachable'] = body['reachable'];
  await tx`update vm_findings set ${tx(row as never)} where id = ${before.id}`;
  const details: Record<string, unknown> = {};
  if (given('description')) details['description'] = body['description'];
  if (given('references')) details['refs'] = json(tx, body['references']);
  if (given('cvss_vector')) {
    const cvss = parseVector(body['cvss_vector'] as string | null);
    details['cvss'] = cvss === null ? null : json(tx, cvss);
  }
  if (Object.keys(details).length > 0)
    await tx`update vm_finding_details set ${tx(details as never)} where finding_id = ${before.id}`;
  await refreshFindings(tx, [before.id], now);
  const [after] = await tx<FindingRow[]>`select * from vm_findings where id = ${before.id}`;
  if (after === undefined) throw new Error('the finding is gone');
  return after;
}
