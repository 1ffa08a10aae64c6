// One import from its file to its run. Where every statement has a connection of its own it is one transaction. The
// embedded database serves everybody through one: there an import of some size is tried first (as a preview, which
// refuses what an import refuses), then written in short transactions, between which others have their turn; what
// fails in the middle is taken back.
import { requireApplication } from '../../assets/resources.js';
import { storeComponents } from '../../components/store.js';
import type { Queryable, Sql, Tx } from '../../database.js';
import { applyNewMutes } from '../../governance/new-mutes.js';
import { unfit, type Acting } from '../../kit/endpoint.js';
import { emit } from '../../kit/events.js';
import { queueImport, triageImport } from '../../rules/runs.js';
import { meetNewFindings } from '../../vex/later.js';
import { finishRun, insertRun, type Run } from '../../kit/runs.js';
import type { Keyed } from '../../secrets/protect-record.js';
import { closePercentDefault, refuseMassClose } from '../closing.js';
import type { Fields } from './fields.js';
import { countOpened, summaryOf } from './import-summary.js';
import { keptParts } from './looked-at.js';
import { openReport, withReport, type BegunReport } from './open-report.js';
import type { Format } from '../formats/format.js';
import { findFormat } from '../formats/index.js';
import { mappedFormat, type Mapping } from '../formats/tabular.js';
import { whyNothing, type ImportReport } from '../import-report.js';
import { importItems } from '../pipeline.js';
import { tellOfTwins } from './other-scopes.js';
import type { ImportScope, Within } from './scope.js';
import { previewItems } from '../preview.js';
import { readyForImport } from '../protect-stored.js';
import type { ReportFacts } from '../record.js';
import type { ReportFile } from '../reading/report-file.js';
import { undoImport } from './rollback.js';
import { baseKeyOf, scopeKeyOf, type ScopeKey } from './scope-key.js';
import { lockScope, oneAtATime } from './scope-lock.js';
import { atOnce, inSteps, requireRunning } from './steps.js';

/** A report of fewer bytes is written in some hundred milliseconds. */
const atOnceBytesMax = 128 * 1024;

export async function formatOf(call: Pick<Acting, 'sql'>, name: string, file: ReportFile): Promise<Format> {
  if (!name.startsWith('mapping:')) return findFormat(name, file);
  const [mapping] = await call.sql<Mapping[]>`select * from vm_mappings where name = ${name.slice(8)}`;
  if (mapping === undefined) throw unfit('format', `names no mapping ${name.slice(8)}`);
  return mappedFormat(mapping);
}

export interface Done {
  readonly run: Run;
  readonly report: ImportReport;
  readonly facts: ReportFacts;
}

/** What is read before the transaction of an import: the embedded database serves no other request within one. */
export interface ImportTerms {
  /** The key of identities; rows from before are stored under it then. */
  readonly keyed: Keyed;
  /** 100: it may close everything. */
  readonly closePercentMax: number;
}

export async function termsFor(call: Acting, fields: Pick<Fields, 'application_id' | 'confirm_close'>) {
  const { id } = await requireApplication(call.sql, call.reach, fields.application_id);
  const percent = (await call.host.closePercentMax?.()) ?? closePercentDefault;
  const terms: ImportTerms = {
    keyed: await readyForImport(call.host, id),
    closePercentMax: fields.confirm_close === true ? 100 : percent,
  };
  return terms;
}

export interface Given {
  readonly fields: Fields;
  readonly file: ReportFile;
  readonly format: Format;
  readonly terms: ImportTerms;
  /** As ImportScope has it; absent: it may be of a part. */
  readonly isOfWhole?: boolean;
}

/** The audit entry of an import, and what belongs to it. */
export interface Occasion {
  readonly action: Parameters<Acting['audited']>[0];
  readonly summary: (done: Done) => string;
  readonly details?: (done: Done) => object;
  /** With the first statements: what has to hold, and what is made for it. */
  readonly before?: (tx: Tx) => Promise<unknown>;
  /** With the last ones. */
  readonly after?: (tx: Tx, done: Done) => Promise<unknown>;
}

