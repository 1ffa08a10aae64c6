// What an import would do, without doing it: the report is read in batches, each batch asks the tables what is there.
// Nothing is held in between: no transaction, no lock, no run. Other requests are answered between two batches.
import { setImmediate } from 'node:timers/promises';
import { ApiError } from '#http-kit';
import type { Sql, Tx } from '../database.js';
import { isGone, isOfSameCommit, massClose } from './closing.js';
import type { ImportReport } from './import-report.js';
import { Importer, isChanged, type Sorted } from './pipeline.js';
import { readKnownKeys, type KnownKeys } from './known-keys.js';
import { readNamed, readSightings } from './run/stored-keys.js';
import { rulesElsewhere } from './same-weakness.js';
import { settleParts, wasLookedAt, type SightedIn } from './run/looked-at.js';
import type { ImportScope } from './run/scope.js';
import type { PreparedRecord } from './prepared.js';
import { noFinding, type Item, type Items, type ReportFacts } from './record.js';

export const previewResultsMax = 100_000;
/** Some three times what 60,000 results take on one busy core; nothing is held meanwhile. */
const previewMsMax = 60_000;
const batchSize = 2000;

export interface PreviewLimits {
  readonly resultsMax: number;
  readonly msMax: number;
}

/** Throws ApiError 413 for more results than a preview takes, and where it takes longer than a minute. */
export async function previewItems(
  sql: Sql,
  items: AsyncIterable<Items>,
  facts: ReportFacts,
  scope: ImportScope,
  limits: PreviewLimits = { resultsMax: previewResultsMax, msMax: previewMsMax },
): Promise<{ readonly report: ImportReport; readonly question: string | null }> {
  const [has] = await sql<{ findings: boolean }[]>`
    select exists (select 1 from vm_findings where application_id = ${scope.applicationId})
      or exists (select 1 from vm_occurrences where scope_key = ${scope.scopeKey}) as findings`;
  const importer = new PreviewImporter(sql, facts, scope, has?.findings === false, limits);
  return { report: await importer.takeAll(items), question: importer.question };
}

class PreviewImporter extends Importer {
  private readonly sql: Sql;
  private readonly beganMs = performance.now();
  /** Sightings that the report has again. */
  private readonly seen = new Set<number>();
  private seenHere = 0;

  /** The application has no finding: all that the report has is new, and nothing is asked of the tables. */
  private readonly isFirst: boolean;

  private readonly limits: PreviewLimits;
  /** Asked for once, as `known` is: what is imported meanwhile is not of this preview. */
  private rulesElsewhere: ReadonlySet<string> | null = null;
  private known: KnownKeys | null = null;
  /** What has to be confirmed before the import; null: nothing. */
  question: string | null = null;

  constructor(sql: Sql, facts: ReportFacts, scope: ImportScope, isFirst: boolean, limits: PreviewLimits) {
    // what is read is asked for by the pool: no two statements need one state
    super({ batchSize: 500, run: async (work) => work(sql as unknown as Tx) }, facts, scope, null, []);
    [this.sql, this.isFirst, this.limits] = [sql, isFirst, limits];
  }

  protected override take(item: Item): void {
    const { parsed } = this.report;
    const { resultsMax, msMax } = this.limits;
    if (parsed >= resultsMax)
      throw new ApiError(
        'body_too_large',
        `A preview takes at most ${resultsMax} results; import the report, or split it.`,
      );
    if (performance.now() - this.beganMs > msMax)
      throw new ApiError(
        'body_too_large',
        `The preview took longer than ${msMax / 1000} seconds, after ${parsed} results; split the report.`,
      );
    super.take(item);
  }

  protected override async sort(tx: Tx, all: readonly PreparedRecord[]): Promise<Sorted> {
    const batch = all.filter(({ isGraver }) => !isGraver);
    if (!this.isFirst) return super.sort(tx, batch);
    for (const one of batch) if (one.isSuppressed) this.drop(noFinding('is set aside in the report', one.location));
    return { fresh: batch.filter(({ isSuppressed }) => !isSuppressed), known: [] };
  }

  protected override async readSightings(tx: Tx, toolKeys: readonly string[]): ReturnType<Importer['readSightings']> {
    this.known ??= await readKnownKeys(this.sql, this.scope);
    const maybe = this.known.amongSightings(toolKeys);
    return maybe.length === 0 ? [] : readSightings(tx, this.scope, maybe, this.facts.supposed);
  }

