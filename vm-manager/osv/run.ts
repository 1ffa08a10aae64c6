// What the advisories say of one application becomes findings, by the road of every import: the same fingerprints, the
// same states, the same rules for what is gone. A finding that another tool has already gets one more sighting.
import { randomInt } from 'node:crypto';
import { systemActor, type Actor } from '#http-kit';
import type { Host } from '../host.js';
import type { Queryable, Tx } from '../database.js';
import { Breath } from '../kit/values/breath.js';
import { groupBy } from '../kit/values/group-by.js';
import { applyNewMutes } from '../governance/new-mutes.js';
import { meetNewFindings } from '../vex/later.js';
import { queueImport } from '../rules/runs.js';
import { clusterOf, placeKey } from '../imports/fingerprint.js';
import { importItems } from '../imports/pipeline.js';
import type { Within } from '../imports/run/scope.js';
import { readyForImport } from '../imports/protect-stored.js';
import type { Keyed } from '../secrets/protect-record.js';
import { record, type FindingRecord, type ReportFacts } from '../imports/record.js';
import { lockScope, oneAtATime } from '../imports/run/scope-lock.js';
import { atOnce, inSteps, requireRunning } from '../imports/run/steps.js';
import { finishRun, insertRun, type Run } from '../kit/runs.js';
import { severityNumbers } from '../findings/words.js';
import { groupAliases, matchComponents, type Hit, type KnownAdvisory, type Matches, type Unknown } from './match.js';

const tool = 'OSV';
const problemsMax = 200;
const evidenceMax = 20;
/** Tells one match from another of the same application. */
const marksMax = 2 ** 47;
/** Values of one statement. */
const chunk = 500;

async function readAdvisories(sql: Queryable, ids: readonly string[]): Promise<KnownAdvisory[]> {
  const found: KnownAdvisory[] = [];
  for (let from = 0; from < ids.length; from += chunk)
    found.push(
      ...(await sql<KnownAdvisory[]>`
        select id, aliases, facts from vm_osv where id in ${sql(ids.slice(from, from + chunk))} order by id`),
    );
  return found;
}

/** One finding for a package and a weakness, whatever versions of it there are. */
function toRecord(
  advisories: readonly KnownAdvisory[],
  hits: readonly Pick<Hit, 'component' | 'fixed' | 'canBeFixed'>[],
) {
  const worst = [...advisories].sort(
    (left, right) =>
      (severityNumbers[right.facts.severity] ?? 0) - (severityNumbers[left.facts.severity] ?? 0) ||
      (left.id < right.id ? -1 : 1),
  )[0];
  const first = hits[0];
  if (worst === undefined || first === undefined) throw new Error('a match without advisory or component');
  const { component } = first;
  const vulnIds = advisories.flatMap(({ id, aliases }) => [id, ...aliases]);
  const fixed = [...new Set(hits.flatMap((hit) => hit.fixed ?? []))];
  const { facts } = worst;
  const made = record({
    title: `${worst.id} in ${component.name}`,
    description: [facts.summary, facts.details].filter(Boolean).join('\n\n'),
    severity: facts.severity,
    ...(facts.severityProblem === undefined ? {} : { severityProblem: facts.severityProblem }),
    cwes: advisories.flatMap((one) => one.facts.cwes),
    vulnIds,
    cvss: facts.cvss,
    source: 'sca',
    ruleId: worst.id,
    location: {
      kind: 'package',
      name: component.name,
      version: component.version,
      ...(component.purl === '' ? {} : { purl: component.purl }),
    },
    fix:
      fixed.length > 0
        ? { state: 'fixed_available', version: fixed[0] ?? '', text: `Fixed in ${fixed.join(', ')}` }
        : { state: hits.some(({ canBeFixed }) => canBeFixed !== false) ? 'unknown' : 'no_fix' },
    references: advisories.flatMap((one) => one.facts.references),
    evidence: hits.slice(0, evidenceMax).map((hit) => ({
      component: hit.component.purl || hit.component.name,
      version: hit.component.version,
      fixed: hit.fixed,
    })),
    quality: 0.8,
    extra: { advisories: advisories.map(({ id }) => id), versions: hits.length },
  });
  // the first of its ids names it: an advisory's own, else nobody would find it by the name it came under
  return { ...made, title: made.vulnIds[0] === undefined ? made.title : `${made.vulnIds[0]} in ${component.name}` };
}

type Pairs = readonly (Hit | Unknown)[];

