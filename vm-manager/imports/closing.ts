// What a report no longer has. A sighting is gone only where the report proves that the tool looked there: it ran to
// its end, and its inventory (where it has one) names the place. A finding is resolved when no sighting is left; what
// was found by talking to an application has to be missing twice, because such tools do not see the same each time.
import { ApiError, systemActor } from '#http-kit';
import type { Tx } from '../database.js';
import type { FindingRow } from '../findings/fields.js';
import { findMove } from '../kit/machine.js';
import { lifecycle } from '../findings/lifecycle.js';
import { transition } from '../findings/transition.js';
import { isOpen } from '../findings/words.js';
import { settleParts, wasLookedAt, type SightedIn } from './run/looked-at.js';
import type { ImportScope, Within } from './run/scope.js';
import type { ReportFacts } from './record.js';

const missesOfDynamic = 2;
const dynamicSources = new Set(['dast', 'api', 'iast']);

export const closePercentDefault = 50;
/** Fewer are closed without a question, whatever their share: small scopes are fixed at once. */
export const massMin = 4;

/** What to say of an import that closes so many; null: nobody has to be asked. */
export function massClose(closed: number, openBefore: number, percentMax: number): string | null {
  if (closed < massMin || closed * 100 <= openBefore * percentMax) return null;
  return (
    `The import would close ${closed} of ${openBefore} open findings of its scope, more than ${percentMax} % ` +
    '(setting vm_import_close_percent). If the report is of another directory, send root with that directory; if it ' +
    'is of a part of the application, send another scope_key or mode=add; if the findings are gone, send ' +
    'confirm_close=true.'
  );
}

/** About as long as a pipeline takes; a nightly scan of an old commit closes what is gone. */
const pipelineMs = 6 * 3_600_000;

/**
 * Whether another report of the same commit has it: code that did not change has not lost it, and this report may be of
 * another part. One with a list of what it looked at proves that it was there, and one of the whole has no other part:
 * rules, the part of a repository or what is allowed were changed.
 */
export const isOfSameCommit = (
  { commit, isOfWhole, now }: Pick<ImportScope, 'commit' | 'isOfWhole' | 'now'>,
  { inventory }: ReportFacts,
  sighted: SightedIn,
): boolean =>
  !isOfWhole &&
  commit !== '' &&
  sighted.commit === commit &&
  sighted.ran_at !== null &&
  now.getTime() - sighted.ran_at.getTime() < pipelineMs &&
  (inventory === null || sighted.path === null || !inventory.has(sighted.path));

interface Missing extends SightedIn {
  readonly id: number;
  readonly finding_id: number;
  readonly missed_runs: number;
}

export const refuseMassClose = (question: string): ApiError =>
  new ApiError('conflict', `${question} Nothing was changed.`, {
    errors: [{ path: 'confirm_close', reason: 'is not given', fix: 'send confirm_close=true if they are gone' }],
    extensions: { needs_confirm_close: true },
  });

/** Throws ApiError 409 for a mass close that nobody has confirmed: the caller's transaction keeps everything. */
export async function closeMissing(
  within: Within,
  scope: ImportScope,
  facts: ReportFacts,
): Promise<{ readonly closed: number; readonly unverified: number }> {
  const { open, missing } = await within.run(async (tx) => {
    await settleParts(tx, scope.scopeKey, facts);
    return readMissing(tx, scope);
  });
  const proved = scope.isInherited
    ? []
    : missing.filter((one) => wasLookedAt(facts, one) && !isOfSameCommit(scope, facts, one));
  const gone = proved.filter(isGone);
  const once = proved.filter((row) => !gone.includes(row)).map(({ id }) => id);
  const size = within.batchSize;
  for (const ids of chunks(once, size))
    await within.run((tx) => tx`update vm_occurrences set missed_runs = missed_runs + 1 where id in ${tx(ids)}`);
  for (const ids of chunks(
    gone.map(({ id }) => id),
    size,
  ))
    await within.run((tx) => tx`update vm_occurrences set gone_at = ${scope.now} where id in ${tx(ids)}`);
  let closed = 0;
  for (const ids of chunks([...new Set(gone.map(({ finding_id }) => finding_id))], size))
    closed += await within.run(async (tx) => closeThese(tx, scope, ids));
  const question = massClose(closed, open, scope.closePercentMax);
  if (question !== null) throw refuseMassClose(question);
  return { closed, unverified: missing.length - gone.length };
}

async function readMissing(tx: Tx, { scopeKey, runId }: ImportScope) {
  const [open] = await tx<{ n: number }[]>`
    select count(distinct o.finding_id)::int as n
    from vm_occurrences o join vm_findings f on f.id = o.finding_id
    where o.scope_key = ${scopeKey} and o.gone_at is null and f.is_open and o.first_run is distinct from ${runId}`;
  const missing = await tx<Missing[]>`
    select o.id, o.finding_id, o.missed_runs, f.source, f.rule_id, o.tool, o.location ->> 'path' as path,
      o.location ->> 'url' as url, o.location ->> 'address' as address, r.input ->> 'commit' as commit,
      r.created_at as ran_at
    from vm_occurrences o join vm_findings f on f.id = o.finding_id left join vm_runs r on r.id = o.last_run
    where o.scope_key = ${scopeKey} and o.last_run is distinct from ${runId} and o.gone_at is null`;
  return { open: open?.n ?? 0, missing };
}

/** Those of the findings that nothing sees any more and no person has closed; returns how many. */
async function closeThese(tx: Tx, scope: ImportScope, ids: readonly number[]): Promise<number> {
  let closed = 0;
  const rows = await tx<FindingRow[]>`
      select * from vm_findings f where id in ${tx(ids)}
        and not exists (select 1 from vm_occurrences o where o.finding_id = f.id and o.gone_at is null) for update`;
  for (const row of rows) {
    // what people have closed stays as they closed it
    if (!isOpen(row.status)) continue;
    findMove(lifecycle, row.status, 'resolved', 'importer');
    const wanted = {
      to: 'resolved',
      by: 'importer',
      reason: 'no report of its scope has it any more',
      runId: scope.runId,
    } as const;
    await transition(tx, row, wanted, systemActor, scope.now);
    closed++;
  }
  return closed;
}

/** What was found by talking to an application has to be missing twice. */
export const isGone = ({ source, missed_runs }: Pick<Missing, 'source' | 'missed_runs'>): boolean =>
  !dynamicSources.has(source) || missed_runs + 1 >= missesOfDynamic;

function chunks<T>(all: readonly T[], size: number): T[][] {
  const made: T[][] = [];
  for (let at = 0; at < all.length; at += size) made.push(all.slice(at, at + size));
  return made;
}

/** Which of these findings were resolved and are open again; somebody else may have moved one meanwhile. */
export async function reopenFindings(
  tx: Tx,
  ids: readonly number[],
  { runId, now }: Pick<ImportScope, 'runId' | 'now'>,
): Promise<ReadonlySet<number>> {
  const opened = new Set<number>();
  if (ids.length === 0) return opened;
  const wanted = { to: 'reopened', by: 'importer', reason: 'a report has it again', runId } as const;
  const rows = await tx<FindingRow[]>`
    select * from vm_findings where id in ${tx([...new Set(ids)])} and status = 'resolved' order by id`;
  for (const row of rows) {
    await transition(tx, row, wanted, systemActor, now);
    opened.add(row.id);
  }
  return opened;
}
