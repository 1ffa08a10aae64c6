// The scope of an import: within it a synchronised report closes what it no longer has. Application, format, branch and
// scope_key come with the request; the tool and what it looked at come from the report, so that the report of another
// tool, or of another image, is another scope.
import type { Queryable } from '../../database.js';
import type { Format } from '../formats/format.js';
import type { ReportFacts } from '../record.js';
import type { Fields } from './fields.js';

/** What the request says of the scope. */
export const baseKeyOf = (id: number, { branch = '', scope_key = '' }: Fields, format: Format): string =>
  [id, format.name, branch, scope_key].join('|');

/** Of many tools: which ones is different each time, and each of them closes its own. */
const several = '*';

/** Names of tools without their version, as migration 038 has them. */
const toolOf = (name: string): string => name.replace(/\s+v?\d+(\.\d+)+.*$/, '').toLowerCase();

export interface ScopeKey {
  readonly scopeKey: string;
  /** Before what the report looked at: of all scopes of the tool. */
  readonly family: string;
  readonly subject: string;
  /** The scope is one that releases before this one have left behind: whose of its sightings are is not known yet. */
  readonly isInherited: boolean;
}

interface Earlier {
  readonly scope_key: string;
  /** null: of a release that did not know any. */
  readonly subject: string | null;
}

/**
 * Sightings of releases that did not tell subjects apart lie in the scope of the tool alone. The first subject that is
 * imported takes that scope over and keeps it, so that what was found before is known and can be missed.
 */
export async function scopeKeyOf(sql: Queryable, base: string, format: Format, facts: ReportFacts): Promise<ScopeKey> {
  const { tools = [], formerSubject = '' } = facts;
  const tool = format.isOfAnyTool === true ? '' : toolOf(facts.tool);
  const former = `${base}|${tool}|`;
  const isOfSeveral = tools.length > 1;
  const family = isOfSeveral ? `${base}|${several}|` : former;
  const subject = (await isKept(sql, `${family}${formerSubject}`, formerSubject))
    ? formerSubject
    : (facts.subject ?? '');
  const own = { scopeKey: `${family}${subject}`, family, subject, isInherited: false };
  if (own.scopeKey === former) return own;
  const name = isOfSeveral ? `${several} ${subject}` : subject;
  const runs = await sql<Earlier[]>`
    select scope_key, input ->> 'subject' as subject from vm_runs
    where kind = 'import' and scope_key in (${own.scopeKey}, ${former}) and status in ('succeeded', 'running')
    order by id`;
  const owner = runs.find((run) => run.scope_key === former && run.subject !== null && run.subject !== '')?.subject;
  const isTaken = owner !== undefined || runs.some(({ scope_key: key }) => key === own.scopeKey);
  const isLeft = runs.some((run) => run.scope_key === former && run.subject === null);
  if (owner === name || (!isTaken && isLeft))
    return { ...own, scopeKey: former, subject: name, isInherited: owner !== name };
  return { ...own, subject: name };
}

async function isKept(sql: Queryable, scopeKey: string, formerSubject: string): Promise<boolean> {
  if (formerSubject === '') return false;
  const rows = await sql`
    select 1 from vm_runs
    where kind = 'import' and scope_key = ${scopeKey} and status in ('succeeded', 'running') limit 1`;
  return rows.length > 0;
}