/** Records of the pairs, each package and weakness once, in an order that does not depend on the database's. */
async function toRecords(
  pairs: Pairs,
  groups: ReadonlyMap<string, readonly KnownAdvisory[]>,
): Promise<FindingRecord[]> {
  const groupOf = new Map([...groups].flatMap(([root, all]) => all.map(({ id }) => [id, root] as const)));
  const byPlace = groupBy(pairs, (pair) => `${pair.package}\n${groupOf.get(pair.osvId) ?? pair.osvId}`);
  const records: FindingRecord[] = [];
  const breath = new Breath();
  for (const [, all] of [...byPlace].sort(([left], [right]) => (left < right ? -1 : 1))) {
    await breath.take();
    const advisories = groups.get(groupOf.get(all[0]?.osvId ?? '') ?? '') ?? [];
    const named = new Set(all.map(({ osvId }) => osvId));
    const hits = [...new Map(all.map((pair) => [pair.component.id, pair])).values()].map((pair) => ({
      component: pair.component,
      fixed: 'fixed' in pair ? pair.fixed : null,
      canBeFixed: 'canBeFixed' in pair ? pair.canBeFixed : null,
    }));
    records.push(
      toRecord(
        advisories.filter(({ id }) => named.has(id)),
        hits,
      ),
    );
  }
  return records;
}

/** Findings that other tools have of the same weakness in the same package, under whichever of its ids. */
async function recogniseOthers(
  sql: Queryable,
  applicationId: number,
  records: readonly FindingRecord[],
): Promise<FindingRecord[]> {
  const keysOfRecord = (one: FindingRecord): string[] => one.vulnIds.flatMap((id) => clusterOf(id, one.location) ?? []);
  const wanted = [...new Set(records.flatMap(keysOfRecord))];
  const known = new Map<string, string>();
  for (let from = 0; from < wanted.length; from += chunk) {
    const rows = await sql<{ cluster_key: string; fingerprint: string }[]>`
      select cluster_key, fingerprint from vm_findings
      where application_id = ${applicationId} and cluster_key in ${sql(wanted.slice(from, from + chunk))}
        and tool <> ${tool} and status <> 'duplicate'
      order by is_open, id desc`;
    // open ones are last, and the oldest of them counts
    for (const row of rows) known.set(row.cluster_key, row.fingerprint);
  }
  return records.map((one) => {
    const found = keysOfRecord(one).find((key) => known.has(key));
    const fingerprint = found === undefined ? undefined : known.get(found);
    return fingerprint === undefined ? one : { ...one, knownAs: fingerprint };
  });
}

/** What cannot be compared is neither a finding nor the end of one. */
async function keepUnknown(
  within: Within,
  scopeKey: string,
  runId: number,
  records: readonly FindingRecord[],
  keyed: Keyed,
): Promise<void> {
  const keys = records.map((one) => keyed(placeKey(one)));
  for (let from = 0; from < keys.length; from += chunk)
    await within.run(
      async (tx) => tx`
        update vm_occurrences set last_run = ${runId}
        where scope_key = ${scopeKey} and tool_key in ${tx(keys.slice(from, from + chunk))}`,
    );
}

function unknownReport(unknown: readonly Unknown[]) {
  const reasons: Record<string, number> = {};
  for (const { reason } of unknown) reasons[reason] = (reasons[reason] ?? 0) + 1;
  return {
    not_comparable: { total: unknown.length, by_reason: reasons },
    problems: unknown.slice(0, problemsMax).map(({ component, osvId, reason }) => ({
      at: `${component.purl || component.name}${component.purl.includes('@') ? '' : ` ${component.version}`}`.trim(),
      detail: `${osvId}: ${reason}`,
    })),
  };
}

export interface Matching {
  readonly host: Pick<Host, 'sql' | 'now' | 'hasOneConnection'>;
  readonly applicationId: number;
  readonly actor: Actor;
  readonly now: Date;
  readonly keyed: Keyed;
  /** Runs the last transaction, or the only one, such as `call.audited` does. */
  readonly finish: (work: (tx: Tx) => Promise<Run>) => Promise<Run>;
}

const scopeKeyOf = (applicationId: number): string => `${applicationId}|osv||`;

async function begin(tx: Tx, { applicationId, actor, now }: Matching): Promise<Run> {
  const scopeKey = scopeKeyOf(applicationId);
  await lockScope(tx, scopeKey);
  const wanted = { kind: 'osv', applicationId, input: {}, createdBy: actor.name, scopeKey, status: 'running' } as const;
  return insertRun(tx, wanted, now);
}

/**
 * Marks what waits, in a statement of its own: were the row locked until the match ends, an import that notes something
 * meanwhile would wait for it with findings that the match itself waits for.
 */
async function markPending({ sql }: Pick<Host, 'sql'>, applicationId: number): Promise<number> {
  const mark = randomInt(1, marksMax);
  await sql`update vm_osv_pending set mark = ${mark} where application_id = ${applicationId}`;
  return mark;
}

/**
 * Matches one application; the run says what came of it. Where every statement has a connection of its own it is one
 * transaction. The embedded database serves everybody through one: there it is done in short ones. What was written
 * before a failure is right, as nothing is closed before the end, and the application still waits to be matched.
 */