interface Begun {
  readonly run: Run;
  readonly applicationId: number;
  readonly projectId: number | null;
  readonly key: ScopeKey;
}

/**
 * The whole import. Throws ApiError where the report, or what it would do, is refused: then nothing is changed. What
 * fails otherwise in the middle of an import in steps is taken back; if that fails, too, the job of lost runs does it.
 */
export async function runImport(call: Acting, given: Given, occasion: Occasion): Promise<Done> {
  const done = await importReport(call, given, occasion);
  // the import stands, whatever becomes of this: the job of the rules goes on where it stopped, and says why it did
  await triageImport(call.host, done.run.id).catch(() => undefined);
  return done;
}

async function importReport(call: Acting, given: Given, occasion: Occasion): Promise<Done> {
  const { action, summary, details, before, after } = occasion;
  const finish = async (tx: Tx, begun: Begun, read: ReadIn): Promise<Done> => {
    const done = await endImport(tx, call, begun, read);
    await after?.(tx, done);
    return done;
  };
  const { sql, host } = call;
  if (host.hasOneConnection !== true || given.file.bytes <= atOnceBytesMax)
    return withReport(given, async (report) =>
      call.audited(
        action,
        summary,
        async (tx) => {
          await before?.(tx);
          const begun = await beginImport(tx, call, given, report);
          return finish(tx, begun, await readIn(tx, atOnce(tx), call, given, begun, report));
        },
        details,
      ),
    );
  const base = await tryFirst(call, given);
  return oneAtATime(base, async () => withReport(given, async (report) => importInSteps(report)));

  async function importInSteps(report: BegunReport): Promise<Done> {
    const begun = await sql.begin(async (tx) => {
      await before?.(tx);
      return beginImport(tx, call, given, report);
    });
    try {
      const read = await readIn(sql, inSteps({ sql, now: () => host.now() }, begun.run), call, given, begun, report);
      const end = async (tx: Tx): Promise<Done> => {
        await requireRunning(tx, begun.run, new Date(host.now()));
        return finish(tx, begun, read);
      };
      return await call.audited(action, summary, end, details);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      // without the database the job of lost runs does it
      await sql.begin(async (tx) => takeBack(tx, begun.run, why, new Date(host.now()))).catch(() => undefined);
      throw error;
    }
  }
}

/** Refuses what the import would be refused for, before anything is written. Returns `baseKeyOf` of the request. */
async function tryFirst(call: Acting, given: Given): Promise<string> {
  const { fields, format, terms } = given;
  const { id, project_id: projectId } = await requireApplication(call.sql, call.reach, fields.application_id);
  const base = baseKeyOf(id, fields, format);
  await withReport(given, async (begun) => {
    const target = { applicationId: id, ...(await scopeKeyOf(call.sql, base, format, begun.facts)) };
    const { facts, items, seenAt: at } = await openReport(call, given, begun, call.sql, target);
    const { mode = 'add', commit = '' } = fields;
    const { actor } = call.caller;
    const { isOfWhole = false } = given;
    const of = { commit, isOfWhole, ...terms };
    const scope = { ...target, projectId, mode, runId: 0, actor, now: call.now, seenAt: at, ...of };
    const { question } = await previewItems(call.sql, items, facts, scope, { resultsMax: Infinity, msMax: Infinity });
    if (question !== null) throw refuseMassClose(question);
  });
  return base;
}

async function beginImport(
  tx: Tx,
  call: Acting,
  { fields, file, format }: Given,
  { facts }: BegunReport,
): Promise<Begun> {
  const { id, project_id: projectId } = await requireApplication(tx, call.reach, fields.application_id);
  const { mode = 'add', branch = '', commit = '' } = fields;
  const base = baseKeyOf(id, fields, format);
  // two first imports of two subjects must not both take a scope over
  await lockScope(tx, base);
  const key = await scopeKeyOf(tx, base, format, facts);
  await lockScope(tx, key.scopeKey);
  const { scopeKey, subject } = key;
  const named = { format: format.name, mode, branch, commit, scope_key: fields.scope_key ?? '', subject };
  const run = await insertRun(
    tx,
    {
      kind: 'import',
      applicationId: id,
      input: { ...named, bytes: file.bytes },
      createdBy: call.caller.actor.name,
      scopeKey,
      status: 'running',
    },
    call.now,
  );
  return { run, applicationId: id, projectId, key };
}

