// What the advisories say of one application becomes findings, by the road of every import: the same fingerprints, the
// same states, the same rules for what is gone. A finding that another tool has already gets one more sighting.
import { systemActor, type Actor } from '#http-kit';
import type { Host } from '../host.js';
import type { Tx } from '../database.js';
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
import { lockScope } from '../imports/run/scope-lock.js';
import { finishRun, insertRun, type Run } from '../kit/runs.js';
import { severityNumbers } from '../findings/words.js';
import { groupAliases, matchComponents, type Hit, type KnownAdvisory, type Matches, type Unknown } from './match.js';

const tool = 'OSV';
const problemsMax = 200;
const evidenceMax = 20;
/** Values of one statement. */
const chunk = 5000;

async function readAdvisories(tx: Tx, ids: readonly string[]): Promise<KnownAdvisory[]> {
  const found: KnownAdvisory[] = [];
  for (let from = 0; from < ids.length; from += chunk)
    found.push(
      ...(await tx<KnownAdvisory[]>`
        select id, aliases, facts from vm_osv where id in ${tx(ids.slice(from, from + chunk))} order by id`),
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
function toRecords(pairs: Pairs, groups: ReadonlyMap<string, readonly KnownAdvisory[]>): FindingRecord[] {
  const groupOf = new Map([...groups].flatMap(([root, all]) => all.map(({ id }) => [id, root] as const)));
  const together = groupBy(pairs, (pair) => `${pair.package}\n${groupOf.get(pair.osvId) ?? pair.osvId}`);
  return [...together]
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([, all]) => {
      const advisories = groups.get(groupOf.get(all[0]?.osvId ?? '') ?? '') ?? [];
      const named = new Set(all.map(({ osvId }) => osvId));
      const hits = [...new Map(all.map((pair) => [pair.component.id, pair])).values()].map((pair) => ({
        component: pair.component,
        fixed: 'fixed' in pair ? pair.fixed : null,
        canBeFixed: 'canBeFixed' in pair ? pair.canBeFixed : null,
      }));
      return toRecord(
        advisories.filter(({ id }) => named.has(id)),
        hits,
      );
    });
}

/** Findings that other tools have of the same weakness in the same package, under whichever of its ids. */
async function recogniseOthers(
  tx: Tx,
  applicationId: number,
  records: readonly FindingRecord[],
): Promise<FindingRecord[]> {
  const keysOfRecord = (one: FindingRecord): string[] => one.vulnIds.flatMap((id) => clusterOf(id, one.location) ?? []);
  const wanted = [...new Set(records.flatMap(keysOfRecord))];
  const known = new Map<string, string>();
  for (let from = 0; from < wanted.length; from += chunk) {
    const rows = await tx<{ cluster_key: string; fingerprint: string }[]>`
      select cluster_key, fingerprint from vm_findings
      where application_id = ${applicationId} and cluster_key in ${tx(wanted.slice(from, from + chunk))}
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
  tx: Tx,
  scopeKey: string,
  runId: number,
  records: readonly FindingRecord[],
  keyed: Keyed,
): Promise<void> {
  const keys = records.map((one) => keyed(placeKey(one)));
  for (let from = 0; from < keys.length; from += chunk)
    await tx`
      update vm_occurrences set last_run = ${runId}
      where scope_key = ${scopeKey} and tool_key in ${tx(keys.slice(from, from + chunk))}`;
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

/** Matches one application within the caller's transaction; the run says what came of it. */
export async function matchApplication(
  tx: Tx,
  applicationId: number,
  actor: Actor,
  now: Date,
  keyed: Keyed,
): Promise<Run> {
  const scopeKey = `${applicationId}|osv||`;
  await lockScope(tx, scopeKey);
  await tx`delete from vm_osv_pending where application_id = ${applicationId}`;
  const [application] = await tx<{ project_id: number | null }[]>`
    select project_id from vm_applications where id = ${applicationId}`;
  const run = await insertRun(
    tx,
    { kind: 'osv', applicationId, input: {}, createdBy: actor.name, scopeKey, status: 'running' },
    now,
  );
  const matches = await matchComponents(tx, applicationId);
  const { items, open } = await prepare(tx, applicationId, matches);
  await keepUnknown(tx, scopeKey, run.id, open, keyed);
  const facts: ReportFacts = {
    tool,
    version: '',
    complete: true,
    inventory: null,
    scannedAt: null,
    components: null,
  };
  const within: Within = { batchSize: 500, run: async (work) => work(tx) };
  const { problems: dropped, ...counts } = await importItems(tx, within, together(items), facts, {
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
  if (counts.created + counts.updated + counts.reopened > 0) {
    await meetNewFindings(within, { runId: run.id, scopeKey, actor, now });
    await applyNewMutes(tx, actor, run.id, now);
    await queueImport(tx, run.id, actor, now);
  }
  const { problems, ...told } = unknownReport(matches.unknown);
  const result = { components: matches.components, matches: matches.hits.length, ...told, ...counts };
  return finishRun(tx, run.id, { status: 'succeeded', result, problems: [...problems, ...dropped] }, now);
}

async function prepare(tx: Tx, applicationId: number, { hits, unknown }: Matches) {
  const ids = [...new Set([...hits, ...unknown].map(({ osvId }) => osvId))].sort();
  const groups = groupAliases(await readAdvisories(tx, ids));
  return {
    items: await recogniseOthers(tx, applicationId, toRecords(hits, groups)),
    open: toRecords(unknown, groups),
  };
}

async function* together<T>(items: readonly T[]): AsyncGenerator<readonly T[]> {
  yield items;
}

/** Applications of one round of the job. */
const applicationsPerRoundMax = 200;

/** For the background: matches what waits, each application in a transaction of its own. */
export async function matchPending(
  host: Pick<Host, 'sql' | 'secrets'>,
  now: Date,
  signal?: AbortSignal,
): Promise<number> {
  const { sql } = host;
  const keyed = await readyForImport(host, null);
  for (let done = 0; ; done++) {
    if (done >= applicationsPerRoundMax || signal?.aborted === true) return done;
    const isDone = await sql.begin(async (tx) => {
      const [next] = await tx<{ application_id: number }[]>`
        select application_id from vm_osv_pending order by noted_at, application_id limit 1 for update skip locked`;
      if (next === undefined) return false;
      await matchApplication(tx, next.application_id, systemActor, now, keyed);
      return true;
    });
    if (!isDone) return done;
  }
}
