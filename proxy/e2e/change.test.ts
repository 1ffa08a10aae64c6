// The road of a change: prepared beside the traffic, swapped between two requests, refused without a trace; and
// workers that die without taking others along.
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import type { GenerationReply } from '../contract/index.js';
import type { DataPlane } from '../main/data-plane.js';
import { hammer } from './hammer.js';
import {
  admin,
  configOf,
  listenerKinds,
  metricsWith,
  standardPlan,
  startBackend,
  startPlane,
  testMsMax,
  until,
  workersOf,
} from './harness.js';
import { doubleArtifact } from './inspection-double.js';
import { bodyOf, sendRaw, statusOf } from './raw-client.js';

function requestFor(settings: object, plan: object, extra: object = {}): string {
  const bytes = Buffer.from(doubleArtifact({ ...standardPlan, ...plan }));
  return JSON.stringify({
    id: 0,
    sha256: createHash('sha256').update(bytes).digest('hex'),
    artifactPath: '',
    artifactBase64: bytes.toString('base64'),
    config: configOf(settings),
    ...extra,
  });
}

async function put(plane: DataPlane, body: string): Promise<GenerationReply> {
  return (await (await admin(plane, '/generation', { method: 'PUT', body })).json()) as GenerationReply;
}

t.setTimeout(testMsMax);
const probe = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;

