// The real processes, started as the manifests say (arguments, variables, secrets as files), in a network of their own:
// every probe answers where it is asked, a node enrols by itself, drains by its hook, and leaves at SIGTERM.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { chart, namespace, objectsOf, render, root, withoutRenderer } from './chart.js';
import { findObject, workloadOf, workloadsOf, type Container, type Workload } from './manifest-kit.js';
import { writeRuleSet } from '#api/testing/rule-set';

const works = (program: string, ...args: string[]): boolean => spawnSync(program, args).status === 0;
const isPossible =
  process.getuid?.() === 0 && works('unshare', '-nm', 'true') && works('nsenter', '-V') && works('ip', '-V');
const skip = withoutRenderer !== false ? withoutRenderer : !isPossible && 'needs root, unshare, nsenter and ip';
const answerMsMax = 90_000;
const program = join(root, 'bin/gatehouse');

interface Pod {
  readonly child: ChildProcess;
  readonly container: Container;
  readonly environment: NodeJS.ProcessEnv;
  readonly output: () => string;
}

interface Cluster {
  start(workload: Workload, name: string): Pod;
  /** Runs a command of a container; resolves with its exit code. */
  exec(pod: Pick<Pod, 'environment'>, command: readonly string[]): Promise<number | null>;
  /** Resolves when the address answers with this status; rejects with what it answered last. */
  until(url: string, status: number): Promise<string>;
}

const asker = `
  const [url, wanted, limit] = process.argv.slice(1);
  let last = '';
  const end = Date.now() + Number(limit);
  const ask = () => fetch(url).then(async (answer) => {
    last = answer.status + ' ' + (await answer.text()).slice(0, 300);
    if (answer.status === Number(wanted)) { console.log(last); process.exit(0); }
  }, (error) => { last = String(error.cause ?? error); }).then(() => {
    if (Date.now() > end) { console.log(last); process.exit(1); }
    setTimeout(ask, 200);
  });
  ask();`;

/** A network and a table of names, in which Services are this machine. */
async function startCluster(t: Test, services: readonly string[], ruleSet: string): Promise<Cluster> {
  const directory = t.testdir({ secrets: {} });
  const hosts = join(directory, 'hosts');
  const names = services.flatMap((name) => [name, `${name}.${namespace}.svc`]);
  writeFileSync(hosts, `127.0.0.1 localhost ${names.join(' ')}\n`);
  const script = `ip link set lo up && mount --bind "$1" /etc/hosts && echo ready && exec cat`;
  const holder = spawn('unshare', ['-nm', 'sh', '-c', script, 'sh', hosts], { stdio: ['pipe', 'pipe', 'inherit'] });
  t.teardown(() => void holder.kill());
  await once(holder.stdout, 'data');
  const inside = ['-t', String(holder.pid), '-n', '-m', process.execPath];
  const secret = (path: string): string => {
    const file = join(directory, 'secrets', path);
    if (!existsSync(file)) writeFileSync(file, randomBytes(24).toString('hex'));
    return file;
  };
  const valueOf = (value: string, data: string): string => {
    const path = /^\/etc\/gatehouse\/secrets\/(.+)$/.exec(value)?.[1];
    return path === undefined ? value.replace(/^\/data\//, `${data}/`) : secret(path);
  };
  return {
    start({ pod }, name) {
      const [container] = pod.containers;
      if (container === undefined) throw new Error(`${name} has no container`);
      const data = join(directory, name);
      mkdirSync(data, { recursive: true });
      const environment: NodeJS.ProcessEnv = {
        PATH: process.env['PATH'] ?? '',
        HOME: data,
        GATEHOUSE_ENV_FILE: '/dev/null',
        ...Object.fromEntries(
          (container.env ?? []).map((one) => [one.name, one.value === undefined ? name : valueOf(one.value, data)]),
        ),
      };
      // in place of what the init container copies
      if (pod.initContainers !== undefined) environment['CRS_DIR'] = ruleSet;
      const child = spawn('nsenter', [...inside, program, ...(container.args ?? [])], { env: environment });
      let output = '';
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (piece: Buffer) => (output += piece.toString()));
      t.teardown(() => void child.kill('SIGKILL'));
      return { child, container, environment, output: () => output };
    },
    async exec({ environment }, command) {
      const args = command.slice(1).map((one) => one.replace('/usr/lib/gatehouse/bin/gatehouse', program));
      const child = spawn('nsenter', [...inside, ...args], {
        env: environment,
        stdio: ['ignore', 'ignore', 'inherit'],
      });
      const [status] = (await once(child, 'close')) as [number | null];
      return status;
    },
    async until(url, status) {
      const args = [...inside, '-e', asker, url, String(status), String(answerMsMax)];
      const child = spawn('nsenter', args, { stdio: ['ignore', 'pipe', 'inherit'] });
      let text = '';
      child.stdout.on('data', (piece: Buffer) => (text += piece.toString()));
      const [code] = (await once(child, 'close')) as [number | null];
      if (code !== 0) throw new Error(`${url} did not answer ${status}: ${text}`);
      return text;
    },
  };
}

