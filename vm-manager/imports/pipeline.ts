// From records to findings, in batches. A report is imported whole or not at all (run/run-import.ts). What a
// report says twice is a duplicate; what was imported before is recognised by its keys; what people decided stays.
import { ApiError } from '#http-kit';
import type { Queryable, Tx } from '../database.js';
import type { FindingRow } from '../findings/fields.js';
import { readFacts, readPolicies, score, type ApplicationFacts, type SlaPolicy } from '../findings/score.js';
import type { Status } from '../findings/words.js';
import { closeMissing, reopenFindings } from './closing.js';
import { KeysOfReport } from './fingerprint.js';
import { enriched } from './kinds/enrich.js';
import { provingAbsence } from './kinds/faults.js';
import type { ImportScope, Within } from './run/scope.js';
import { emptyReport, firstOfSubject, type ImportReport } from './import-report.js';
import {
  insertFindings,
  insertOccurrences,
  refreshContents,
  renewStatistics,
  severityColumns,
  touchOccurrences,
  type Prepared,
} from './import-store.js';
import { PreparedRecord } from './prepared.js';
import {
  cut,
  isDropped,
  noFinding,
  showLocation,
  type Dropped,
  type FindingRecord,
  type Item,
  type Items,
  type ReportFacts,
} from './record.js';
import {
  fingerprintsOf,
  firstOf,
  readNamed,
  readSightings,
  renewKeys,
  toolKeysOf,
  type Finding,
  type Named,
  type Sighting,
} from './run/stored-keys.js';
import { allIds, learn } from './run/learned.js';
import { knowsMore, recogniseOthers } from './same-weakness.js';
import { RecordMask } from '../secrets/protect-record.js';

export const recordsMax = 200_000;
const problemsMax = 200;

/** A record whose finding is there already; `sighting` is null where this scope has not seen it yet. */
interface Known {
  readonly prepared: Prepared;
  readonly finding: { readonly id: number; readonly status: Status };
  readonly sighting: Sighting | null;
  /** Another tool's: what that one says of it stays. */
  readonly isOthers: boolean;
}

/** The report describes a finding otherwise than before, and what it says counts. */
export const isChanged = (one: Known): boolean => !one.isOthers && isOtherwise(one);
const isOtherwise = ({ prepared, sighting }: Known): boolean =>
  sighting === null || !prepared.isAsStored(sighting.raw_hash);

/** A batch of records: findings to be made, and findings that are there. */
export interface Sorted {
  readonly fresh: Prepared[];
  readonly known: Known[];
}

/**
 * Throws ApiError 413 beyond `recordsMax` records; transactions are the caller's. `facts.complete` is false afterwards
 * where a record could not be read.
 */
export async function importItems(
  sql: Queryable,
  within: Within,
  items: AsyncIterable<Items>,
  facts: ReportFacts,
  scope: ImportScope,
): Promise<ImportReport> {
  const importer = new Importer(
    within,
    facts,
    scope,
    await readFacts(sql, scope.applicationId),
    await readPolicies(sql),
  );
  return importer.takeAll(items);
}

export class Importer {
  protected readonly report = emptyReport();
  private readonly within: Within;
  protected readonly facts: ReportFacts;
  protected readonly scope: ImportScope;
  private readonly application: ApplicationFacts | null;
  private readonly policies: readonly SlaPolicy[];
  private readonly mask: RecordMask;
  private keys: KeysOfReport | null = null;
  private graveProblems = 0;
  private waiting: PreparedRecord[] = [];
  /** Where in `waiting` the record is that says what a later one may say again. */
  private readonly slots = new Map<object, number>();
  private written = 0;
  private readonly taken = new Set<number>();

  constructor(
    within: Within,
    facts: ReportFacts,
    scope: ImportScope,
    application: ApplicationFacts | null,
    policies: readonly SlaPolicy[],
  ) {
    [this.within, this.facts, this.scope] = [within, facts, scope];
    [this.application, this.policies] = [application, policies];
    this.mask = new RecordMask(scope.keyed);
  }

