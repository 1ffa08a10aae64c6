// R2: a node whose control plane has the settings lets nothing pass under other rules than the owner's: until they are
// sent it answers 503, whatever became of the rules that served last.
import { createHash } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { GenerationReply } from '../contract/index.js';
import { configOf, listenerKinds, standardPlan, startBackend, startPlane, testMsMax, type Backend } from './harness.js';
import { doubleArtifact } from './inspection-double.js';
import { sendRaw, statusOf } from './raw-client.js';

t.setTimeout(testMsMax);
const shipping = { url: 'http://127.0.0.1:1', token: 'test-token' };
const bytes = Buffer.from(doubleArtifact({ ...standardPlan, needles: [...standardPlan.needles, 'OWNER'] }));
const sha256 = createHash('sha256').update(bytes).digest('hex');

const sitesOf = ({ url: upstream }: Backend): object => ({
  sites: [
    { name: 'shop', prefix: '/', upstream, protected: true },
    { name: 'lenient', prefix: '/lenient', upstream, protected: true, fail_mode: 'open' },
    { name: 'watched', prefix: '/watched', upstream, protected: true, mode: 'DetectionOnly' },
    { name: 'public', prefix: '/public', upstream, protected: false },
  ],
  timeouts: { drain_ms: 300 },
});

type Plane = Awaited<ReturnType<typeof startPlane>>;
const sent = (plane: Plane, settings: object): Promise<GenerationReply> =>
  plane.activate({
    id: 0,
    sha256,
    artifactPath: '',
    artifactBase64: bytes.toString('base64'),
    config: configOf(settings),
  });
const answers = async (plane: Plane, paths: readonly string[]): Promise<number[]> => {
  const found: number[] = [];
  for (const path of paths) {
    const { text } = await sendRaw(plane.ports.http, `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
    found.push(statusOf(text));
  }
  return found;
};
/** As a balancer asks, without a token. */
async function health({ ports }: Plane, path: string): Promise<{ status: number; body: unknown }> {
  const reply = await fetch(`http://127.0.0.1:${ports.admin}${path}`, { headers: { connection: 'close' } });
  return { status: reply.status, body: await reply.json() };
}
const paths = ['/?OWNER', '/', '/lenient?OWNER', '/watched?OWNER', '/public?OWNER', '/public/..;/x?OWNER'];

/** A node that served the owner's rule and has stopped. */
async function prepare(t: Test, kind: (typeof listenerKinds)[number]) {
  const backend = await startBackend(t, (_request, response) => response.end('ok'));
  const settings = sitesOf(backend);
  const dataDir = t.testdir({});
  const first = await startPlane(t, kind, settings, { dataDir });
  t.match(await sent(first, settings), { outcome: 'active', isPersisted: true });
  t.same(await answers(first, paths), [403, 200, 403, 200, 200, 403]);
  await first.stop();
  return { settings, dataDir };
}

// What is decided here is decided above the listeners: one of them tells as much as three.
for (const kind of listenerKinds.slice(0, 1)) {
  t.test(`${kind}: R2: rules that cannot be used are not replaced by others`, async (t) => {
    const { settings, dataDir } = await prepare(t, kind);
    const current = join(dataDir, 'current.json');
    const whole = await readFile(current, 'utf8');
    const foreign = createHash('sha256').update('{}').digest('hex');
    const own = join(dataDir, 'artifacts', sha256);
    const losses: readonly [string, () => Promise<unknown>, RegExp][] = [
      ['damaged', () => writeFile(own, 'damaged'), /its artifact is damaged/],
      ['gone', () => rm(own), /ENOENT/],
      [
        'of another release',
        async () => {
          await writeFile(join(dataDir, 'artifacts', foreign), '{}');
          await writeFile(current, whole.replace(sha256, foreign));
        },
        /the rules that served last cannot be started again/,
      ],
    ];
    for (const [why, lose, reason] of losses) {
      await lose();
      const before = await readFile(current, 'utf8');
      const plane = await startPlane(t, kind, settings, { dataDir, resume: true, shipping, workers: 2 });
      t.same(
        await answers(plane, paths),
        [503, 503, 503, 200, 200, 503],
        `${why}: protected sites are closed, also those that fail open; those whose rules block nothing are not`,
      );
      t.match(await plane.status(), { ruleset: '', closed: reason }, `${why}: and it says why`);
      t.match(
        await health(plane, '/readyz'),
        { status: 503, body: { status: 'closed', detail: reason } },
        `${why}: it is not ready`,
      );
      t.match(await health(plane, '/healthz'), { status: 200 }, `${why}: and not to be restarted for it`);
      t.equal(await readFile(current, 'utf8'), before, `${why}: nothing is forgotten`);
      t.match(await sent(plane, settings), { outcome: 'active', isPersisted: true });
      t.match(await health(plane, '/readyz'), { status: 200, body: { status: 'ok' } }, `${why}: and ready`);
      t.same(await answers(plane, paths), [403, 200, 403, 200, 200, 403], `${why}: the control plane has spoken`);
      t.match(await plane.status(), { ruleset: sha256, closed: null });
      await plane.stop();
    }
  });

  t.test(`${kind}: R2: no record of what served`, async (t) => {
    const { settings, dataDir } = await prepare(t, kind);
    await rm(join(dataDir, 'current.json'));
    const managed = await startPlane(t, kind, settings, { dataDir, resume: true, shipping, wasManaged: true });
    t.same(await answers(managed, paths), [503, 503, 503, 503, 503, 503], 'a lost one: nothing is known but that');
    t.match(await managed.status(), { closed: /what served last is gone/ });
    await managed.stop();
    const empty = await startPlane(t, kind, settings, { dataDir, resume: true, shipping });
    t.same(await answers(empty, ['/?EVIL', '/']), [403, 200], 'a first start begins with its local settings');
    t.match(await empty.status(), { closed: null });
    await empty.stop();
  });

  t.test(`${kind}: R2: a change that is refused opens nothing`, async (t) => {
    const { settings, dataDir } = await prepare(t, kind);
    await rm(join(dataDir, 'artifacts', sha256));
    const plane = await startPlane(t, kind, settings, { dataDir, resume: true, shipping });
    const wrong = { id: 0, sha256: 'a'.repeat(64), artifactPath: '', config: configOf(settings) };
    t.match(await plane.activate(wrong), { outcome: 'refused' });
    t.same(await answers(plane, ['/?OWNER', '/']), [503, 503]);
    t.match(await plane.status(), { closed: /ENOENT/ });
    await plane.stop();
  });
}
