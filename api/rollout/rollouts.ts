// A rollout ring by ring. Everything it knows is in its row, and each step is taken under the `apply` lock: any control
// plane goes on where another one died. Until the last ring has the version, the active version stays the active one:
// who comes back, or joins, gets that, and a stop means no more than to put it on the reached nodes again.
import type { AuditLog } from '../audit/chain.js';
import { restoreTarget, type ChangeRoadParts, type Restored } from '../change/node-target.js';
import type { VersionToServe } from '../change/contract.js';
import { ApiError, systemActor, type Actor } from '../http-kit/index.js';
import { nextGeneration, type Fleet, type FleetOutcome } from '../nodes/fleet.js';
import type { NodeClient, StatusAnswer } from '../nodes/node-client.js';
import { listNodes } from '../nodes/node-store.js';
import { clearPending, markActive, readState } from '../settings/state.js';
import { findVersion } from '../settings/store.js';
import { noRollout, type RolloutRequest, type Rollouts } from './contract.js';
import { figuresOf, noFigures, sharesOf, since, sumOf, type Figures } from './figures.js';
import { judge, type Judgement } from './judge.js';
import { prepare } from './prepare.js';
import {
  endRollout,
  findRunning,
  insertRollout,
  recordSeen,
  recordStage,
  ringsOfNodes,
  type RolloutRow,
} from './store.js';

export interface RolloutParts extends ChangeRoadParts {
  /** The fleet of these nodes alone. */
  readonly fleetOf: (urls: readonly string[]) => Fleet;
  readonly client: Pick<NodeClient, 'read'>;
}

/** A node of a ring that was silent for so long has died of what it was given, or with it. */
const silentMsMax = 60_000;
const runningDays = 7;

export function createRollouts(parts: RolloutParts): Rollouts {
  const { database } = parts;
  const locked = <T>(work: (row: RolloutRow) => Promise<T>): Promise<T> =>
    database.withLock('apply', async () => {
      const row = await findRunning(database.sql);
      if (row === null) throw noRollout();
      return work(row);
    });
  return {
    start: (audit, actor, request) => database.withLock('apply', () => start(parts, audit, actor, request)),
    stop: (audit, actor) => locked((row) => stop(parts, audit, row, actor, `stopped by ${actor.name}`)),
    advance: (audit, actor) => locked((row) => goOn(parts, audit, row, actor)),
    async look(audit) {
      if ((await findRunning(database.sql)) === null) return;
      await database.withLock('apply', async () => {
        const row = await findRunning(database.sql); // another control plane may have taken the step
        if (row !== null) await look(parts, audit, row);
      });
    },
  };
}

async function start(
  parts: RolloutParts,
  audit: AuditLog,
  actor: Actor,
  { rings, limits }: RolloutRequest,
): Promise<RolloutRow> {
  const { sql } = parts.database;
  if ((await findRunning(sql)) !== null) throw new ApiError('conflict', 'Another rollout is under way.');
  const ofNodes = await ringsOfNodes(sql);
  const present = rings.filter((ring) => [...ofNodes.values()].includes(ring));
  if (present.length === 0)
    throw new ApiError('unfit', `No node has the label ring=${rings.join(' or ring=')}. Label one, or apply to all.`);
  const { version, target } = await prepare(parts);
  const { generation } = await readState(sql);
  const row = await insertRollout(sql, {
    version_id: version.id,
    artifact_sha256: target.sha256,
    managed_sha256: target.managedSha256 ?? '',
    rings: present,
    limits,
    started_by: actor.name,
    stage: -1,
    reached: [],
    baseline: {},
    generation,
    stage_at: new Date(parts.now()),
  });
  await note(parts, audit, actor, 'rollout.start', row, `began to roll out settings version ${version.id}`);
  return reach(parts, audit, row, actor);
}

