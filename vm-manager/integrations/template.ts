// What a ticket says: texts of people with {{placeholders}} of a fixed list, filled with what is known of findings.
import type { DetailsRow, FindingRow } from '../findings/fields.js';
import { severityOf } from '../findings/fields.js';
import { maskSecrets } from '../secrets/mask.js';
import { checkText, fillText } from '../templates/engine.js';
import { escapeFor, type Format } from './escape.js';

/** A finding with what templates may name. */
export interface Told {
  readonly row: FindingRow;
  readonly details: Pick<DetailsRow, 'description' | 'cvss'> | null;
  readonly application: string;
  /** Where people open it; empty: the integration names no console. */
  readonly url: string;
}

const day = (at: Date | null): string => at?.toISOString().slice(0, 10) ?? '';

/** Placeholder → value. A name is never given another meaning: templates stand in the settings of people. */
export const placeholders: Readonly<Record<string, (of: Told) => string>> = {
  id: ({ row }) => String(row.id),
  title: ({ row }) => row.title,
  severity: ({ row }) => severityOf(row),
  status: ({ row }) => row.status.replaceAll('_', ' '),
  source: ({ row }) => row.source,
  tool: ({ row }) => row.tool,
  rule: ({ row }) => row.rule_id,
  cwe: ({ row }) => row.cwes.map((number) => `CWE-${number}`).join(', '),
  cve: ({ row }) => row.vuln_ids.slice(0, 20).join(', '),
  location: ({ row }) => row.location,
  application: ({ application }) => application,
  risk: ({ row }) => String(row.effective_risk),
  cvss: ({ details }) => (details?.cvss ? String(details.cvss.score) : ''),
  due: ({ row }) => day(row.due_at),
  first_seen: ({ row }) => day(row.first_seen),
  tags: ({ row }) => row.tags.join(', '),
  description: ({ details }) => details?.description ?? '',
  url: ({ url }) => url,
};
export const placeholderNames = Object.keys(placeholders);
/** The only one that may have several lines. */
const long = 'description';

/** Throws 422 for a template that names what no finding has; `path` is where it stands in the body. */
export const checkTemplate = (text: string, path: string): void => checkText(text, placeholderNames, 'finding', path);

function valueOf(name: string, of: Told, format: Format): string {
  const value = placeholders[name]?.(of) ?? '';
  // an address is ours, and checked when it was saved
  if (name === 'url') return value;
  const masked = maskSecrets(value);
  return escapeFor(format, name === long ? masked.slice(0, 10_000) : masked.replace(/\s+/g, ' ').trim());
}

/** The text with its placeholders filled; a line goes whose placeholders all are empty. */
export const fill = (template: string, of: Told, format: Format): string =>
  fillText(
    template,
    (name) => valueOf(name, of, format),
    (name) => (placeholders[name]?.(of) ?? '') === '',
  );

/** So many findings are written out in one ticket; the others are counted. */
const writtenMax = 30;

export const defaultTitle = '[{{severity}}] {{title}}';
export const defaultBody = `{{title}}

- Severity: {{severity}}
- Application: {{application}}
- Location: {{location}}
- Weakness: {{cwe}}
- Vulnerability: {{cve}}
- Found by: {{tool}} {{rule}}
- To be fixed by: {{due}}

{{description}}

{{url}}`;

export interface Templates {
  readonly title?: string | undefined;
  readonly body?: string | undefined;
}
export interface Written {
  readonly title: string;
  readonly body: string;
}

/** A title is one line of plain text with every tracker. `bodyMax` and `titleMax` in characters. */
export function write(
  findings: readonly Told[],
  templates: Templates,
  { format, titleMax, bodyMax, marker }: { format: Format; titleMax: number; bodyMax: number; marker: string },
): Written {
  const [first] = findings;
  if (first === undefined) throw new Error('a ticket of no finding');
  const own = fill(templates.title ?? defaultTitle, first, 'plain').replace(/\s+/g, ' ');
  const title = findings.length === 1 ? own : `${findings.length} findings: ${own}`;
  const parts = findings.slice(0, writtenMax).map((one) => fill(templates.body ?? defaultBody, one, format));
  if (findings.length > writtenMax)
    parts.push(escapeFor(format, `${findings.length - writtenMax} more findings belong to this ticket`));
  const end = `\n\nReference: ${marker}`;
  const body = parts.join('\n\n----\n\n');
  return { title: cut(title, titleMax) || `Finding ${first.row.id}`, body: cut(body, bodyMax - end.length) + end };
}

/** Not between the halves of a character, nor behind a lone backslash. */
export function cut(text: string, max: number): string {
  if (text.length <= max) return text;
  return `${text.slice(0, max - 2).replace(/[\ud800-\udbff\\]+$/, '')} …`;
}