/** Asks every probe of a container where the kubelet would. */
async function checkProbes(t: Test, cluster: Cluster, { container, output }: Pod): Promise<void> {
  for (const kind of ['startupProbe', 'livenessProbe', 'readinessProbe'] as const) {
    const place = container[kind]?.httpGet;
    if (place === undefined) continue;
    const port = container.ports?.find(({ name }) => name === place.port)?.containerPort;
    await cluster
      .until(`http://127.0.0.1:${port}${place.path}`, 200)
      .then(() => t.pass(`${container.name}: ${kind} ${place.path} on ${port}`))
      .catch((error: unknown) => t.fail(`${String(error)}\n${output().slice(-2000)}`));
  }
}

t.setTimeout(300_000);
t.test('processes as the manifests say', { skip, timeout: 300_000 }, async (t) => {
  const objects = objectsOf(render(join(chart, 'ci/minimal-values.yaml')));
  const workloads = new Map(workloadsOf(objects).map((one) => [one.object.metadata.name, one]));
  const of = (name: string): Workload => {
    const found = workloads.get(`gatehouse-${name}`);
    if (found === undefined) throw new Error(`there is no ${name}`);
    return found;
  };
  const services = objects.filter(({ kind }) => kind === 'Service').map(({ metadata }) => metadata.name);
  const cluster = await startCluster(t, services, await writeRuleSet(t));
  const node = cluster.start(of('data-plane'), 'pod-a'); // it starts first, and has to wait
  const control = cluster.start(of('control-plane'), 'control');
  const console_ = cluster.start(of('console'), 'console');
  for (const pod of [control, console_, node]) await checkProbes(t, cluster, pod);

  const identity = join(node.environment['GATEHOUSE_DATA'] ?? '', 'node/identity.json');
  t.match(JSON.parse(readFileSync(identity, 'utf8')), { name: 'pod-a' }, 'the node enrolled under the name of its pod');
  const test = findObject(objects, 'Pod', 'gatehouse-test');
  const [tester] = (test === undefined ? null : workloadOf(test))?.pod.containers ?? [];
  t.equal(await cluster.exec(control, tester?.command ?? []), 0, 'helm test');

  const hook = [...(node.container.lifecycle?.preStop?.exec.command ?? [])];
  t.equal(hook.pop(), '15');
  t.equal(await cluster.exec(node, [...hook, '0']), 0, 'the hook before the end');
  t.match(await cluster.until('http://127.0.0.1:2019/readyz', 503), /draining/);
  await cluster.until('http://127.0.0.1:2019/healthz', 200);
  for (const { child, container, output } of [node, console_, control]) {
    const over = once(child, 'exit') as Promise<[number | null]>;
    child.kill('SIGTERM');
    t.same((await over)[0], 0, `${container.name} ends in order: ${output().slice(-300)}`);
  }
  t.notOk(existsSync(identity), 'the node left the fleet');
});
