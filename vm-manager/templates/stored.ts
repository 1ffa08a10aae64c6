// The texts of a template that is used: of the one that was named, else of the default of its kind.
import type { Queryable } from '../database.js';
import { unfit } from '../kit/endpoint.js';

export const templateKinds = ['ticket', 'notice', 'report', 'finding'] as const;
export type TemplateKind = (typeof templateKinds)[number];
export type Texts = Readonly<Record<string, string>>;

/** Those that were saved: others have the text of the release. A template that is gone is the default. */
export async function textsOf(sql: Queryable, kind: TemplateKind, id: string | number | null): Promise<Texts> {
  const [row] = await sql<{ parts: Texts | null }[]>`
    select parts from vm_templates where kind = ${kind} and (is_default or id = ${id}) order by is_default limit 1`;
  return row?.parts ?? {};
}

/** Throws 422 for an id that is of no template of the kind. */
export async function requireTemplate(sql: Queryable, kind: TemplateKind, id: string, path: string): Promise<void> {
  const found = /^\d{1,18}$/.test(id) ? await sql`select 1 from vm_templates where id = ${id} and kind = ${kind}` : [];
  if (found.length === 0)
    throw unfit(path, `is the id of no template of ${kind}s`, `GET /api/v1/templates?kind=${kind} lists them`);
}
