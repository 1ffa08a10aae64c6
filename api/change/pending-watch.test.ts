// A control plane that dies in the midst of an apply: any control plane finishes it within seconds, also one that does
// not lead the background jobs.
import t, { type Test } from 'tap';
import type { Database } from '../db/client.js';
import { readState } from '../settings/state.js';
import { findVersion } from '../settings/store.js';
import { ask, blockWord, startRoad } from '../testing/change-road.js';
import { startNode, startUpstream } from '../testing/data-plane.js';
import { onOneDatabase } from '../testing/databases.js';
import { freePort } from '../testing/free-port.js';
import { makeDirectory } from '../testing/temporary.js';
import { until } from '../testing/waiting.js';

async function killedMidway(t: Test, database: Database): Promise<void> {
  const { sql } = database;
  const upstream = await startUpstream(t);
  const [adminPort, dataDir] = [await freePort(), await makeDirectory(t, 'second')];
  const one = await startNode(t, { upstream });
  let two = await startNode(t, { upstream, adminPort, dataDir });
  const road = await startRoad(t, database, upstream, [one.url, two.url]);
  await road.patch({ custom_rules: [blockWord(1_000_001, 'plugh')] });
  t.match(await road.apply(), { status: 200 });
  const before = await readState(sql);

  // What such a death leaves: one node has the version, the other has not, and the version is pending.
  await two.stop();
  await road.patch({ custom_rules: [blockWord(1_000_001, 'xyzzy')] });
  t.match(await road.apply(), { status: 200 });
  two = await startNode(t, { upstream, adminPort, dataDir, resume: true });
  const { activeId: pendingId } = await readState(sql);
  const applied = await findVersion(sql, pendingId ?? 0);
  let end = (): void => {};
  let applying: Promise<void> = Promise.resolve();
  // the version is pending only once the lock is held: else the watch is there first
  await new Promise<void>((isHeld) => {
    applying = database.withLock('apply', () => {
      isHeld();
      return new Promise<void>((resolve) => {
        end = resolve;
      });
    });
  });
  await sql`
    update settings_state set active_id = ${before.activeId}, pending_id = ${pendingId},
      pending_artifact_sha256 = ${applied?.artifactSha256 ?? null},
      pending_managed_sha256 = ${applied?.managedSha256 ?? null}`;
  t.same([await ask(one, '/?q=xyzzy'), await ask(two, '/?q=xyzzy')], [403, 200], 'the nodes differ');
  t.match(await readState(sql), { pendingId }, 'an apply that holds its lock is left alone');
  end(); // the connection of a process that died gives the lock back
  await applying;
  const startedMs = performance.now();
  await until('the nodes agree', async () => (await ask(two, '/?q=xyzzy')) === 403);
  await until('the version is the active one', async () => (await readState(sql)).activeId === pendingId);
  t.comment(`agreed after ${Math.round(performance.now() - startedMs)} ms`);
  t.match(await readState(sql), { pendingId: null });
  t.equal(await ask(one, '/?q=xyzzy'), 403);
}

t.test('killed midway', (t) => onOneDatabase(t, 'a control plane dies in the midst of an apply', killedMidway));
