// Findings as a file: CSV for spreadsheets, JSON with everything that a list shows, SARIF 2.1.0 for tools. The file is
// written while the database is read, a thousand findings at a time by their ids, so that millions of them cost the
// server no memory; a finding that changes meanwhile is told once, as it was when its turn came.
import { OneOf, toCsvLine } from '#http-kit';
import { Type } from '@sinclair/typebox';
import { Readable } from 'node:stream';
import { brandNameOf } from '../../branding/current.js';
import type { Fragment, Sql } from '../../database.js';
import { endpoint, type Endpoint } from '../../kit/endpoint.js';
import { severityOf, viewFinding, type FindingRow } from '../fields.js';
import { FindingFilters, whereOf } from '../query.js';
import type { Severity } from '../words.js';

const rowsPerRead = 1000;

/** Every finding for which `where` holds, by id. */
async function* findingsOf(sql: Sql, where: Fragment): AsyncGenerator<readonly FindingRow[]> {
  for (let after = 0; ; ) {
    const rows = await sql<FindingRow[]>`
      select * from vm_findings where id > ${after} and ${where} order by id limit ${rowsPerRead}`;
    if (rows.length > 0) yield rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < rowsPerRead) return;
    after = last.id;
  }
}

const columns = [
  'id',
  'title',
  'severity',
  'status',
  'application_id',
  'project_id',
  'source',
  'tool',
  'rule_id',
  'cwe',
  'cve',
  'location',
  'effective_risk',
  'priority_score',
  'reachable',
  'exploit_confirmed',
  'runtime_confirmed',
  'kev',
  'epss',
  'fix_state',
  'assignee_id',
  'tags',
  'due_at',
  'sla_state',
  'first_seen',
  'last_seen',
  'closed_at',
] as const;

type Shown = ReturnType<typeof viewFinding>;

function cellsOf(shown: Shown): unknown[] {
  const values: Record<string, unknown> = {
    ...shown,
    cwe: shown.cwe.join(' '),
    cve: shown.vuln_ids.join(' '),
    tags: shown.tags.join(' '),
    due_at: shown.sla.due_at,
    sla_state: shown.sla.state,
  };
  return columns.map((name) => values[name]);
}

type Batches = AsyncIterable<readonly FindingRow[]>;

async function* toCsv(batches: Batches, now: Date): AsyncGenerator<string> {
  yield toCsvLine(columns);
  for await (const rows of batches) yield rows.map((row) => toCsvLine(cellsOf(viewFinding(row, now)))).join('');
}

/** Texts of single things, and a comma before each but the first. */
async function* joined(batches: Batches, textOf: (row: FindingRow) => string): AsyncGenerator<string> {
  let before = '\n';
  for await (const rows of batches) {
    yield before + rows.map(textOf).join(',\n');
    before = ',\n';
  }
}

async function* toJson(batches: Batches, now: Date): AsyncGenerator<string> {
  yield `{"exported_at":${JSON.stringify(now.toISOString())},"items":[`;
  yield* joined(batches, (row) => JSON.stringify(viewFinding(row, now)));
  yield '\n]}\n';
}

const levels: Readonly<Record<Severity, string>> = {
  critical: 'error',
  high: 'error',
  medium: 'warning',
  low: 'note',
  info: 'note',
};
/** GitHub's "security-severity" of a word; readers of SARIF make the word of it again. */
const scores: Readonly<Record<Severity, string>> = {
  critical: '9.5',
  high: '8.0',
  medium: '5.0',
  low: '2.0',
  info: '0.0',
};

/** A location that a person reads, as a place of a file: `src/a.ts:7`. Texts of the database are well-formed. */
function placeOf(location: string): object {
  const [, path = location, line] = /^(.*?)(?::(\d{1,7}))?$/s.exec(location) ?? [];
  const region = line === undefined ? {} : { region: { startLine: Math.max(1, Number(line)) } };
  return { physicalLocation: { artifactLocation: { uri: encodeURI(path) }, ...region } };
}

function toResult(row: FindingRow): object {
  const severity = severityOf(row);
  return {
    ruleId: row.rule_id || `finding-${row.id}`,
    level: levels[severity],
    message: { text: row.title },
    ...(row.location === '' ? {} : { locations: [placeOf(row.location)] }),
    partialFingerprints: { 'gatehouse/v1': row.fingerprint },
    // set aside by people: a reader must not count it among what is open
    ...(row.is_open ? {} : { suppressions: [{ kind: 'external', status: 'accepted', justification: row.status }] }),
    properties: {
      'security-severity': scores[severity],
      cwe: row.cwes.map((number) => `CWE-${number}`),
      vuln_ids: row.vuln_ids,
      finding_id: String(row.id),
      application_id: String(row.application_id),
      status: row.status,
      source: row.source,
      tool: row.tool,
    },
  };
}

async function* toSarif(batches: Batches, _now: Date, brand: string): AsyncGenerator<string> {
  const schema = 'https://json.schemastore.org/sarif-2.1.0.json';
  const tool = JSON.stringify({ driver: { name: brand } });
  yield `{"$schema":${JSON.stringify(schema)},"version":"2.1.0","runs":[{"tool":${tool},"results":[`;
  yield* joined(batches, (row) => JSON.stringify(toResult(row)));
  yield '\n]}]}\n';
}

const formats = {
  csv: ['text/csv; charset=utf-8', 'csv', toCsv],
  json: ['application/json; charset=utf-8', 'json', toJson],
  sarif: ['application/sarif+json; charset=utf-8', 'sarif', toSarif],
} as const;
const formatNames = Object.keys(formats) as (keyof typeof formats)[];

export const exportEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/findings/export',
    permission: 'view_findings',
    kind: 'X',
    summary: 'Findings under the same filters as a file, however many there are',
    query: Type.Object(
      { format: Type.Optional(OneOf(formatNames)), ...FindingFilters },
      { additionalProperties: false },
    ),
    mediaType: 'application/octet-stream',
    handle: async ({ host, sql, reach, query, now, reply }) => {
      const { format = 'csv', ...filters } = query;
      const [mediaType, ending, write] = formats[format];
      const where = whereOf(sql, reach, filters, now);
      reply
        .type(mediaType)
        .header('content-disposition', `attachment; filename="findings-${now.toISOString().slice(0, 10)}.${ending}"`)
        .header('content-security-policy', "default-src 'none'; sandbox");
      return Readable.from(write(findingsOf(sql, where), now, await brandNameOf(host)));
    },
  }),
];