/** Puts the version on the next ring; where a node refuses it, the rollout ends. */
async function reach(parts: RolloutParts, audit: AuditLog, row: RolloutRow, actor: Actor): Promise<RolloutRow> {
  const { sql } = parts.database;
  const stage = row.stage + 1;
  const isLast = stage >= row.rings.length;
  const rings = await ringsOfNodes(sql);
  const { urls } = parts.fleet;
  const added = urls.filter((url) => !row.reached.includes(url) && (isLast || rings.get(url) === row.rings[stage]));
  const target = await targetOf(parts, row);
  if (target === null) return stop(parts, audit, row, systemActor, 'the version does not compile any more');
  const baseline = await figuresOfNodes(parts);
  const answers = await parts.fleetOf(isLast ? urls : added).ask();
  const generation = nextGeneration(row.generation + 1, answers);
  // before the first node has it: a control plane that dies here leaves a row by which the next one finishes
  const reached = [...row.reached, ...added];
  const next = { stage, reached, baseline, generation, stage_at: new Date(parts.now()) };
  await recordStage(sql, row.id, next);
  await sql`update settings_state set generation = greatest(generation, ${generation})`;
  const outcome = await put(parts, isLast ? urls : added, target, generation, answers, await activeTarget(parts));
  const now: RolloutRow = { ...row, ...next, seen: null };
  if (outcome.kind === 'failed') {
    const stopped = await stop(parts, audit, now, systemActor, outcome.reason);
    if (row.stage >= 0) return stopped;
    throw new ApiError('apply_failed', `Nothing was activated: ${outcome.reason}`, {
      extensions: { nodes: outcome.nodes },
    });
  }
  if (isLast) return finish(parts, audit, now, target, outcome.generation, actor);
  if (row.stage >= 0) await note(parts, audit, actor, 'rollout.advance', now, `went on to ring ${row.rings[stage]}`);
  return now;
}

async function finish(
  parts: RolloutParts,
  audit: AuditLog,
  row: RolloutRow,
  target: Restored,
  generation: number,
  actor: Actor,
): Promise<RolloutRow> {
  const at = new Date(parts.now());
  const { id, version_id: version } = row;
  await parts.database.sql.begin(async (tx) => {
    await markActive(
      tx,
      version,
      { artifactSha256: target.sha256, managedSha256: target.managedSha256 ?? '' },
      generation,
    );
    await endRollout(tx, id, 'finished', '', at);
    await audit.record(tx, {
      actor,
      action: 'config.apply',
      summary: `applied settings version ${version} as generation ${generation}, at the end of rollout ${id}`,
      details: { version, generation, rollout: id },
    });
  });
  return { ...row, status: 'finished', ended_at: at };
}

async function stop(
  parts: RolloutParts,
  audit: AuditLog,
  row: RolloutRow,
  actor: Actor,
  reason: string,
): Promise<RolloutRow> {
  const { sql } = parts.database;
  const at = new Date(parts.now());
  await sql.begin(async (tx) => {
    // first of all: should this process die in the next step, the look at all nodes puts the active version back
    await endRollout(tx, row.id, 'stopped', reason, at);
    await clearPending(tx);
    await audit.record(tx, {
      actor,
      action: 'rollout.stop',
      summary: `took settings version ${row.version_id} back from ${nodesOf(row)}: ${reason}`,
      details: { version: row.version_id, rollout: row.id, ring: row.rings[row.stage] ?? null },
    });
  });
  const active = await activeTarget(parts);
  if (active !== null && row.reached.length > 0) {
    const answers = await parts.fleetOf(row.reached).ask();
    const generation = nextGeneration(row.generation + 1, answers);
    await put(parts, row.reached, active, generation, answers, null);
  }
  return { ...row, status: 'stopped', reason, ended_at: at };
}

const goOn = (parts: RolloutParts, audit: AuditLog, row: RolloutRow, actor: Actor): Promise<RolloutRow> =>
  reach(parts, audit, row, actor);

async function look(parts: RolloutParts, audit: AuditLog, row: RolloutRow): Promise<void> {
  const { sql } = parts.database;
  const nowMs = parts.now();
  // its control plane died while the nodes were being given it
  if (row.stage < 0 || row.stage >= row.rings.length) {
    await reach(parts, audit, { ...row, stage: row.stage < 0 ? -1 : row.stage - 1 }, systemActor);
    return;
  }
  const silent = (await listNodes(sql)).filter(
    ({ url, last_seen_at: seen }) =>
      row.reached.includes(url) && nowMs - Math.max(seen?.getTime() ?? 0, row.stage_at.getTime()) > silentMsMax,
  );
  if (silent.length > 0) {
    const who = silent.map(({ url }) => url).join(', ');
    await stop(parts, audit, row, systemActor, `${who} stopped answering`);
    return;
  }
  await bringUp(parts, row);
  const { judgement, seen } = await compare(parts, row);
  await recordSeen(sql, row.id, seen);
  const heldMs = nowMs - row.stage_at.getTime();
  if (judgement.kind === 'stop') await stop(parts, audit, row, systemActor, judgement.note);
  else if (judgement.kind === 'good' && heldMs >= row.limits.hold_seconds * 1000)
    await goOn(parts, audit, row, systemActor);
  else if (heldMs > runningDays * 86_400_000)
    await stop(parts, audit, row, systemActor, `nothing could be said for ${runningDays} days: ${judgement.note}`);
}

