// Clients that want nothing but to hold what they hold: 5,000 connections whose heads never end (both ports), bodies
// that trickle, responses that nobody reads. Others are served meanwhile, each attacker is cut at its limit, and a
// second wave takes no more memory than the first.
import type { BenchContext } from '../context.js';
import { residentBytes } from '../cpu.js';
import { quantile } from '../statistics.js';
import { Bars } from './bars.js';
import { startPages } from './pages.js';
import { attackIn, attacks, limits, slackMs } from './slow-attacks.js';
import { startStage } from './stage.js';
import { during, startWellBehaved } from './well-behaved.js';

const others = '127.0.0.3';
const leastP99Ms = 5;

const settings = {
  flood_timeouts_enabled: true,
  flood_read_header: `${limits.headMs / 1000}s`,
  flood_read_body: `${limits.bodyIdleMs / 1000}s`,
  flood_write: `${limits.writeMs / 1000}s`,
  timeouts: { client_progress_ms: limits.progressMs },
};

/** The most that a process held while `work` ran, in MB. */
async function peakMb(pid: number, work: Promise<unknown>): Promise<number> {
  let peak = 0;
  const look = (): void => void (peak = Math.max(peak, residentBytes(pid) / 1e6));
  const timer = setInterval(look, 200);
  await work;
  clearInterval(timer);
  return peak;
}

export async function edgeSlowCase(context: BenchContext): Promise<void> {
  const bars = new Bars(context, 'edge-slow');
  const backend = await startPages();
  // Large pages come from a process of their own: who writes a hundred of them at once keeps others waiting himself.
  const large = await startPages();
  const sites = [
    { name: 'shop', prefix: '/', upstream: `http://127.0.0.1:${backend.port}`, protected: true },
    { name: 'large', prefix: '/big', upstream: `http://127.0.0.1:${large.port}`, protected: true },
  ];
  const stage = await startStage(context, backend, { workers: 2, settings: { ...settings, sites } });
  const { port, pid } = stage.system;
  try {
    await during({ port, from: others }, 3000);
    const quiet = await during({ port, from: others }, 6000);
    bars.tell("others' p99 while it is quiet", 'ms', quiet.p99Ms);
    for (const attack of attacks) {
      const { name } = attack;
      const peaks: number[] = [];
      const lasted: number[] = [];
      const beside = startWellBehaved({ port, from: others });
      for (const count of [1, 2]) {
        const run = attackIn(stage, attack).then((list) => void lasted.push(...list));
        peaks.push(await peakMb(pid, run));
        context.progress(`edge-slow: ${name}, wave ${count} is over`);
      }
      const served = await beside.stop();
      const [first = Number.NaN, second = Number.NaN] = peaks;
      bars.tell(`${name}: most memory in the first wave`, 'MB', first);
      bars.check(`${name}: how long the last of them held out`, 'ms', quantile(lasted, 1), {
        most: attack.limitMs + slackMs,
      });
      bars.check(`${name}: memory of the second wave beside the first`, 'times', second / first, { most: 1.15 });
      bars.check(`${name}: requests of others that were refused`, '', served.refused, { exact: 0 });
      bars.tell(`${name}: p99 of others`, 'ms', served.p99Ms);
      bars.check(
        `${name}: others wait, beside what is usual`,
        'times',
        served.p99Ms / Math.max(leastP99Ms, quiet.p99Ms),
        {
          most: 20,
        },
      );
    }
  } finally {
    await stage.stop();
    await backend.stop();
    await large.stop();
  }
  bars.finish();
}
