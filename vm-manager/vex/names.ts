// Other names of a vulnerability (GHSA, CVE and the like), by the advisories that are stored here.
import { json, type Queryable } from '../database.js';

const batch = 500;

/**
 * Every name of each id, by the advisories that are known here. By the index for each: this is for a person's few
 * ids and a batch of findings of an import, and not for a document of 20,000 statements (meeting.ts).
 */
export async function namesOf(
  sql: Queryable,
  ids: readonly string[],
): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const names = new Map(ids.map((id) => [id, new Set([id])]));
  for (let from = 0; from < ids.length; from += batch) {
    const some = json(sql, ids.slice(from, from + batch));
    const rows = await sql<{ asked: string; id: string; aliases: readonly string[] }[]>`
      select x.id as asked, o.id, o.aliases from jsonb_array_elements_text(${some}) x(id) join vm_osv o on o.id = x.id
      union all
      select x.id as asked, o.id, o.aliases from jsonb_array_elements_text(${some}) x(id)
        join vm_osv o on o.aliases @> jsonb_build_array(x.id)`;
    for (const { asked, id, aliases } of rows)
      for (const name of [id, ...aliases]) names.get(asked)?.add(name.toUpperCase());
  }
  return names;
}