  async takeAll(read: AsyncIterable<Items>): Promise<ImportReport> {
    for await (const items of provingAbsence(read, this.facts))
      for (const item of items) {
        this.take(item);
        if (this.waiting.length >= this.within.batchSize) await this.flush();
      }
    await this.flush();
    return this.finish();
  }

  protected take(given: Item): void {
    if (++this.report.parsed > recordsMax)
      throw new ApiError('body_too_large', `The report has more than ${recordsMax} records; split it.`);
    if (isDropped(given)) return this.drop(this.mask.item(given) as Dropped);
    const item = enriched(given, this.facts.tool);
    const { tool } = this.facts;
    const taken = (this.keys ??= new KeysOfReport(tool)).take(item);
    const former = this.facts.former?.keysOf(given, tool, (one) => enriched(one, tool)) ?? [];
    const before = taken === null ? undefined : this.slots.get(taken.slot);
    if (taken === null || before !== undefined || taken.again === 'graver') this.report.duplicates_in_file++;
    if (taken === null) return;
    const isGraver = taken.again === 'graver' && before === undefined;
    const prepared = new PreparedRecord(item, taken.keys, this.mask, this.scope.keyed, isGraver, former);
    if (item.severityProblem !== undefined && !item.suppressed && item.source !== 'quality')
      this.noteSeverity(prepared.record, this.mask.text(item.severityProblem));
    if (before !== undefined) this.waiting[before] = prepared;
    else this.slots.set(taken.slot, this.waiting.push(prepared) - 1);
  }

  private async finish(): Promise<ImportReport> {
    const { scope, report } = this;
    if (scope.mode === 'sync') {
      const { closed, unverified } = await this.close();
      [report.closed, report.unverified_absence] = [closed, unverified];
      if (scope.isInherited && unverified > 0) report.problems.unshift(firstOfSubject);
      // told first: it concerns findings that the report does not name
      if (report.unread > 0)
        report.problems.unshift({
          at: 'the report',
          detail: `has ${report.unread} records that cannot be read: nothing is closed, as one may be what seems gone`,
        });
    }
    return report;
  }

  private noteSeverity({ title, location }: FindingRecord, detail: string): void {
    const { report } = this;
    report.unknown_severities++;
    const at = cut(`${title} in ${showLocation(location)}`, 300);
    this.tell({ at, detail }, true);
  }

  /** What somebody has to do something about stands before records that are no findings. */
  private tell(problem: ImportReport['problems'][number], isGrave: boolean): void {
    const { problems } = this.report;
    if (!isGrave) {
      if (problems.length < problemsMax) problems.push(problem);
    } else if (this.graveProblems < problemsMax) {
      problems.splice(this.graveProblems++, 0, problem);
      problems.length = Math.min(problems.length, problemsMax);
    }
  }

  protected drop({ dropped: reason, at, isUnread, isFault }: Dropped): void {
    const { report } = this;
    if (isUnread) report.unread++;
    report.dropped++;
    report.dropped_by_reason[reason] = (report.dropped_by_reason[reason] ?? 0) + 1;
    this.tell({ at, detail: reason }, isUnread || isFault === true);
  }

  private async flush(): Promise<void> {
    const batch = this.waiting.splice(0);
    this.slots.clear();
    if (batch.length === 0) return;
    await this.within.run(async (tx) => this.write(tx, await this.sort(tx, batch)));
  }

  protected async close(): Promise<{ readonly closed: number; readonly unverified: number }> {
    return closeMissing(this.within, this.scope, this.facts);
  }

  protected async write(tx: Tx, { fresh, known }: Sorted): Promise<void> {
    const { scope } = this;
    const before = this.written;
    this.written += fresh.length + known.length;
    // plans made while the tables were small read all of them; new numbers end those plans
    await renewStatistics(tx, before, this.written);
    await renewKeys(tx, scope, known);
    if (fresh.length > 0) await this.create(tx, fresh);
    await this.recognise(tx, known);
    await touchOccurrences(
      tx,
      known.flatMap(({ sighting }) => (sighting === null ? [] : [sighting.id])),
      scope,
    );
    await insertOccurrences(
      tx,
      known
        .filter(({ sighting }) => sighting === null)
        .map(({ prepared, finding }) => ({ prepared, findingId: finding.id })),
      scope,
      this.facts.tool,
    );
  }

