// A template over something: a finding that the caller sees, or the sample. What people see before they save is made by
// the same functions as what is sent.
import type { DetailsRow, FindingRow } from '../findings/fields.js';
import { visibleFindings } from '../findings/query.js';
import { fill, type Told } from '../integrations/template.js';
import type { Format } from '../integrations/escape.js';
import { ApiError } from '#http-kit';
import { notFound, toId, type Call } from '../kit/endpoint.js';
import { messageOf, type NoticedEvent } from '../notifications/message.js';
import { frameOf } from '../reports/frame.js';
import { completed } from './kinds.js';
import type { TemplateKind, Texts } from './stored.js';

const sampleRow = {
  id: 4711,
  title: 'SQL injection in the search of orders',
  status: 'confirmed',
  severity: 3,
  source: 'dast',
  tool: 'scanner',
  rule_id: 'sql-injection-error',
  cwes: [89],
  vuln_ids: [],
  location: 'GET /orders [q]',
  effective_risk: 82,
  due_at: new Date('2026-04-01T00:00:00Z'),
  first_seen: new Date('2026-03-01T00:00:00Z'),
  tags: ['checkout'],
} as unknown as FindingRow;

const urlOf = (id: number): string => `https://console.example/vulnerabilities?status=all&finding=${id}`;
const sample: Told = {
  row: sampleRow,
  details: { description: 'A quote in the parameter q ends the statement. Bind values as parameters.', cvss: null },
  application: 'Shop',
  url: urlOf(sampleRow.id),
};

/** Throws 404 for a finding that the caller does not see, 403 for callers who may read none. */
export async function toldOf(call: Call, id: string | undefined): Promise<Told> {
  if (id === undefined) return sample;
  const reach = call.caller.reach('view_findings', false);
  if (reach === null) throw new ApiError('role_denied', 'This needs the permission view_findings as well.');
  const [row] = await call.sql<FindingRow[]>`
    select * from vm_findings where id = ${toId(id, 'finding')} and ${visibleFindings(call.sql, reach)}`;
  if (row === undefined) throw notFound('finding', id);
  const [details] = await call.sql<DetailsRow[]>`select * from vm_finding_details where finding_id = ${row.id}`;
  const [application] = await call.sql<{ name: string }[]>`
    select name from vm_applications where id = ${row.application_id}`;
  return { row, details: details ?? null, application: application?.name ?? '', url: urlOf(row.id) };
}

const eventOf = ({ row, application }: Told, at: string): NoticedEvent =>
  ({
    type: 'finding.created',
    entity: 'finding',
    entity_id: String(row.id),
    title: row.title,
    application,
    severity: row.severity,
    at,
  }) as unknown as NoticedEvent;

interface Rendering {
  readonly kind: TemplateKind;
  readonly texts: Texts;
  readonly format: Format;
  readonly brand: string;
}

/** Name of a part → its text. */
export function renderTexts({ caller, now }: Call, of: Rendering, told: Told): Record<string, string> {
  const { kind, format, brand } = of;
  const texts = completed(kind, of.texts);
  if (kind === 'notice') {
    const { subject, lines } = messageOf('preview', brand, [eventOf(told, now.toISOString())], undefined, texts);
    const [one] = lines;
    const words = [one?.severity ?? '', one?.text ?? '', one?.title ?? '', one?.application ?? ''];
    return { subject, line: words.filter((word) => word !== '').join(', ') };
  }
  if (kind === 'report') {
    const facts = { brand, sections: 'Open Findings', scope: `The application ${told.application}` };
    const { title, introduction, closing } = frameOf(texts, {
      ...facts,
      date: now.toISOString().slice(0, 10),
      by: caller.person.email,
    });
    return { title, introduction: introduction.join('\n'), closing: closing.join('\n') };
  }
  return Object.fromEntries(
    Object.entries(texts).map(([name, text]) => [
      name,
      name === 'title'
        ? fill(text, told, 'plain').replace(/\s+/g, ' ') || `Finding ${told.row.id}`
        : fill(text, told, format),
    ]),
  );
}