interface ReadIn {
  readonly report: ImportReport;
  readonly facts: ReportFacts;
  readonly scope: ImportScope;
}

async function readIn(
  sql: Queryable,
  within: Within,
  call: Acting,
  given: Given,
  { run, applicationId, projectId, key }: Begun,
  begun: BegunReport,
): Promise<ReadIn> {
  const { fields, terms, isOfWhole = false } = given;
  const target = { applicationId, ...key };
  const { facts, items, seenAt: at } = await openReport(call, given, begun, sql, target, within);
  const { mode = 'add', commit = '' } = fields;
  const { actor } = call.caller;
  const of = { commit, isOfWhole, ...terms };
  const scope = { ...target, projectId, mode, runId: run.id, actor, now: call.now, seenAt: at, ...of };
  const report = await importItems(sql, within, items, facts, scope);
  if (report.created + report.updated + report.reopened > 0) await meetNewFindings(within, scope);
  return { report, facts, scope };
}

async function endImport(tx: Tx, call: Acting, { run }: Begun, { report, facts, scope }: ReadIn): Promise<Done> {
  const { now, caller } = call;
  await tellOfTwins(tx, scope, facts, report);
  const { problems, ...counters } = report;
  const components =
    facts.components === null ? {} : { components: await storeComponents(tx, facts.components, scope) };
  const { tool, version, complete: isWhole, isPartial, isNoScan = false, root } = facts;
  const complete = isWhole && report.unknown_severities === 0;
  const unfinished = !isWhole && !isPartial && !isNoScan && report.unread === 0;
  const looked = keptParts(facts);
  const parts = looked === null ? {} : { looked };
  const about = { tool, tool_version: version, complete, unfinished, is_scan: !isNoScan, root };
  const why = whyNothing(report, { isNoScan, isWhole });
  const result = { ...counters, ...components, ...parts, ...about, ...(why === null ? {} : { why_nothing: why }) };
  const finished = new Date(call.host.now());
  const done = await finishRun(tx, run.id, { status: 'succeeded', result, problems }, finished);
  if (report.created + report.updated + report.reopened > 0) {
    await applyNewMutes(tx, caller.actor, run.id, now);
    await queueImport(tx, run.id, caller.actor, now);
  }
  const { applicationId } = scope;
  const { created, reopened, closed } = report;
  const payload = { created, reopened, closed, ...summaryOf(tool, await countOpened(tx, scope)) };
  await emit(tx, [{ type: 'import.done', entity: 'run', entityId: run.id, applicationId, payload }], now);
  return { run: done, report, facts };
}

/** What an import that did not come to its end has written is taken away again. */
async function takeBack(tx: Tx, run: Run, why: string, now: Date): Promise<void> {
  if (run.scope_key !== null) await undoImport(tx, { ...run, scope_key: run.scope_key }, now);
  await finishRun(tx, run.id, { status: 'failed', error: why }, now);
}

/**
 * Takes back imports whose process is gone, each by itself: one that cannot be taken back is tried again the next time
 * and keeps no other waiting. Returns how many were; throws the first failure after the last of them.
 */
export async function takeBackLost(sql: Sql, now: Date): Promise<number> {
  const lost = await sql<Run[]>`
    select * from vm_runs where kind = 'import' and status = 'running' and lease_until < ${now} order by id desc`;
  const failures: unknown[] = [];
  for (const run of lost)
    await sql
      .begin(async (tx) => takeBack(tx, run, 'the control plane ended before the import did', now))
      .catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
  return lost.length;
}