  /**
   * Which records are new and which are known. Of what is known only what tells them apart is read, and nothing is
   * locked: most of a report is as it was the last time, and whole rows of it would be megabytes a batch.
   */
  protected async sort(tx: Tx, batch: readonly PreparedRecord[]): Promise<Sorted> {
    const sightings = await this.readSightings(tx, batch.flatMap(toolKeysOf));
    const bySighting = new Map(sightings.map((row) => [row.tool_key, row]));
    const sightingOf = (one: Prepared): (Sighting & Finding) | undefined => firstOf(bySighting, toolKeysOf(one));
    const unseen = batch.filter((one) => sightingOf(one) === undefined).flatMap(fingerprintsOf);
    const named = unseen.length === 0 ? [] : await this.readNamed(tx, unseen);
    const byFingerprint = new Map(named.map((row) => [row.fingerprint, row]));
    const ownOf = (one: Prepared): (Finding & Partial<Sighting>) | undefined =>
      sightingOf(one) ?? firstOf(byFingerprint, fingerprintsOf(one));
    for (const prepared of batch) this.taken.add(ownOf(prepared)?.finding_id ?? 0);
    const unknown = batch.filter((prepared) => ownOf(prepared) === undefined);
    const others = await recogniseOthers(tx, await this.scopeOfOthers(tx), unknown, this.taken);
    const fresh: Prepared[] = [];
    const known: Known[] = [];
    for (const prepared of batch) {
      const sighting = sightingOf(prepared) ?? null;
      const other = others.get(prepared);
      const found = ownOf(prepared) ?? other;
      if (found !== undefined)
        known.push({
          prepared,
          finding: { id: found.finding_id, status: found.status },
          sighting,
          isOthers:
            other === undefined
              ? this.isOthers(prepared, sighting)
              : !knowsMore(prepared.record, this.facts.tool, other),
        });
      else if (prepared.isSuppressed) this.drop(noFinding('is set aside in the report', prepared.location));
      else fresh.push(prepared);
    }
    return { fresh, known };
  }

  protected async readSightings(tx: Tx, toolKeys: readonly string[]): Promise<(Sighting & Finding)[]> {
    return readSightings(tx, this.scope, toolKeys);
  }

  protected async readNamed(tx: Tx, fingerprints: readonly string[]): Promise<Named[]> {
    return readNamed(tx, this.scope, fingerprints);
  }

  protected async scopeOfOthers(_: Tx): Promise<Parameters<typeof recogniseOthers>[1]> {
    return { ...this.scope, tool: this.facts.tool };
  }

  private isOthers(prepared: Prepared, sighting: Sighting | null): boolean {
    if (prepared.knownAs !== undefined) return true;
    // the fingerprint last: a digest that most records do not need
    return (
      sighting !== null &&
      sighting.tool !== (prepared.tool ?? this.facts.tool) &&
      sighting.fingerprint !== prepared.fingerprint
    );
  }

  /** What is known of the vulnerabilities of these records. */
  private async knownOf(
    tx: Tx,
    ids: readonly string[],
  ): Promise<ReadonlyMap<string, { kev: boolean; epss: number | null }>> {
    const cves = [...new Set(ids.filter((id) => id.startsWith('CVE-')))];
    if (cves.length === 0) return new Map();
    const rows = await tx<{ cve: string; kev: boolean; epss: number | null }[]>`
      select cve, kev, epss from vm_cves where cve in ${tx(cves)}`;
    return new Map(rows.map((row) => [row.cve, row]));
  }

