// One custom rule is changed, saved and applied while eight connections keep the data plane busy: from the request
// `POST /api/apply` to its answer, when every worker serves it. Both planes as `gatehouse up` starts them: one data
// directory, the embedded database, and the records of the load on their way into it.
import { cpSync, existsSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { BenchContext } from '../context.js';
import { startControlPlane, type ControlPlane } from '../control-plane.js';
import { residentBytes } from '../cpu.js';
import { measureLoad } from '../load.js';
import { freePort, HarnessProblem, temporaryDirectory } from '../processes.js';
import { benchData, startBackend, startGatehouse, type System } from '../systems.js';
import { encodeTemplates } from '../traffic.js';
import { startProbe } from './probe.js';

interface ApplyAnswer {
  readonly applied: boolean;
  readonly unchanged: boolean;
  readonly steps: Readonly<Record<string, number>>;
}

const appliesMin = 3;

async function statusOf(system: System, word: string): Promise<number> {
  const reply = await fetch(`http://127.0.0.1:${system.port}/search?q=${word}`, { headers: { connection: 'close' } });
  await reply.arrayBuffer();
  return reply.status;
}

/** Milliseconds and what the answer says of them. Throws when the rule does not serve afterwards, or did before. */
async function applyWord(
  control: ControlPlane,
  system: System,
  word: string,
): Promise<{ readonly ms: number; readonly steps: ApplyAnswer['steps'] }> {
  await control.call('PATCH', '/api/settings', {
    custom_rules: [
      {
        id: 1_000_001,
        name: word,
        kind: 'visual',
        variable: 'ARGS:q',
        operator: 'contains',
        value: word,
        action: 'block',
        phase: 2,
      },
    ],
  });
  const before = await statusOf(system, word);
  const startedMs = performance.now();
  const answer = (await control.call('POST', '/api/apply')) as unknown as ApplyAnswer;
  const ms = performance.now() - startedMs;
  const after = await statusOf(system, word);
  if (!answer.applied || answer.unchanged || before !== 200 || after !== 403)
    throw new HarnessProblem(
      `${word} was answered ${before} before the apply and ${after} after it: ${JSON.stringify(answer).slice(0, 500)}`,
    );
  return { ms, steps: answer.steps };
}

interface Planes {
  readonly control: ControlPlane;
  readonly node: System;
  readonly stop: () => Promise<void>;
}

/** Both over one data directory. The node comes first: the control plane has to know its admin port. */
async function startPlanes(
  { root, rules, options }: BenchContext,
  workers: number,
  backendPort: number,
  directory: string,
): Promise<Planes> {
  const port = await freePort();
  const node = await startGatehouse({
    root,
    backendPort,
    paranoia: 1,
    workers,
    rules,
    listener: options.listener,
    env: { GATEHOUSE_DATA: directory, GATEHOUSE_CONTROL_URL: `http://127.0.0.1:${port}` },
  });
  const upstream = `http://127.0.0.1:${backendPort}`;
  try {
    const control = await startControlPlane({
      root,
      databaseUrl: null,
      port,
      nodes: [`http://127.0.0.1:${node.admin?.port}`],
      nodeToken: node.admin?.token ?? '',
      env: {
        GATEHOUSE_DATA: directory,
        DATA_DIR: directory,
        CRS_DIR: rules.directory,
        UPSTREAM_CUSTOMER: upstream,
        UPSTREAM_PAYMENT: upstream,
      },
    });
    const stop = async (): Promise<void> => {
      await node.stop();
      await control.stop();
    };
    return { control, node, stop };
  } catch (error) {
    await node.stop();
    throw error;
  }
}

/** Applies one rule after another beside the load; throws when there was too little of either. */
async function applyUnderLoad(
  { root, options, recorder, progress }: BenchContext,
  { control, node }: Planes,
  templates: string,
  key: string,
): Promise<void> {
  const wanted = options.short ? 5 : 15;
  let isOver = false;
  const load = measureLoad({
    port: node.port,
    pid: node.pid,
    seconds: 4 + wanted * 3,
    connections: 8,
    script: join(root, 'bench/fresh.lua'),
    templates,
  }).finally(() => (isOver = true));
  load.catch(() => undefined); // told below, when it is awaited
  await pause(4000); // records are on their way
  let made = 0;
  for (; made < wanted && !isOver; made++) {
    progress(`apply ${made + 1}/${wanted}`);
    const { ms, steps } = await applyWord(control, node, `zorkmid-${made}`);
    recorder.add(`${key} / under 8 connections`, 'ms', 'lower', ms);
    for (const [step, took] of Object.entries(steps)) recorder.add(`${key} / step ${step}`, 'ms', 'none', took);
    await pause(1500);
  }
  const result = await load;
  if (made < appliesMin) throw new HarnessProblem(`the load was over after ${made} applies`);
  // Of more than 100,000 records the API says 100,001, or an estimate.
  const stored = Number((await control.call('GET', '/api/policy/stats'))['requests_stored']);
  if (stored < Math.min(100_000, result.requests / 2))
    throw new HarnessProblem(
      `of ${result.requests} requests only ${stored} records were stored: the applies had nothing beside them`,
    );
  recorder.add(`${key} / load / failed`, 'requests', 'lower', result.socketErrors);
  recorder.add(`${key} / load / not 2xx`, '%', 'none', result.non2xxShare * 100);
  recorder.add(`${key} / load / requests`, 'requests/s', 'higher', result.requestsPerSecond);
  recorder.add(`${key} / load / p99`, 'ms', 'lower', result.p99Ms);
  recorder.add(`${key} / memory of the API`, 'MB', 'lower', residentBytes(control.pid) / 1_048_576);
}

/**
 * R13: what one client notices of an apply. The same probe without one, just before, in the same run: on a machine that
 * is busy with other things (its load average stands beside the figures) the ratio is the figure.
 */
async function probeApplies(
  { options, recorder, progress }: BenchContext,
  { control, node }: Planes,
  key: string,
): Promise<void> {
  const probe = startProbe(node.port, '/search?q=lamp');
  try {
    for (let round = 0; round < (options.short ? 3 : 8); round++) {
      progress(`apply beside a probe ${round + 1}`);
      await probe.take(); // what came before belongs to nobody
      const startedMs = performance.now();
      const word = `xyzzy-${round}`;
      await pause(4000);
      const quiet = await probe.take();
      await applyWord(control, node, word);
      const during = await probe.take();
      if (quiet.requests < 50 || during.requests < 10)
        throw new HarnessProblem(`the probe asked ${during.requests} times in ${performance.now() - startedMs} ms`);
      recorder.add(`${key} / probe p99, no apply`, 'ms', 'lower', quiet.p99Ms);
      recorder.add(`${key} / probe p99, while one runs`, 'ms', 'lower', during.p99Ms);
      recorder.add(`${key} / probe p99, ratio`, '', 'lower', during.p99Ms / quiet.p99Ms);
      recorder.add(`${key} / probe p50, while one runs`, 'ms', 'lower', during.p50Ms);
      recorder.add(`${key} / probe / load average of the minute`, 'processes', 'lower', loadavg()[0] ?? 0);
      recorder.add(`${key} / probe / failed`, 'requests', 'lower', quiet.failed + during.failed);
    }
  } finally {
    probe.stop();
  }
}

export async function applyCase(context: BenchContext): Promise<void> {
  const { root, options, traffics } = context;
  const workers = Math.max(...options.workers);
  // The traffic with attacks where it is there: each attack is an event beside its record.
  const [traffic, all] = traffics.at(-1) ?? ['nothing', []];
  // A method that nobody knows is answered by hanging up, which the load generator counts as a failure.
  const requests = all.filter(({ pieces: [head] }) => typeof head === 'string' && /^(?:GET|POST) /.test(head));
  const key = `apply / PGlite, ${workers} worker${workers === 1 ? '' : 's'}, ${traffic}`;
  const temporary = temporaryDirectory('apply');
  // Compiling automata is no part of this figure: those of earlier runs are taken along.
  const automata = join(benchData(root, 'pl1'), 'cache');
  if (existsSync(automata)) cpSync(automata, join(temporary.path, 'cache'), { recursive: true });
  const backend = await startBackend(root);
  let planes: Planes | null = null;
  try {
    planes = await startPlanes(context, workers, backend.port, temporary.path);
    context.progress('apply: the first one, without load');
    await applyWord(planes.control, planes.node, 'zorkmid-first');
    const templates = join(temporary.path, 'mix.templates');
    writeFileSync(templates, encodeTemplates(requests));
    await probeApplies(context, planes, key);
    await applyUnderLoad(context, planes, templates, key);
  } finally {
    await planes?.stop();
    await backend.stop();
    temporary.remove();
  }
}