/** Nodes of reached rings that were away, or started again with what they had before. */
async function bringUp(parts: RolloutParts, row: RolloutRow): Promise<void> {
  const fleet = parts.fleetOf(row.reached);
  const answers = await fleet.ask();
  const behind = [...answers].filter(
    ([, answer]) => answer.kind === 'answered' && answer.status.ruleset !== row.artifact_sha256,
  );
  if (behind.length === 0) return;
  const target = await targetOf(parts, row);
  for (const [url, answer] of behind)
    if (target !== null) await fleet.activateOne(url, target, nextGeneration(row.generation, new Map([[url, answer]])));
}

async function compare(
  parts: RolloutParts,
  row: RolloutRow,
): Promise<{ readonly judgement: Judgement; readonly seen: NonNullable<RolloutRow['seen']> }> {
  const rings = await ringsOfNodes(parts.database.sql);
  const now = await figuresOfNodes(parts);
  const of = (isWanted: (url: string) => boolean): Figures =>
    sumOf(
      Object.keys(now).flatMap((url) =>
        isWanted(url) ? [since(row.baseline[url] ?? noFigures, now[url] ?? noFigures)] : [],
      ),
    );
  const isOfRing = (url: string): boolean => row.reached.includes(url) && rings.get(url) === row.rings[row.stage];
  const ring = of(isOfRing);
  const others = of((url) => !row.reached.includes(url) && row.baseline[url] !== undefined);
  const before = sumOf(Object.entries(row.baseline).flatMap(([url, one]) => (isOfRing(url) ? [one] : [])));
  const judgement = judge({ ring, others, before }, row.limits);
  const reference = judgement.against === 'before' ? before : others;
  const { against, note } = judgement;
  return { judgement, seen: { ring: sharesOf(ring), reference: sharesOf(reference), against, note } };
}

/** Of the nodes that this control plane reaches. */
async function figuresOfNodes({ fleet, client }: RolloutParts): Promise<Record<string, Figures>> {
  const all = await Promise.all(fleet.urls.map(async (url) => [url, await client.read(url, '/metrics')] as const));
  return Object.fromEntries(all.flatMap(([url, text]) => (text === null ? [] : [[url, figuresOf(text)]])));
}

const put = (
  parts: RolloutParts,
  urls: readonly string[],
  target: Restored,
  generation: number,
  answers: ReadonlyMap<string, StatusAnswer>,
  fallback: Restored | null,
): Promise<FleetOutcome> => parts.fleetOf(urls).activate(target, generation, answers, fallback);

async function targetOf(parts: RolloutParts, row: RolloutRow): Promise<Restored | null> {
  const version = await findVersion(parts.database.sql, row.version_id);
  if (version === null) return null;
  const served: VersionToServe = {
    ...version,
    artifactSha256: row.artifact_sha256,
    managedSha256: row.managed_sha256,
  };
  return restoreTarget(parts, served, 'present');
}

async function activeTarget(parts: RolloutParts): Promise<Restored | null> {
  const { sql } = parts.database;
  const { activeId } = await readState(sql);
  const active = activeId === null ? null : await findVersion(sql, activeId);
  return active === null ? null : restoreTarget(parts, active, 'present');
}

const nodesOf = ({ reached }: RolloutRow): string => `${reached.length} ${reached.length === 1 ? 'node' : 'nodes'}`;

async function note(
  parts: RolloutParts,
  audit: AuditLog,
  actor: Actor,
  action: 'rollout.start' | 'rollout.advance',
  row: RolloutRow,
  what: string,
): Promise<void> {
  await parts.database.sql.begin((tx) =>
    audit.record(tx, {
      actor,
      action,
      summary: `${what} (rings ${row.rings.join(', ')}, then all others)`,
      details: { version: row.version_id, rollout: row.id, ring: row.rings[Math.max(0, row.stage)] ?? null },
    }),
  );
}