  private columnsOf(
    prepared: Prepared,
    known: ReadonlyMap<string, { kev: boolean; epss: number | null }>,
    before: FindingRow | null,
  ) {
    const { record } = prepared;
    const { scope, facts } = this;
    const ids = allIds(record.vulnIds, before?.vuln_ids ?? [], record.location.kind);
    const cves = ids.flatMap((id) => known.get(id) ?? []);
    const epss = cves.flatMap((one) => (one.epss === null ? [] : [one.epss]));
    const content = {
      title: record.title,
      ...severityColumns(record, before),
      source: record.source,
      tool: record.tool ?? facts.tool,
      rule_id: record.ruleId,
      // another format of the tool may have named it
      cwes: record.cwes.length === 0 ? (before?.cwes ?? []) : record.cwes,
      vuln_ids: ids,
      location: prepared.location,
      reachable: record.reachable ?? before?.reachable ?? null,
      kev: cves.some(({ kev }) => kev),
      epss: epss.length === 0 ? null : Math.max(...epss),
      fix_state: record.fix.state,
      tags: before?.tags ?? record.tags,
    };
    const row = {
      application_id: scope.applicationId,
      project_id: scope.projectId,
      status: before?.status ?? ('new' as const),
      risk_override: before?.risk_override ?? null,
      risk_override_until: before?.risk_override_until ?? null,
      exploit_confirmed: before?.exploit_confirmed ?? false,
      runtime_confirmed: before?.runtime_confirmed ?? false,
      virtually_patched: before?.virtually_patched ?? false,
      assignee_id: before?.assignee_id ?? null,
      sla_start: before?.sla_start ?? scope.seenAt,
      sla_paused_ms: before?.sla_paused_ms ?? 0,
      first_seen: before?.first_seen ?? scope.seenAt,
      last_seen: scope.seenAt,
      ...content,
    };
    if (this.application === null) throw new Error('a preview writes nothing');
    const { scored, factors } = score(row, record, this.application, this.policies, scope.now);
    return { row: { ...row, ...scored }, factors: { ...factors } };
  }

  private async create(tx: Tx, batch: readonly Prepared[]): Promise<void> {
    const known = await this.knownOf(
      tx,
      batch.flatMap(({ record }) => record.vulnIds),
    );
    const rows = batch.map((prepared) => ({ prepared, ...this.columnsOf(prepared, known, null) }));
    await insertFindings(tx, rows, this.scope, this.facts.tool);
    this.report.created += batch.length;
  }

  /** Locks and rewrites what the report describes otherwise than before, many at a time, and reopens what is back. */
  private async recognise(tx: Tx, known: readonly Known[]): Promise<void> {
    const { scope, report } = this;
    const changed = known.filter((one) => isChanged(one));
    const resolved = known.filter(({ prepared, finding }) => finding.status === 'resolved' && !prepared.isSuppressed);
    const ids = [...new Set([...changed, ...resolved].map(({ finding }) => finding.id))];
    if (ids.length > 0) {
      const rows = await tx<FindingRow[]>`select * from vm_findings where id in ${tx(ids)} order by id for update`;
      const byId = new Map(rows.map((row) => [row.id, row]));
      const named = changed.flatMap(({ prepared }) => prepared.record.vulnIds);
      const vulnerabilities = await this.knownOf(tx, [...named, ...rows.flatMap((row) => row.vuln_ids)]);
      const contents = changed.flatMap(({ prepared, finding }) => {
        const row = byId.get(finding.id);
        if (row === undefined) return [];
        const { row: values, factors } = this.columnsOf(prepared, vulnerabilities, row);
        return [{ id: row.id, prepared, values, factors }];
      });
      await refreshContents(tx, contents, scope);
    }
    const told = known.filter((one) => one.isOthers && isOtherwise(one) && !one.prepared.isSuppressed);
    await learn(
      tx,
      told.map(({ prepared, finding }) => ({ prepared, id: finding.id })),
      scope.now,
    );
    const isReopened = await reopenFindings(
      tx,
      resolved.map(({ finding }) => finding.id),
      scope,
    );
    const refreshed = new Set(changed);
    for (const one of known) {
      if (one.prepared.isGraver) continue;
      if (isReopened.has(one.finding.id) && !one.prepared.isSuppressed) report.reopened++;
      else if (refreshed.has(one)) report.updated++;
      else report.unchanged++;
    }
  }
}
