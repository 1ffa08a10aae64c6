// Which keys of a report the tables may have: the beginnings of all that an application has, read once. It says "no" or
// "maybe"; the tables are asked for what may be there. Of a report that is mostly new each batch asked for keys that
// nobody has, and on the embedded database that was a third of what a preview took.
import type { Sql } from '../database.js';
import type { ImportScope } from './run/scope.js';

/** Of a digest in hexadecimal. Two that begin alike cost one question. */
const beginning = 12;
/** Of an application. With more of them, whatever is asked may be there. */
export const keysMax = 200_000;
const pageSize = 10_000;

export class KnownKeys {
  /** null: there are too many. */
  constructor(
    private readonly sightings: ReadonlySet<string> | null,
    private readonly findings: ReadonlySet<string> | null,
  ) {}

  /** Of these keys of sightings, in their order, those that may be there. */
  amongSightings(toolKeys: readonly string[]): readonly string[] {
    return among(this.sightings, toolKeys);
  }
  amongFindings(fingerprints: readonly string[]): readonly string[] {
    return among(this.findings, fingerprints);
  }
}

const among = (known: ReadonlySet<string> | null, keys: readonly string[]): readonly string[] =>
  known === null ? keys : keys.filter((key) => known.has(key.slice(0, beginning)));

interface Page {
  readonly count: number;
  /** null where there is none. */
  readonly last: number | null;
  readonly keys: string | null;
}

/** A page at a time, each one text: others have their turn in between. null beyond `most`. */
async function readAll(page: (after: number) => Promise<Page>, most: number): Promise<ReadonlySet<string> | null> {
  const known = new Set<string>();
  for (let after = 0; ; ) {
    const { count, last, keys } = await page(after);
    for (const key of keys?.split(' ') ?? []) known.add(key);
    if (count < pageSize || last === null) return known;
    if (known.size > most) return null;
    after = last;
  }
}

/** Keys that appear meanwhile are not among them. */
export async function readKnownKeys(
  sql: Sql,
  { applicationId, scopeKey }: Pick<ImportScope, 'applicationId' | 'scopeKey'>,
  most = keysMax,
): Promise<KnownKeys> {
  const sightings = await readAll(
    (after) =>
      one(sql<Page[]>`
      select count(*)::int as count, max(id) as last, string_agg(left(tool_key, ${beginning}), ' ') as keys
      from (select id, tool_key from vm_occurrences
        where scope_key = ${scopeKey} and id > ${after} order by id limit ${pageSize}) as page`),
    most,
  );
  const findings = await readAll(
    (after) =>
      one(sql<Page[]>`
      select count(*)::int as count, max(id) as last, string_agg(left(fingerprint, ${beginning}), ' ') as keys
      from (select id, fingerprint from vm_findings
        where application_id = ${applicationId} and id > ${after} order by id limit ${pageSize}) as page`),
    most,
  );
  return new KnownKeys(sightings, findings);
}

async function one(rows: PromiseLike<readonly Page[]>): Promise<Page> {
  return (await rows)[0] ?? { count: 0, last: null, keys: null };
}
