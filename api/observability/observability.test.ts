// The metrics of the control plane as a scraper gets them, and the files that are made of them.
import t, { type Test } from 'tap';
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Database } from '../db/client.js';
import { createOutbound } from '../outbound/outbound.js';
import { startTestApp } from '../testing/app.js';
import { nodeToken, startNode, startUpstream } from '../testing/data-plane.js';
import { onBothDatabases, onEmbeddedDatabase } from '../testing/databases.js';
import { makeDirectory } from '../testing/temporary.js';
import { families, type Family } from './families.js';

const directory = new URL('../../../docs/monitoring/', import.meta.url); // from build/api/observability
const run = promisify(execFile);

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly { readonly expr: string; readonly refId: string }[];
}

const dashboards = ['dashboard', 'traffic', 'security', 'fleet', 'control-plane'].map((name) => `grafana-${name}.json`);
const readDashboard = async (name: string) =>
  JSON.parse(await readFile(new URL(name, directory), 'utf8')) as {
    readonly uid: string;
    readonly panels: readonly Panel[];
  };

async function suite(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database, { outbound: createOutbound({ allow: ['192.0.2.1'] }) });
  t.teardown(() => at.close());
  const { token } = await at.user('admin');
  const { token: viewer } = await at.user('viewer');
  const body = {
    siem_connectors: [{ name: 'lines', kind: 'syslog', target: 'tcp://192.0.2.1:601', options: { x: 'y' } }],
  };
  t.equal((await at.call('PATCH', '/api/settings', { token, body })).status, 200);
  const now = new Date(at.clock.nowMs - 90_000);
  await database.sql`select siem_note('alert', ${now}, '{}')`;
  await database.sql`insert into job_state (name, runs, failures, last_ended_at) values ('a "job"', 7, 2, ${now})`;
  const reply = await at.call('GET', '/api/metrics', { token: viewer });
  t.match(reply, { status: 200, headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' } });
  for (const line of [
    'gatehouse_control_siem_waiting{connector="lines"} 1',
    'gatehouse_control_siem_lag_seconds{connector="lines"} 90',
    'gatehouse_control_siem_failing{connector="lines"} 1',
    'gatehouse_control_alert_rules{state="firing"} 0',
    String.raw`gatehouse_control_job_failures_total{job="a \"job\""} 2`,
    `gatehouse_control_job_last_end_timestamp_seconds{job="a \\"job\\""} ${now.getTime() / 1000}`,
    'gatehouse_control_nodes{state="active"} 0',
    'gatehouse_control_records_lost_total{reason="dropped"} 0',
    'gatehouse_control_settings_version{which="saved"} 2',
  ])
    t.ok(reply.text.split('\n').includes(line), line);
  for (const { name, type, help } of Object.values<Family>(families))
    t.ok(
      reply.text.includes(`# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`),
      `${name} is told, also without samples`,
    );
  const form = /^(#.*|[a-z_]+(\{[a-z_]+="(?:[^"\\\n]|\\.)*"(,[a-z_]+="(?:[^"\\\n]|\\.)*")*\})? -?[\d.e+-]+|)$/;
  for (const line of reply.text.split('\n')) if (!form.test(line)) t.fail(line);
  t.equal((await at.call('GET', '/api/metrics', {})).status, 401);
}

t.test('MONITORING 4: the metrics of the control plane', (t) => onBothDatabases(t, 'metrics', suite));

t.test('MONITORING 4: metrics of the control plane that files name exist', async (t) => {
  const known = new Map(Object.values<Family>(families).map((family) => [family.name, family]));
  const used = new Set<string>();
  for (const file of ['gatehouse.rules.yml', 'gatehouse.rules.test.yml', ...dashboards]) {
    const text = (await readFile(new URL(file, directory), 'utf8')).replaceAll('\\"', '"');
    for (const [, name = '', selector = ''] of text.matchAll(/\b(gatehouse_control_[a-z0-9_]+)(?:\{([^}]*)\})?/g)) {
      used.add(name);
      t.ok(known.has(name), `${file}: ${name}`);
      for (const [, label = ''] of selector.matchAll(/([a-z_]+)\s*(?:=~|!~|!=|=)/g))
        t.ok(known.get(name)?.labels.includes(label), `${file}: ${name} has the label ${label}`);
    }
  }
  t.ok(used.size >= 8);
});

function checkPanels(t: Test, panels: readonly Panel[]): void {
  t.equal(new Set(panels.map(({ id }) => id)).size, panels.length, 'every panel has an id of its own');
  for (const [index, { gridPos, title, type, description, targets }] of panels.entries()) {
    t.ok(gridPos.x + gridPos.w <= 24, `${title} fits`);
    for (const other of panels.slice(index + 1)) {
      const isBeside = gridPos.x + gridPos.w <= other.gridPos.x || other.gridPos.x + other.gridPos.w <= gridPos.x;
      const isAbove = gridPos.y + gridPos.h <= other.gridPos.y;
      if (!isBeside && !isAbove) t.fail(`${title} lies on ${other.title}`);
    }
    if (type !== 'row') t.ok((targets ?? []).length > 0 && description !== undefined, `${title} says what it shows`);
  }
}

t.test('MONITORING 4: the dashboards can be imported', async (t) => {
  const all = await Promise.all(dashboards.map(readDashboard));
  t.equal(new Set(all.map(({ uid }) => uid)).size, all.length, 'side by side');
  for (const { panels } of all) checkPanels(t, panels);
});

const promtool = 'promtool';
const withoutPromtool = await run(promtool, ['--version']).then(
  () => false as const,
  () => 'promtool is not installed (Debian: apt-get install prometheus)',
);

/** What promtool finds in a text of metrics; '' where it has nothing to say. */
async function lint(text: string): Promise<string> {
  const check = run(promtool, ['check', 'metrics']);
  check.child.stdin?.end(text);
  return check.then(
    ({ stdout, stderr }) => `${stdout}${stderr}`,
    (error: unknown) => String(error),
  );
}

t.test('MONITORING 4: promtool takes the metrics of both planes', { skip: withoutPromtool }, async (t) => {
  t.match(await lint('# TYPE bytes counter\nbytes 1\n'), /no help text/, 'it reports what is wrong');
  const node = await startNode(t, { upstream: await startUpstream(t) });
  t.equal((await fetch(`http://127.0.0.1:${node.http}/`)).status, 503, 'a request to count; nobody gave it rules yet');
  const headers = { authorization: `Bearer ${nodeToken}` };
  const ofNode = await (await fetch(`${node.url}/metrics`, { headers })).text();
  t.match(ofNode, /^gatehouse_/m);
  t.equal(await lint(ofNode), '', 'the data plane');
  await onEmbeddedDatabase(t, 'metrics of the control plane', async (t, database) => {
    const at = await startTestApp(database);
    t.teardown(() => at.close());
    const { token } = await at.user('viewer');
    t.equal(await lint((await at.call('GET', '/api/metrics', { token })).text), '');
  });
});

t.test(
  'MONITORING 4: promtool takes the rules and every query of the dashboards',
  { skip: withoutPromtool },
  async (t) => {
    const path = fileURLToPath(directory);
    t.match((await run(promtool, ['check', 'rules', join(path, 'gatehouse.rules.yml')])).stdout, /SUCCESS/);
    await t.resolves(
      run(promtool, ['test', 'rules', join(path, 'gatehouse.rules.test.yml')]),
      'the tests of the rules',
    );
    const all = await Promise.all(dashboards.map(readDashboard));
    const panels = all.flatMap((one) => one.panels);
    const queries = panels.flatMap(({ targets = [] }) =>
      targets.map(({ expr }) => expr.replaceAll('$__rate_interval', '5m')),
    );
    const rules = queries.map((expr, index) => ({ record: `query:${index}`, expr }));
    const file = join(await makeDirectory(t, 'promtool'), 'queries.json');
    await writeFile(file, JSON.stringify({ groups: [{ name: 'dashboard', rules }] })); // JSON is YAML
    t.match((await run(promtool, ['check', 'rules', file])).stdout, new RegExp(`SUCCESS: ${queries.length} rules`));
  },
);
