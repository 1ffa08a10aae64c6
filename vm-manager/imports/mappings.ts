// Profiles that say which column or element of a report of one's own is which field of a finding.
import { OneOf } from '#http-kit';
import { Type } from '@sinclair/typebox';
import { unfit } from '../kit/endpoint.js';
import type { Resource } from '../kit/resource.js';
import { fieldPathProblem, mappedFields, rowsPathProblem } from './formats/tabular.js';
import { readSeverity } from './severity/read.js';

/** /imports/mappings: of the whole organisation, for reports of format `mapping:NAME`. */
export const mappings: Resource = {
  path: '/imports/mappings',
  noun: 'mapping',
  table: 'vm_mappings',
  view: 'view_findings',
  edit: 'import_findings',
  ofOrganisation: 'Mappings',
  visible: (sql, reach) => (reach.all ? sql`true` : sql`false`),
  columns: {
    name: {
      schema: Type.String({ minLength: 1, maxLength: 100, pattern: '^[A-Za-z0-9._-]+$' }),
      as: 'plain',
      write: 'create',
      required: true,
      sort: 'text',
    },
    format: { schema: OneOf(['json', 'csv', 'xml']), as: 'plain', write: 'create', required: true },
    rows_path: { schema: Type.String({ maxLength: 200 }), as: 'plain', write: 'always' },
    fields: {
      schema: Type.Object(
        Object.fromEntries(
          mappedFields.map((name) => [name, Type.Optional(Type.String({ minLength: 1, maxLength: 200 }))]),
        ),
        { additionalProperties: false, minProperties: 1 },
      ),
      as: 'json',
      write: 'always',
      required: true,
    },
    severity_map: {
      schema: Type.Record(Type.String({ maxLength: 60 }), Type.String({ maxLength: 20 })),
      as: 'json',
      write: 'always',
    },
    fingerprint_fields: {
      schema: Type.Array(OneOf(mappedFields), { maxItems: 10, uniqueItems: true }),
      as: 'json',
      write: 'always',
    },
  },
  check: async (tx, call, values) => {
    const fields = values['fields'] as Readonly<Record<string, string>> | undefined;
    if (fields !== undefined && fields['title'] === undefined) throw unfit('/fields/title', 'is missing');
    for (const [word, severity] of Object.entries((values['severity_map'] ?? {}) as Record<string, string>))
      if (readSeverity(severity).severityProblem !== undefined)
        throw unfit(`/severity_map/${word}`, 'is no severity', 'critical, high, medium, low and info are');
    const path = values['rows_path'] as string | null | undefined;
    if (values['format'] === undefined && path === undefined && fields === undefined) return;
    // the format of a mapping does not change: what is stored counts
    const [stored] =
      values['format'] === undefined
        ? await tx<{ format: string }[]>`select format from vm_mappings where id::text = ${call.params['id'] ?? ''}`
        : [{ format: values['format'] as string }];
    const format = stored?.format ?? '';
    const problem = path === undefined && values['format'] === undefined ? null : rowsPathProblem(format, path ?? '');
    if (problem !== null) throw unfit('/rows_path', problem);
    for (const [field, given] of Object.entries(fields ?? {})) {
      const wrong = fieldPathProblem(format, given);
      if (wrong !== null) throw unfit(`/fields/${field}`, wrong);
    }
  },
};