for (const kind of listenerKinds) {
  t.test(`${kind}: reloads under load: nothing fails, nothing is mixed`, async (t) => {
    // Odd generations block WATCHED and lead to backend A, even ones pass it to backend B: a mixed request would show
    // as A.
    const a = await startBackend(t, (_request, response) => response.end('A'));
    const b = await startBackend(t, (_request, response) => response.end('B'));
    const settings = (backend: string): object => ({
      sites: [{ name: 'shop', prefix: '/', upstream: backend, protected: true }],
      timeouts: { drain_ms: 500 },
    });
    const odd = { needles: [...standardPlan.needles, 'WATCHED'] };
    const plane = await startPlane(t, kind, settings(a.url), { plan: odd, workers: 2 });
    const seen = new Map<string, number>();
    const load = hammer(plane.ports.http, 32, '/?WATCHED', (status, body) => {
      const key = status === 403 ? 'blocked' : `${status} ${body}`;
      seen.set(key, (seen.get(key) ?? 0) + 1);
    });
    const count = (round: number): number => seen.get(round % 2 === 0 ? '200 B' : 'blocked') ?? 0;
    for (let round = 2; round <= 21; round += 1) {
      const before = count(round);
      const reply = await put(
        plane,
        round % 2 === 0 ? requestFor(settings(b.url), {}) : requestFor(settings(a.url), odd),
      );
      t.match(reply, { outcome: 'active', id: round, workers: plane.workers }, `generation ${round}`);
      t.ok(await until(() => count(round) > before), `generation ${round} serves`);
    }
    const { replies, failures } = await load.stop();
    t.equal(failures, 0, `no failure in ${replies} replies`);
    t.strictSame(
      [...seen.keys()].sort(),
      ['200 B', 'blocked'],
      'never one generation’s rules with the other’s upstream',
    );
    t.ok(
      await until(async () => (await workersOf(plane)).every(({ retiring }) => retiring === 0)),
      'old generations are gone',
    );
  });

  t.test(`${kind}: R13: requests are answered while a worker loads, and the swap comes after it`, async (t) => {
    const backend = await startBackend(t, (_request, response) => response.end('ok'));
    const settings = {
      sites: [{ name: 'shop', prefix: '/', upstream: backend.url, protected: true }],
      timeouts: { drain_ms: 500 },
    };
    const plane = await startPlane(t, kind, settings, { workers: 2 });
    const load = hammer(plane.ports.http, 16, '/', () => {});
    for (const version of [2, 3]) {
      const body = requestFor(settings, { version, requestsWhileLoading: 20 });
      t.match(await put(plane, body), { outcome: 'active', id: version, workers: plane.workers });
    }
    const { failures } = await load.stop();
    t.equal(failures, 0);
  });

  t.test(`${kind}: a change that is not good changes nothing`, async (t) => {
    const backend = await startBackend(t, (_request, response) => response.end('ok'));
    const settings = {
      sites: [{ name: 'shop', prefix: '/', upstream: backend.url, protected: true }],
      timeouts: { drain_ms: 500 },
    };
    const plane = await startPlane(t, kind, settings);
    const bad: readonly [why: string, body: string, reason: RegExp][] = [
      [
        'an engine that refuses',
        JSON.stringify({
          ...(JSON.parse(requestFor(settings, {})) as object),
          artifactBase64: Buffer.from('{}').toString('base64'),
          sha256: createHash('sha256').update('{}').digest('hex'),
        }),
        /refused the artifact/,
      ],
      ['a wrong hash', requestFor(settings, {}, { sha256: 'a'.repeat(64) }), /SHA-256/],
      [
        'a ruleset that sees nothing',
        requestFor(settings, { needles: ['something else'] }),
        /self-test: an SQL injection/,
      ],
      ['a ruleset that blocks everybody', requestFor(settings, { needles: ['Mozilla', "' OR '"] }), /ordinary/],
      ['an old id', requestFor(settings, {}, { id: 1 }), /not newer/],
      ['no configuration', JSON.stringify({ id: 0, sha256: '', artifactPath: '' }), /not a generation/],
      [
        'a missing file',
        requestFor(settings, {}, { artifactBase64: undefined, artifactPath: '/nowhere', sha256: 'b'.repeat(64) }),
        /ENOENT/,
      ],
    ];
    for (const [why, body, reason] of bad) {
      const reply = await put(plane, body);
      t.match(reply, { outcome: 'refused', reason }, why);
      t.equal(statusOf((await sendRaw(plane.ports.http, probe('/?EVIL'))).text), 403, `${why}: the old one serves`);
    }
    t.equal((await plane.status())['generation'], 1);
    t.match(await metricsWith(plane, 'waap_config_last_apply_success 0'), 'waap_config_last_apply_success 0');
  });

  t.test(`${kind}: a restart resumes the last active generation, and survives a damaged one`, async (t) => {
    const backend = await startBackend(t, (_request, response) => response.end('ok'));
    const settings = {
      sites: [{ name: 'shop', prefix: '/', upstream: backend.url, protected: true }],
      timeouts: { drain_ms: 300 },
    };
    const dataDir = await mkdtemp(join(tmpdir(), 'gatehouse-resume-'));
    t.teardown(() => rm(dataDir, { recursive: true, force: true }));
    const first = await startPlane(t, kind, settings, { dataDir });
    t.match(await put(first, requestFor(settings, { needles: [...standardPlan.needles, 'NEWER'] })), {
      outcome: 'active',
      id: 2,
    });
    await first.stop();
    const second = await startPlane(t, kind, settings, { dataDir, resume: true });
    t.equal((await second.status())['generation'], 2);
    t.equal(statusOf((await sendRaw(second.ports.http, probe('/?NEWER'))).text), 403);
    t.equal((await admin(second, '/threats', { method: 'PUT', body: '127.0.0.9\n' })).status, 200);
    await second.stop();
    // Rules that cannot be used any more take neither the sites nor the deny list with them: requests go where they
    // went.
    const elsewhere = { sites: [{ name: 'shop', prefix: '/', upstream: 'http://127.0.0.1:1', protected: true }] };
    const unusable: readonly [why: string, bytes: string | null, sha256?: string][] = [
      ['damaged', 'damaged'],
      ['gone', null],
      ['of another release', '{}', createHash('sha256').update('{}').digest('hex')],
    ];
    for (const [why, bytes, sha256] of unusable) {
      const stored = JSON.parse(await readFile(join(dataDir, 'current.json'), 'utf8')) as {
        id: number;
        sha256: string;
      };
      const named = { ...stored, sha256: sha256 ?? stored.sha256 };
      await writeFile(join(dataDir, 'current.json'), JSON.stringify(named));
      const artifact = join(dataDir, 'artifacts', named.sha256);
      if (bytes === null) await rm(artifact);
      else await writeFile(artifact, bytes);
      const next = await startPlane(t, kind, elsewhere, { dataDir, resume: true });
      t.equal(statusOf((await sendRaw(next.ports.http, probe('/?EVIL'))).text), 403, `${why}: the local rules protect`);
      t.equal(statusOf((await sendRaw(next.ports.http, probe('/?NEWER'))).text), 200, `${why}: what served last`);
      t.match(await next.status(), { generation: stored.id + 1, threats: { networks: 1 } }, `${why}: the deny list`);
      await next.stop();
    }
    const damaged = '{"id": 7, "sha256": ';
    await writeFile(join(dataDir, 'current.json'), damaged);
    const managed = await startPlane(t, kind, settings, {
      dataDir,
      resume: true,
      shipping: { url: 'http://127.0.0.1:1', token: 'test-token' },
    });
    t.equal(
      statusOf((await sendRaw(managed.ports.http, probe('/'))).text),
      503,
      'a control plane will say what serves; nothing does until then',
    );
    t.equal(statusOf((await sendRaw(managed.ports.http, probe('/nowhere?EVIL'))).text), 503);
    t.match(await managed.status(), { ruleset: '', threats: { networks: 1 } });
    t.equal(await readFile(join(dataDir, 'current.json'), 'utf8'), damaged, 'left for whoever looks into it');
    t.match(await put(managed, requestFor(settings, {})), { outcome: 'active', isPersisted: true });
    t.equal(statusOf((await sendRaw(managed.ports.http, probe('/'))).text), 200, 'it has spoken');
    await managed.stop();
    await writeFile(join(dataDir, 'current.json'), damaged);
    const last = await startPlane(t, kind, settings, { dataDir, resume: true });
    t.equal(
      statusOf((await sendRaw(last.ports.http, probe('/?EVIL'))).text),
      403,
      'without a control plane, the local settings',
    );
    t.equal(statusOf((await sendRaw(last.ports.http, probe('/'))).text), 200);
  });

  t.test(`${kind}: a worker that dies is replaced, others keep serving`, async (t) => {
    const backend = await startBackend(t, (_request, response) => response.end('ok'));
    const plane = await startPlane(
      t,
      kind,
      { sites: [{ name: 'shop', prefix: '/', upstream: backend.url, protected: true }] },
      { workers: 2 },
    );
    const crash = 'GET / HTTP/1.1\r\nHost: a\r\nx-crash-worker: 1\r\nConnection: close\r\n\r\n';
    await sendRaw(plane.ports.http, crash); // answered or cut, that depends on which comes first
    t.ok(await until(async () => (await plane.status())['restarts'] === 1), 'counted');
    t.ok(await until(async () => (await workersOf(plane)).every(({ state }) => state === 'ready')), 'replaced');
    for (let round = 0; round < 20; round += 1)
      t.equal(statusOf((await sendRaw(plane.ports.http, probe('/'))).text), 200);
    t.ok(
      (await workersOf(plane)).some(({ lastFailure }) => lastFailure.includes('a bug, thrown')),
      'with its reason',
    );
    // A worker that comes up while a change is made serves the new generation in the end.
    await sendRaw(plane.ports.http, crash);
    t.ok(await until(async () => (await plane.status())['restarts'] === 2), 'the second one too');
    t.match(
      await put(
        plane,
        requestFor(
          { sites: [{ name: 'shop', prefix: '/', upstream: backend.url, protected: true }] },
          { needles: [...standardPlan.needles, 'NEWER'] },
        ),
      ),
      { outcome: /active|refused/ },
    );
    const { generation } = await plane.status();
    t.ok(
      await until(async () =>
        (await workersOf(plane)).every((worker) => worker.state === 'ready' && worker.generation === generation),
      ),
      'all on the same generation',
    );
    t.match(await metricsWith(plane, 'waap_worker_restarts 2'), 'waap_worker_restarts 2');
  });

  t.test(`${kind}: a worker that dies finishes what others asked it`, async (t) => {
    let answer: (() => void) | null = null;
    const backend = await startBackend(t, (request, response) =>
      request.url === '/slow' ? void (answer = () => response.end('slow but whole')) : void response.end('ok'),
    );
    const plane = await startPlane(t, kind, {
      sites: [{ name: 'shop', prefix: '/', upstream: backend.url, protected: true }],
      timeouts: { drain_ms: 120_000 },
    });
    const slow = sendRaw(plane.ports.http, probe('/slow'));
    t.ok(await until(() => answer !== null), 'a client waits for its answer');
    await sendRaw(plane.ports.http, 'GET / HTTP/1.1\r\nHost: a\r\nx-crash-worker: 1\r\nConnection: close\r\n\r\n');
    t.ok(
      await until(
        async () =>
          (await plane.status())['restarts'] === 1 && (await workersOf(plane)).every(({ state }) => state === 'ready'),
      ),
      'replaced',
    );
    (answer as (() => void) | null)?.();
    const { text } = await slow;
    t.equal(bodyOf(text), 'slow but whole');
    t.match(text, /\r\nConnection: close\r\n/i, 'told to come back on another connection');
  });

  t.test(`${kind}: large bodies are inspected elsewhere, small ones here`, async (t) => {
    const backend = await startBackend(t, (request, response) => {
      let bytes = 0;
      request.on('data', (chunk: Buffer) => (bytes += chunk.length));
      request.on('end', () => response.end(String(bytes)));
    });
    const plane = await startPlane(
      t,
      kind,
      {
        sites: [
          { name: 'shop', prefix: '/', upstream: backend.url, protected: true },
          { name: 'open', prefix: '/open', upstream: backend.url, protected: true, fail_mode: 'open' },
        ],
      },
      { plan: { throwsInPhase: 2 } },
    );
    const post = async (path: string, body: string): Promise<number> =>
      statusOf(
        (
          await sendRaw(
            plane.ports.http,
            `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
          )
        ).text,
      );
    t.equal(await post('/', 'x'.repeat(200_000)), 200);
    t.equal(await post('/', `${'x'.repeat(200_000)}EVIL`), 403);
    t.equal(await post('/', `${'x'.repeat(200_000)}boom`), 503, 'a failure there is decided as a failure here');
    t.equal(await post('/open', `${'x'.repeat(200_000)}boom`), 200);
    t.equal(await post('/', 'EVIL'), 403);
    t.match(await metricsWith(plane, 'waap_inspections_offloaded_total 4'), 'waap_inspections_offloaded_total 4');
  });
}

t.test('SIGHUP reads the local settings again; what is not good changes nothing', async (t) => {
  const backend = await startBackend(t, (_request, response) => response.end('ok'));
  const config = configOf({
    sites: [{ name: 'shop', prefix: '/', upstream: backend.url, protected: true }],
    timeouts: { drain_ms: 300 },
  });
  let next: () => Promise<{ config: typeof config; artifact: Uint8Array }> = () =>
    Promise.reject(new Error('settings.json is not JSON'));
  let reads = 0;
  const plane = await startPlane(
    t,
    'node',
    { sites: config.sites.map(({ name, prefix, upstream }) => ({ name, prefix, upstream })) },
    {
      handlesSignals: true,
      reread: () => {
        reads += 1;
        return next();
      },
    },
  );
  process.kill(process.pid, 'SIGHUP');
  t.ok(await until(() => reads === 1));
  t.equal((await plane.status())['generation'], 1);
  next = () =>
    Promise.resolve({
      config,
      artifact: doubleArtifact({ ...standardPlan, needles: [...standardPlan.needles, 'NEWER'] }),
    });
  process.kill(process.pid, 'SIGHUP');
  t.ok(await until(async () => (await plane.status())['generation'] === 2));
  t.equal(statusOf((await sendRaw(plane.ports.http, probe('/?NEWER'))).text), 403);
});

t.test('a taken port is told, not shared', async (t) => {
  const backend = await startBackend(t, () => {});
  await t.rejects(
    startPlane(t, listenerKinds[0] ?? 'node', {}, { port: backend.port }),
    /another program uses this port/,
  );
});

t.test('the token is made once and kept, for its owner only', async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'gatehouse-token-'));
  t.teardown(() => rm(dataDir, { recursive: true, force: true }));
  const { resolveAdminToken } = await import('../main/admin/token.js');
  const token = await resolveAdminToken(null, dataDir);
  t.match(token, /^[0-9a-f]{64}$/);
  t.equal(await resolveAdminToken('', dataDir), token);
  t.equal(await resolveAdminToken('given', dataDir), 'given');
  const { mode } = await (await import('node:fs/promises')).stat(join(dataDir, 'admin-token'));
  t.equal(mode & 0o777, 0o600);
});
