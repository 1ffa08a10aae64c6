// Two generations are activated in turn while 32 connections hammer. A request must be decided by one of them, whole:
// each generation's phase 1 rule leaves a mark, its phase 2 rule answers 418 when it finds another mark than its own.
// Failed = no answer, or a status that neither generation gives.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { compileSettings } from '../artifacts.js';
import type { BenchContext } from '../context.js';
import { HarnessProblem, temporaryDirectory } from '../processes.js';
import { quantile } from '../statistics.js';
import { benchData, gatehouseSettings, startBackend, startGatehouse, type System } from '../systems.js';

const statusMixed = 418;

function markRules(mark: string, expected = mark): object[] {
  const raw = (id: number, text: string): object => ({ id, name: `bench ${mark}`, enabled: true, kind: 'raw', text });
  return [
    raw(1_000_011, `SecAction "id:1000011,phase:1,pass,nolog,setvar:tx.bench_mark=${mark}"`),
    raw(
      1_000_012,
      `SecRule TX:bench_mark "!@streq ${expected}" "id:1000012,phase:2,deny,status:${statusMixed},log,msg:'mixed'"`,
    ),
  ];
}

interface Tally {
  answered: number;
  mixed: number;
  failed: number;
  readonly latenciesMs: number[];
  readonly reasons: Set<string>;
}

function sendOne(agent: Agent, port: number, number: number): Promise<number> {
  const body = `note=hello+${number}&page=2`;
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        agent,
        host: '127.0.0.1',
        port,
        method: 'POST',
        path: '/api/notes',
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          'content-length': body.length,
          accept: '*/*',
          'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) Firefox/132.0',
        },
      },
      (reply) => {
        reply.resume();
        reply.once('end', () => resolve(reply.statusCode ?? 0));
        reply.once('error', reject);
      },
    );
    sent.once('error', reject);
    sent.setTimeout(10_000, () => sent.destroy(new Error('no answer in 10 s')));
    sent.end(body);
  });
}

async function hammer(port: number, isOver: () => boolean, tally: Tally): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  for (let number = 0; !isOver(); number++) {
    const startedMs = performance.now();
    try {
      const status = await sendOne(agent, port, number);
      tally.answered++;
      tally.latenciesMs.push(performance.now() - startedMs);
      if (status === statusMixed) tally.mixed++;
      else if (status !== 200) {
        tally.failed++;
        tally.reasons.add(`status ${status}`);
      }
    } catch (error) {
      tally.failed++;
      tally.reasons.add(error instanceof Error ? error.message : String(error));
    }
  }
  agent.destroy();
}

/** Hands an artifact to the running data plane; returns what it says its activation took. */
async function activate(
  system: System,
  file: string,
  config: unknown,
  selfTest: 'inspect' | 'skip' = 'inspect',
): Promise<number> {
  const sha256 = createHash('sha256').update(readFileSync(file)).digest('hex');
  const reply = await fetch(`http://127.0.0.1:${system.admin?.port}/generation`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${system.admin?.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ id: 0, sha256, artifactPath: file, config, selfTest }),
  });
  const body = (await reply.json()) as { readonly outcome: string; readonly tookMs?: number; readonly reason?: string };
  if (body.outcome !== 'active')
    throw new HarnessProblem(`the generation was refused: ${body.reason ?? JSON.stringify(body)}`);
  return body.tookMs ?? 0;
}

/** A generation whose two halves disagree must be noticed; else "0 mixed" would mean nothing. */
async function proveDetector(
  { root, rules }: BenchContext,
  system: System,
  backendPort: number,
  config: unknown,
): Promise<void> {
  const temporary = temporaryDirectory('reload-canary');
  const agent = new Agent();
  try {
    const canary = await compileSettings(
      root,
      rules,
      temporary.path,
      gatehouseSettings(1, backendPort, markRules('a', 'b')),
    );
    await activate(system, canary.file, config, 'skip'); // the self-test would refuse it, rightly
    const status = await sendOne(agent, system.port, 0);
    if (status !== statusMixed)
      throw new HarnessProblem(
        `a mixed generation answered ${status}, not ${statusMixed}: this case could not see mixed requests`,
      );
  } finally {
    agent.destroy();
    temporary.remove();
  }
}

export async function reloadCase(context: BenchContext): Promise<void> {
  const { root, rules, options, recorder } = context;
  const temporary = { a: temporaryDirectory('reload-a'), b: temporaryDirectory('reload-b') };
  const backend = await startBackend(root);
  const system = await startGatehouse({
    root,
    backendPort: backend.port,
    paranoia: 1,
    workers: Math.max(...options.workers),
    rules,
    listener: options.listener,
  });
  const tally: Tally = { answered: 0, mixed: 0, failed: 0, latenciesMs: [], reasons: new Set() };
  let isOver = false;
  try {
    const { config } = JSON.parse(readFileSync(`${benchData(root, 'pl1')}/current.json`, 'utf8')) as {
      readonly config: unknown;
    };
    const a = await compileSettings(root, rules, temporary.a.path, gatehouseSettings(1, backend.port, markRules('a')));
    const b = await compileSettings(root, rules, temporary.b.path, gatehouseSettings(1, backend.port, markRules('b')));
    await proveDetector(context, system, backend.port, config);
    await activate(system, a.file, config);
    const clients = Array.from({ length: 32 }, () => hammer(system.port, () => isOver, tally));
    const reloads = options.short ? 4 : 20;
    for (let index = 0; index < reloads; index++) {
      context.progress(`reload ${index + 1}/${reloads}`);
      await pause(250);
      recorder.add(
        'reload / under 32 connections / activation',
        'ms',
        'lower',
        await activate(system, index % 2 === 0 ? b.file : a.file, config),
      );
    }
    isOver = true;
    await Promise.all(clients);
  } finally {
    isOver = true;
    await system.stop();
    await backend.stop();
    temporary.a.remove();
    temporary.b.remove();
  }
  recorder.add('reload / under 32 connections / requests', 'requests', 'none', tally.answered);
  recorder.add('reload / under 32 connections / failed', 'requests', 'lower', tally.failed);
  recorder.add('reload / under 32 connections / mixed', 'requests', 'lower', tally.mixed);
  recorder.add('reload / under 32 connections / p99', 'ms', 'lower', quantile(tally.latenciesMs, 0.99));
  for (const reason of tally.reasons) recorder.note(`reload: ${reason}`);
}