  protected override async readNamed(tx: Tx, fingerprints: readonly string[]): ReturnType<Importer['readNamed']> {
    const maybe = this.known?.amongFindings(fingerprints) ?? fingerprints;
    return maybe.length === 0 ? [] : readNamed(tx, this.scope, maybe, this.facts.supposed);
  }

  protected override async scopeOfOthers(tx: Tx): ReturnType<Importer['scopeOfOthers']> {
    const all = await super.scopeOfOthers(tx);
    this.rulesElsewhere ??= await rulesElsewhere(tx, all);
    return { ...all, rulesElsewhere: this.rulesElsewhere };
  }

  protected override async write(_: Tx, { fresh, known }: Sorted): Promise<void> {
    const { report } = this;
    report.created += fresh.length;
    for (const one of known) {
      if (one.sighting !== null && !this.seen.has(one.sighting.id)) {
        this.seen.add(one.sighting.id);
        if (one.sighting.here) this.seenHere++;
      }
      if (one.finding.status === 'resolved' && !one.prepared.isSuppressed) report.reopened++;
      else if (isChanged(one)) report.updated++;
      else report.unchanged++;
    }
    await setImmediate();
  }

  protected override async close(): Promise<{ readonly closed: number; readonly unverified: number }> {
    const { sql, seen, facts } = this;
    const { scopeKey, isInherited } = this.scope;
    await settleParts(sql, scopeKey, facts);
    const [here] = await sql<{ n: number }[]>`
      select count(*)::int as n from vm_occurrences where scope_key = ${scopeKey} and gone_at is null`;
    this.report.needs_confirm_close = false;
    if (here?.n === this.seenHere) return { closed: 0, unverified: 0 };
    const [gone, alive] = [new Set<number>(), new Set<number>()];
    let [missing, goneSightings] = [0, 0];
    for (let from = 0; ; ) {
      const rows = await sql<(SightedIn & { id: number; finding_id: number; missed_runs: number })[]>`
        select o.id, o.finding_id, o.missed_runs, f.source, f.rule_id, o.tool, o.location ->> 'path' as path,
          o.location ->> 'url' as url, o.location ->> 'address' as address, r.input ->> 'commit' as commit,
          r.created_at as ran_at
        from vm_occurrences o join vm_findings f on f.id = o.finding_id left join vm_runs r on r.id = o.last_run
        where o.scope_key = ${scopeKey} and o.gone_at is null and o.id > ${from} order by o.id limit ${batchSize}`;
      for (const row of rows) {
        const isMissing = !seen.has(row.id);
        const isProved = wasLookedAt(facts, row) && !isOfSameCommit(this.scope, facts, row);
        const isEnded = isMissing && !isInherited && isProved && isGone(row);
        (isEnded ? gone : alive).add(row.finding_id);
        if (isMissing) missing++;
        if (isEnded) goneSightings++;
      }
      if (rows.length < batchSize) break;
      from = rows.at(-1)?.id ?? 0;
      await setImmediate();
    }
    const closed = await this.countClosed([...gone].filter((id) => !alive.has(id)));
    const [open] = await sql<{ n: number }[]>`
      select count(distinct o.finding_id)::int as n
      from vm_occurrences o join vm_findings f on f.id = o.finding_id
      where o.scope_key = ${scopeKey} and o.gone_at is null and f.is_open`;
    const question = massClose(closed, open?.n ?? 0, this.scope.closePercentMax);
    this.question = question;
    this.report.needs_confirm_close = question !== null;
    if (question !== null) this.report.problems.unshift({ at: 'the report', detail: question });
    return { closed, unverified: missing - goneSightings };
  }

  /** Open findings among these that no other scope sees. */
  private async countClosed(ids: readonly number[]): Promise<number> {
    let closed = 0;
    for (let at = 0; at < ids.length; at += batchSize) {
      const [row] = await this.sql<{ n: number }[]>`
        select count(*)::int as n from vm_findings f
        where f.is_open and f.id in ${this.sql(ids.slice(at, at + batchSize))}
          and not exists (select 1 from vm_occurrences o
            where o.finding_id = f.id and o.gone_at is null and o.scope_key <> ${this.scope.scopeKey})`;
      closed += row?.n ?? 0;
    }
    return closed;
  }
}
