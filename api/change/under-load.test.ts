// End to end with the real rule set: log in, change a setting, apply, and see it on the data port, while others go on.
import { Agent, request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import t from 'tap';
import { allModules } from '../app.js';
import { migrate } from '../db/migrate.js';
import { openEmbedded } from '../db/client.js';
import { startTestApp } from '../testing/app.js';
import { coreRules, dataDirectory, withoutCoreRules } from '../testing/core-rules.js';
import { copyEmbeddedTemplate } from '../testing/databases.js';
import { nodeToken, startNode, startUpstream } from '../testing/data-plane.js';
import { makeDirectory } from '../testing/temporary.js';
import { connectDataPlane } from '../nodes/link.js';

/** Connections that ask without a pause. Anything but 200 or 403 is a failure. */
function load(port: number, connections: number) {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const counts = { passed: 0, blocked: 0, failed: 0 };
  let isStopped = false;
  const ask = (n: number): Promise<void> =>
    new Promise((resolve) => {
      const request = httpRequest(
        {
          port,
          host: '127.0.0.1',
          agent,
          path: n % 4 === 0 ? `/?id=${n}%27%20OR%20%271%27=%271` : `/products?page=${n}&q=lamp`,
        },
        (response) => {
          if (response.statusCode === 200) counts.passed++;
          else if (response.statusCode === 403) counts.blocked++;
          else counts.failed++;
          response.resume().on('end', () => resolve());
        },
      );
      request.on('error', () => {
        counts.failed++;
        resolve();
      });
      request.end();
    });
  const all = Array.from({ length: connections }, async (_, start) => {
    for (let n = start; !isStopped; n += connections) await ask(n);
  });
  return {
    counts,
    async stop() {
      isStopped = true;
      await Promise.all(all);
      agent.destroy();
    },
  };
}

t.test('one custom rule, applied under load', { skip: withoutCoreRules }, async (t) => {
  const [upstream, directory, directoryOfData] = [
    await startUpstream(t),
    await copyEmbeddedTemplate(t),
    await makeDirectory(t, 'load'),
  ];
  const database = await openEmbedded(directory);
  await migrate(database, await allModules());
  // as `up` starts them: one data directory
  const node = await startNode(t, { upstream, workers: 2, dataDir: directoryOfData });
  const env = {
    dataAdminToken: nodeToken,
    dataAdminUrls: [node.url],
    dataDirectory: directoryOfData,
    crsDirectory: coreRules,
    upstreams: { customer: upstream, payment: upstream },
    settingsEncryptionSecret: 'b'.repeat(40),
  };
  const link = await connectDataPlane({
    env,
    database,
    now: Date.now,
    cacheDirectory: join(dataDirectory, 'cache', 'automata'),
  });
  const at = await startTestApp(database, { applySettings: link.applySettings });
  await link.start(at.parts);
  t.teardown(async () => {
    await at.close();
    await link.close();
    await database.close();
  });
  const { token } = await at.user('operator');
  const status = async (path: string): Promise<number> =>
    (await fetch(`http://127.0.0.1:${node.http}${path}`, { headers: { connection: 'close' } })).status;

  // as the server does once it listens
  if (process.env['GATEHOUSE_COLD_APPLY'] === undefined) t.comment(await link.warm());
  const firstMs = performance.now();
  const first = await at.call('POST', '/api/apply', { token });
  const firstTookMs = Math.round(performance.now() - firstMs);
  t.comment(`the first apply took ${firstTookMs} ms; ${JSON.stringify(first.body['nodes']?.[0]?.detail)}`);
  t.match(first, { status: 200, body: { applied: true, diagnostics: [] } }, first.text);
  t.same([await status('/?q=lamp'), await status('/?q=<script>alert(1)</script>')], [200, 403]);

  const running = load(node.http, 16);
  const delay = monitorEventLoopDelay({ resolution: 5 });
  for (const word of ['zorkmid', 'grue', 'plugh']) {
    t.equal(
      (
        await at.call('PATCH', '/api/settings', {
          token,
          body: {
            custom_rules: [
              {
                id: 1_000_001,
                name: word,
                kind: 'visual',
                variable: 'ARGS',
                operator: 'contains',
                value: word,
                action: 'block',
                phase: 2,
              },
            ],
          },
        })
      ).status,
      200,
    );
    t.equal(await status(`/?q=${word}`), 200, 'saved is not applied');
    const before = { ...running.counts };
    delay.enable();
    const startedMs = performance.now();
    const applied = await at.call('POST', '/api/apply', { token });
    const tookMs = Math.round(performance.now() - startedMs);
    delay.disable();
    t.match(
      applied,
      { status: 200, body: { applied: true, unchanged: false, nodes: [{ state: 'active' }] } },
      applied.text,
    );
    t.equal(await status(`/?q=${word}`), 403, 'every worker serves it when apply answers');
    const answered = running.counts.passed + running.counts.blocked - before.passed - before.blocked;
    t.comment(
      `apply took ${tookMs} ms under ${answered} requests; ${applied.body['nodes'][0].detail}; ` +
        `this thread waited at most ${Math.round(delay.max / 1e6)} ms`,
    );
    delay.reset();
  }
  await running.stop();
  t.equal(running.counts.failed, 0, `no request of ${running.counts.passed + running.counts.blocked} failed`);
  t.ok(running.counts.passed > 0 && running.counts.blocked > 0);
  t.match(await link.road.reconcile(at.parts.audit), /^1 of 1 nodes answer$/);
});
