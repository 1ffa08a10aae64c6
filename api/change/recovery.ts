// What fell off the road of a change is brought back: an activation that a crash interrupted, a node that was away.
import type { ProxyConfig } from '#proxy/contract';
import type { AuditLog } from '../audit/chain.js';
import { systemActor } from '../http-kit/index.js';
import { nameOf } from '../nodes/directory.js';
import type { ActivateAnswer, StatusAnswer } from '../nodes/node-client.js';
import { nextGeneration } from '../nodes/fleet.js';
import { listNodes } from '../nodes/node-store.js';
import { findRunning } from '../rollout/store.js';
import { clearPending, markActive, readState } from '../settings/state.js';
import { findVersion } from '../settings/store.js';
import { findArtifact } from './artifacts.js';
import type { VersionToServe } from './contract.js';
import { expectedOf, restoreTarget, viewNode, type ChangeRoadParts, type Restored } from './node-target.js';

export type Healed = 'nothing' | 'finished' | 'forgotten' | 'waiting';

/**
 * A pending version that some node serves is put on all of them and becomes active; one that none serves is forgotten.
 * As long as no node answers, nobody can tell, and it stays pending.
 */
export async function healActivation(parts: ChangeRoadParts, audit: AuditLog): Promise<Healed> {
  const { database, fleet } = parts;
  const { sql } = database;
  if ((await readState(sql)).pendingId === null) return 'nothing';
  return database.withLock('apply', async () => {
    const state = await readState(sql);
    if (state.pendingId === null) return 'nothing';
    const version = await findVersion(sql, state.pendingId);
    const pending: VersionToServe | null =
      version === null
        ? null
        : { ...version, artifactSha256: state.pendingArtifactSha256, managedSha256: state.pendingManagedSha256 };
    const active = state.activeId === null ? null : await findVersion(sql, state.activeId);
    const answers = await fleet.ask();
    const answered = [...answers.values()].flatMap((answer) => (answer.kind === 'answered' ? [answer.status] : []));
    if (answered.length === 0) return 'waiting';
    const isServed = answered.some(
      ({ generation, ruleset }) => generation === state.generation && ruleset === pending?.artifactSha256,
    );
    const target = isServed && pending !== null ? await restoreTarget(parts, pending, 'present') : null;
    const outcome =
      target === null
        ? null
        : await fleet.activate(
            target,
            nextGeneration(state.generation + 1, answers),
            answers,
            active === null ? null : await restoreTarget(parts, active, 'present'),
          );
    const isFinished = outcome?.kind === 'active' && target !== null;
    await sql.begin(async (tx) => {
      if (isFinished) await markActive(tx, target.versionId, appliedWith(target), outcome.generation);
      else await clearPending(tx);
      const summary = isFinished
        ? `finished the activation of settings version ${target.versionId} that a restart had interrupted`
        : `settings version ${state.pendingId} was on its way when the server stopped and serves nowhere; ` +
          'what served before serves';
      await audit.record(tx, {
        actor: systemActor,
        action: 'config.apply.healed',
        summary,
        details: { version: state.pendingId },
      });
    });
    return isFinished ? 'finished' : 'forgotten';
  });
}

/** Asks every node and brings those that are behind up to date. One line about it. */
export async function reconcileNodes(parts: ChangeRoadParts, audit: AuditLog): Promise<string> {
  const { database, fleet } = parts;
  const healed = await healActivation(parts, audit);
  const answers = await fleet.ask();
  const state = await readState(database.sql);
  const rows = await listNodes(database.sql);
  const away = [...answers.values()].filter(({ kind }) => kind === 'unreachable').length;
  const lines = [`${answers.size - away} of ${answers.size} nodes answer`];
  if (healed !== 'nothing') lines.push(`an interrupted activation was ${healed}`);
  if (state.pendingId !== null) return lines.join('; ');
  if (state.activeId === null) {
    for (const [url, answer] of answers)
      if (hadSettings(url) && isClosed(answer)) lines.push(`${url} ${await bringUp(parts, url, audit)}`);
    return lines.join('; ');
  }
  const expected = await expectedOf(parts, state.activeId);
  const reached = (await findRunning(database.sql))?.reached ?? []; // they are the rollout's
  for (const [url, answer] of answers) {
    if (reached.includes(url)) continue;
    const { state: standing } = viewNode(
      url,
      answer,
      rows.find((row) => row.url === url),
      expected,
    );
    if (standing === 'behind') lines.push(`${url} ${await bringUp(parts, url, audit)}`);
  }
  return lines.join('; ');
}

