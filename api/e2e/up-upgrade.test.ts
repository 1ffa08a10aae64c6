// R2: after an update, or with files lost, `gatehouse up` lets nothing pass that the owner's rules refuse: from the
// moment its port is open until it says that it is up, and while its control plane cannot start.
import { createHash } from 'node:crypto';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { blockWord } from '../testing/change-road.js';
import { startUpstream } from '../testing/data-plane.js';
import { copyMigratedTemplate } from '../testing/database-templates.js';
import {
  callApi,
  freePorts,
  isUp,
  logIn,
  makeHome,
  startUp,
  stop,
  textOfAll,
  type Up,
} from '../testing/processes/up.js';
import { writeRuleSet } from '../testing/rule-set.js';
import { pause, testMsMax, until as untilSo } from '../testing/waiting.js';

t.setTimeout(testMsMax);

const home = await makeHome(t);
const data = join(home, 'data');
// the first start of an installation makes one, which is for the tests of `up` to see and takes some seconds
await rename(await copyMigratedTemplate(t), join(data, 'db'));
const ports = await freePorts();
const given = {
  ...ports,
  GATEHOUSE_ENV_FILE: join(home, '.env'),
  GATEHOUSE_DATA: data,
  WAF_BIND: '127.0.0.1',
  DATA_WORKERS: '2',
  CRS_DIR: await writeRuleSet(t),
  UPSTREAM_CUSTOMER: await startUpstream(t, 'an application of my own'),
};
const site = `http://127.0.0.1:${ports.WAF_PORT}`;
const word = '/?q=zorkmid';
const current = join(data, 'current.json');
const artifact = (sha256: string): string => join(data, 'artifacts', sha256);

interface Current {
  readonly sha256: string;
}
const readCurrent = async (): Promise<Current> => JSON.parse(await readFile(current, 'utf8')) as Current;

const statusOf = (path: string): Promise<number> =>
  fetch(site + path, { headers: { connection: 'close' } }).then(
    async (reply) => {
      await reply.arrayBuffer();
      return reply.status;
    },
    () => 0, // not open yet
  );

/** A hole of this length would be met; without a pause the questions take the processor from what they wait for. */
const betweenMs = 5;

/** What the owner's word is answered, until `done`. */
async function probeUntil(done: Promise<unknown>): Promise<ReadonlyMap<number, number>> {
  const answers = new Map<number, number>();
  let isOver = false;
  const watched = done.finally(() => (isOver = true));
  while (!isOver) {
    const status = await statusOf(word);
    if (status !== 0) answers.set(status, (answers.get(status) ?? 0) + 1);
    await pause(betweenMs);
  }
  await watched;
  return answers;
}

/** An artifact that no program of today reads, under its own hash, as another release would have left it. */
async function makeForeign(): Promise<void> {
  const stored = await readCurrent();
  const bytes = await readFile(artifact(stored.sha256));
  bytes[7] = 0; // the version of the format
  const foreign = createHash('sha256').update(bytes).digest('hex');
  await writeFile(artifact(foreign), bytes);
  await rm(artifact(stored.sha256)); // the control plane has no other, either
  await writeFile(current, JSON.stringify({ ...stored, sha256: foreign }));
}

async function endsWell(t: Test, up: Up): Promise<void> {
  t.match(up.said(), /Gatehouse is up \(/, 'it says so when it does');
  t.same([await statusOf(word), await statusOf('/?q=lamp')], [403, 200], 'the owner’s rules serve');
  t.equal(await stop(up), 0);
}

t.test('R2: a rule of the owner, applied', async (t) => {
  const up = startUp(t, given);
  await up.until(isUp);
  const password = /password (\S+) {3}\(shown this once/.exec(up.said())?.[1] ?? '';
  const token = (await logIn(ports.API_PORT, password)).body.token ?? '';
  const call = async (method: string, path: string, body: object | null): Promise<number> =>
    (await callApi(ports.API_PORT, method, path, body, token)).status;
  t.equal(await call('POST', '/api/account/password', { current: password, password: 'Quiet-river-stone-41' }), 204);
  t.equal(await call('PATCH', '/api/settings', { custom_rules: [blockWord(1_000_001, 'zorkmid')] }), 200);
  t.equal(await call('POST', '/api/apply', null), 200);
  t.equal(await statusOf(word), 403);
  t.equal(await stop(up), 0);
});

const losses: readonly [what: string, lose: () => Promise<unknown>, why: RegExp][] = [
  ['rules of another release', makeForeign, /rules that served last cannot be started again/],
  ['an artifact that is gone', async () => rm(artifact((await readCurrent()).sha256)), /cannot be used \(ENOENT/],
  [
    'an artifact that is damaged',
    async () => writeFile(artifact((await readCurrent()).sha256), 'damaged'),
    /its artifact is damaged/,
  ],
  ['no record of what served', () => rm(current), /what served last is gone/],
  ['a record that nobody can read', () => writeFile(current, '{"id": 7, "sha'), /what served last, cannot be used/],
];
for (const [what, lose, why] of losses)
  t.test(`R2: ${what}: 503 or refused, never a pass`, async (t) => {
    await lose();
    const up = startUp(t, given);
    const answers = await probeUntil(up.until(isUp));
    t.ok(
      [...answers.values()].some((count) => count > 0),
      'requests were answered before it said that it is up',
    );
    t.same(
      [...answers.keys()].filter((status) => status !== 403 && status !== 503),
      [],
      JSON.stringify([...answers]),
    );
    t.match(up.said(), why, 'what is wrong is told');
    t.notMatch(up.said(), /compiling the rules/, 'nobody waits for rules of the local settings, which serve nowhere');
    await endsWell(t, up);
  });

t.test('R2: the control plane cannot start', async (t) => {
  const database = join(data, 'db');
  const takeAway = async (): Promise<void> => {
    await rename(database, `${database}.away`);
    await writeFile(database, 'no directory');
  };
  const bringBack = async (): Promise<void> => {
    await rm(database);
    await rename(`${database}.away`, database);
  };
  await t.test('what served last serves where it can be loaded', async (t) => {
    await takeAway();
    const up = startUp(t, given);
    const answers = await probeUntil(up.until(isUp));
    t.same([...answers.keys()], [403], JSON.stringify([...answers]));
    t.match(up.said(), /Gatehouse is up \(the rules are those that served last\)/);
    t.match(up.said(), /control plane {5}not up yet/);
    t.equal(await statusOf('/?q=lamp'), 200);
    t.equal(await stop(up), 0);
    await bringBack();
  });
  await t.test('what cannot be loaded is closed, told, and served when the control plane is there', async (t) => {
    await takeAway();
    await makeForeign();
    const up = startUp(t, given);
    const answers = await probeUntil(up.until(isUp));
    t.same([...answers.keys()], [503], JSON.stringify([...answers]));
    t.notMatch(up.said(), /Gatehouse is up|in force now/);
    t.match(up.said(), /Gatehouse has started, but it is NOT serving: .*503/);
    await bringBack();
    const later = await probeUntil(up.until(/the active settings are in force now/));
    t.same(
      [...later.keys()].filter((status) => status !== 403 && status !== 503),
      [],
      JSON.stringify([...later]),
    );
    t.same([await statusOf(word), await statusOf('/?q=lamp')], [403, 200]);
    t.equal(await stop(up), 0);
    t.match(await textOfAll(join(data, 'log')), /cannot be started again .*answered 503 until the control plane sends/);
  });
  await untilSo('the port is free', async () => (await statusOf('/')) === 0);
});
