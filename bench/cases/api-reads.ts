// The control plane under people and dashboards: 200 mixed reads a second on the embedded database, with a day's worth
// of records in it. Requests leave when they are due, whether the one before was answered or not, and are timed from
// then: an answer that keeps others waiting shows in theirs.
import { randomUUID } from 'node:crypto';
import { Agent, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { BenchContext } from '../context.js';
import { startControlPlane, type ControlPlane } from '../control-plane.js';
import { cpuUs } from '../cpu.js';
import { HarnessProblem } from '../processes.js';
import { quantile } from '../statistics.js';

const perSecond = 200;
const records = 40_000;
/** What a dashboard asks for, the frequent ones more often. */
const reads = [
  '/api/requests?limit=50',
  '/api/events?limit=50',
  '/api/policy/stats',
  '/api/settings',
  '/api/nodes',
  '/api/requests?limit=50',
  '/api/events?limit=50',
  '/api/threat-intel?limit=50',
  '/api/audit?limit=50',
  '/api/config/versions',
  '/api/rules',
  '/api/rules/evidence',
  '/api/jobs',
  '/api/license',
  '/api/managed-feed',
  '/api/requests?verdict=block&limit=50',
  '/api/vpatch/catalog?severity=medium',
  '/api/account',
  '/api/ready',
  '/api/users',
];

async function fill(control: ControlPlane): Promise<void> {
  const nowMs = Math.round(performance.timeOrigin + performance.now());
  for (let sent = 0; sent < records; sent += 2000) {
    const requests = Array.from({ length: 2000 }, (_, index) => ({
      at_ms: nowMs - (records - sent - index),
      request_id: randomUUID(),
      site: 'bench',
      generation: 1,
      client_ip: `198.51.100.${index % 250}`,
      method: 'GET',
      uri: `/shop/items/${index}`,
      status: 200,
      verdict: index % 50 === 0 ? 'block' : 'pass',
      inbound_score: 0,
      outbound_score: 0,
      rule_ids: index % 50 === 0 ? [942100] : [],
      user_agent: 'Mozilla/5.0',
      request_bytes: 0,
      response_bytes: 5120,
      latency_us: 1800,
      inspection_us: 90,
    }));
    const events = requests
      .filter((_, index) => index % 50 === 0)
      .map(({ at_ms, request_id, client_ip, uri }) => ({
        at_ms,
        request_id,
        site: 'bench',
        client_ip,
        kind: 'waf',
        verdict: 'block',
        method: 'GET',
        uri,
        status: 403,
        rule_id: 942100,
        inbound_score: 5,
        details: { messages: [{ rule_id: 942100, message: 'SQL injection', tags: [] }] },
      }));
    const reply = await fetch(`${control.url}/api/dataplane/records`, {
      method: 'POST',
      headers: { authorization: `Bearer ${control.nodeToken}`, 'content-type': 'application/json' },
      body: JSON.stringify({ node: 'bench', batch_id: randomUUID(), requests, events }),
    });
    if (!reply.ok)
      throw new HarnessProblem(`records were answered ${reply.status}: ${(await reply.text()).slice(0, 300)}`);
  }
  await control.call('POST', '/api/threat-intel', {
    text: Array.from({ length: 10_000 }, (_, index) => `11.0.${index >> 8}.${index & 255}`).join('\n'),
  });
}

/** Milliseconds from when the request was due until its last byte; throws for an answer that is not 200. */
async function readAt(agent: Agent, control: ControlPlane, path: string, dueMs: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(
      `${control.url}${path}`,
      { agent, headers: { authorization: `Bearer ${control.token}` } },
      (reply) => {
        reply.resume();
        reply.once('end', () =>
          reply.statusCode === 200
            ? resolve(performance.now() - dueMs)
            : reject(new HarnessProblem(`${path} was answered ${reply.statusCode}`)),
        );
      },
    );
    sent.once('error', reject);
    sent.end();
  });
}

export async function apiReadsCase(context: BenchContext): Promise<void> {
  const { root, options, recorder } = context;
  const control = await startControlPlane({ root, databaseUrl: null });
  const agent = new Agent({ keepAlive: true, maxSockets: 50 });
  try {
    await fill(control);
    for (const path of [...reads, ...reads]) await readAt(agent, control, path, 0);
    for (let repetition = 1; repetition <= options.repetitions; repetition++) {
      context.progress(`api reads: ${perSecond}/s (${repetition}/${options.repetitions})`);
      const seconds = Math.max(5, options.seconds);
      const cpuBefore = cpuUs(control.pid);
      const startedMs = performance.now();
      const answers: Promise<{ readonly path: string; readonly ms: number }>[] = [];
      for (let sent = 0; sent < seconds * perSecond; sent++) {
        const dueMs = startedMs + (sent * 1000) / perSecond;
        const early = dueMs - performance.now();
        if (early > 1) await pause(early);
        const path = reads[sent % reads.length] as string;
        const answer = readAt(agent, control, path, dueMs).then((ms) => ({ path, ms }));
        answer.catch(() => undefined); // told below, when all are awaited
        answers.push(answer);
      }
      const all = await Promise.all(answers);
      const times = all.map(({ ms }) => ms);
      recorder.add('api reads / PGlite, 200/s / p50', 'ms', 'lower', quantile(times, 0.5));
      recorder.add('api reads / PGlite, 200/s / p99', 'ms', 'lower', quantile(times, 0.99));
      recorder.add('api reads / PGlite, 200/s / longest', 'ms', 'lower', quantile(times, 1));
      recorder.add(
        'api reads / PGlite, 200/s / CPU',
        'µs/request',
        'lower',
        (cpuUs(control.pid) - cpuBefore) / all.length,
      );
      for (const path of new Set(reads))
        recorder.add(
          `api reads / ${path.split('?')[0]}${path.includes('?') ? '?…' : ''} / p50`,
          'ms',
          'none',
          quantile(
            all.filter((one) => one.path === path).map(({ ms }) => ms),
            0.5,
          ),
        );
    }
  } finally {
    agent.destroy();
    await control.stop();
  }
}