/** The settings that a control plane begins with: until the first apply its node serves these, from its own file. */
const firstVersionId = 1;
/** Nodes that enrol begin without any: they wait for the first apply (api/enrolment/first-apply.ts). */
const hadSettings = (url: string): boolean => nameOf(url) === null;
const isClosed = (answer: StatusAnswer | undefined): boolean =>
  answer?.kind === 'answered' && answer.status.isClosed === true;

/**
 * Under the lock, with everything read again: the first look was without it. Before the first apply only a node that
 * cannot serve any more what it had (a release with another format of rules) is given the settings of the beginning.
 */
async function bringUp(parts: ChangeRoadParts, url: string, audit: AuditLog): Promise<string> {
  const { database, fleet } = parts;
  const { sql } = database;
  return database.withLock('apply', async () => {
    const state = await readState(sql);
    const answer = (await fleet.ask()).get(url);
    const row = (await listNodes(sql)).find((one) => one.url === url);
    const isOfRollout = (await findRunning(sql))?.reached.includes(url) ?? false;
    const servedId = state.activeId ?? (isClosed(answer) ? firstVersionId : null);
    if (isOfRollout || state.pendingId !== null || servedId === null || answer?.kind !== 'answered')
      return 'is up to date';
    const standing = viewNode(url, answer, row, await expectedOf(parts, servedId));
    if (standing.state !== 'behind') return 'is up to date';
    const version = await findVersion(sql, servedId);
    const brought =
      version === null
        ? null
        : await activateRestored(parts, url, version, nextGeneration(state.generation, new Map([[url, answer]])));
    if (brought === null) return 'cannot be brought up to date: the active settings do not compile any more';
    const { target, result } = brought;
    if (result.kind !== 'active')
      return `did not take it: ${result.kind === 'refused' ? result.reason : result.detail}`;
    const { versionId, config } = target;
    const { generation } = result;
    const what = `settings version ${versionId} as its generation ${generation}`;
    await sql.begin(async (tx) => {
      // the other nodes and the next replay begin with what was taken
      await markActive(tx, versionId, appliedWith(target), state.activeId === null ? generation : state.generation);
      await audit.record(tx, {
        actor: systemActor,
        action: 'nodes.reconcile',
        summary: `brought ${url} up to ${what}: ${standing.detail}${describeSites(config)}`,
        details: { url, version: versionId, generation, sites: sitesOf(config) },
      });
    });
    return `now serves version ${versionId} as generation ${generation}`;
  });
}

const appliedWith = ({ sha256, managedSha256 }: Restored) => ({ artifactSha256: sha256, managedSha256 });

/** null: the version does not compile any more. */
async function activateRestored(
  parts: ChangeRoadParts,
  url: string,
  version: VersionToServe,
  generation: number,
): Promise<{ readonly target: Restored; readonly result: ActivateAnswer } | null> {
  const target = await restoreTarget(parts, version, 'present');
  if (target === null) return null;
  const result = await parts.fleet.activateOne(url, target, generation);
  if (result.kind !== 'refused') return { target, result };
  // a damaged file, or the artifact of an older program: the settings are what counts, so they are compiled anew
  const isDamaged = findArtifact(parts.artifactsDirectory, target.sha256) === null;
  const again = await restoreTarget(parts, version, 'none');
  if (again === null || (again.sha256 === target.sha256 && !isDamaged)) return { target, result };
  return { target: again, result: await parts.fleet.activateOne(url, again, generation) };
}

/** Without what a URL may carry beside its address: the audit log is read by many. */
const sitesOf = ({ sites }: ProxyConfig): { name: string; upstream: string }[] =>
  sites.map(({ name, upstream }) => ({
    name,
    upstream: new URL(upstream).origin + new URL(upstream).pathname.replace(/\/$/, ''),
  }));

/** Those of the settings can be read in the version; those of the environment stand nowhere else. */
function describeSites(config: ProxyConfig): string {
  return config.sitesFromEnvironment === true
    ? `; sites of the environment: ${sitesOf(config)
        .map(({ name, upstream }) => `${name} ${upstream}`)
        .join(', ')}`
    : '';
}