export async function matchApplication(matching: Matching): Promise<Run> {
  const { host, applicationId, finish } = matching;
  if (host.hasOneConnection !== true) {
    const mark = await markPending(host, applicationId);
    return finish(async (tx) => {
      const run = await begin(tx, matching);
      return end(tx, matching, run, { ...(await matchWithin(tx, atOnce(tx), matching, run)), mark });
    });
  }
  return oneAtATime(scopeKeyOf(applicationId), async () => {
    const { sql } = host;
    const mark = await markPending(host, applicationId);
    const run = await sql.begin(async (tx) => begin(tx, matching));
    try {
      const within = inSteps({ sql, now: () => host.now() }, run);
      const matched = await matchWithin(sql, within, matching, run);
      return await finish(async (tx) => {
        await requireRunning(tx, run, new Date(host.now()));
        return end(tx, matching, run, { ...matched, mark });
      });
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      // without the database the job of lost runs does it
      await finishRun(sql, run.id, { status: 'failed', error: why }, new Date(host.now())).catch(() => undefined);
      throw error;
    }
  });
}

interface Matched {
  readonly matches: Matches;
  readonly report: Awaited<ReturnType<typeof importItems>>;
}

const isAnyNew = ({ created, updated, reopened }: Matched['report']): boolean => created + updated + reopened > 0;

async function matchWithin(
  sql: Queryable,
  within: Within,
  { applicationId, actor, now, keyed }: Matching,
  run: Run,
): Promise<Matched> {
  const scopeKey = scopeKeyOf(applicationId);
  const [application] = await sql<{ project_id: number | null }[]>`
    select project_id from vm_applications where id = ${applicationId}`;
  const matches = await matchComponents(sql, applicationId);
  const { items, open } = await prepare(sql, applicationId, matches);
  await keepUnknown(within, scopeKey, run.id, open, keyed);
  const facts: ReportFacts = {
    tool,
    version: '',
    complete: true,
    inventory: null,
    scannedAt: null,
    components: null,
  };
  const report = await importItems(sql, within, together(items), facts, {
    applicationId,
    projectId: application?.project_id ?? null,
    scopeKey,
    family: scopeKey,
    isInherited: false,
    commit: '',
    mode: 'sync',
    closePercentMax: 100, // advisories are what changed, not a checkout
    runId: run.id,
    actor,
    now,
    seenAt: now,
    keyed,
  });
  if (isAnyNew(report)) await meetNewFindings(within, { runId: run.id, scopeKey, actor, now });
  return { matches, report };
}

async function end(
  tx: Tx,
  { applicationId, actor, now, host }: Matching,
  run: Run,
  { matches, report, mark }: Matched & { readonly mark: number },
): Promise<Run> {
  const { problems: dropped, ...counts } = report;
  if (isAnyNew(report)) {
    await applyNewMutes(tx, actor, run.id, now);
    await queueImport(tx, run.id, actor, now);
  }
  // what was noted meanwhile has taken the mark away, and waits on
  await tx`delete from vm_osv_pending where application_id = ${applicationId} and mark = ${mark}`;
  const { problems, ...told } = unknownReport(matches.unknown);
  const result = { components: matches.components, matches: matches.hits.length, ...told, ...counts };
  const finished = { status: 'succeeded', result, problems: [...problems, ...dropped] } as const;
  return finishRun(tx, run.id, finished, new Date(host.now()));
}

async function prepare(sql: Queryable, applicationId: number, { hits, unknown }: Matches) {
  const ids = [...new Set([...hits, ...unknown].map(({ osvId }) => osvId))].sort();
  const groups = groupAliases(await readAdvisories(sql, ids));
  return {
    items: await recogniseOthers(sql, applicationId, await toRecords(hits, groups)),
    open: await toRecords(unknown, groups),
  };
}

async function* together<T>(items: readonly T[]): AsyncGenerator<readonly T[]> {
  yield items;
}

/** Applications of one round of the job. */
const applicationsPerRoundMax = 200;

/** For the background: matches what waits, one application after the other. */
export async function matchPending(
  host: Pick<Host, 'sql' | 'secrets' | 'now' | 'hasOneConnection'>,
  now: Date,
  signal?: AbortSignal,
): Promise<number> {
  const { sql } = host;
  const keyed = await readyForImport(host, null);
  for (let done = 0; ; done++) {
    if (done >= applicationsPerRoundMax || signal?.aborted === true) return done;
    const [next] = await sql<{ application_id: number }[]>`
      select application_id from vm_osv_pending order by noted_at, application_id limit 1 for update skip locked`;
    if (next === undefined) return done;
    const matching = { host, applicationId: next.application_id, actor: systemActor, now, keyed };
    await matchApplication({ ...matching, finish: async (work) => sql.begin(work) });
  }
}
