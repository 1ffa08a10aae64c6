// Full load from one address for 20 s beside somebody who does no harm: the flooder is banned on every worker within a
// second of the request that crosses the line, and the other one notices little.
import type { BenchContext } from '../context.js';
import { Bars } from './bars.js';
import { flood } from './flooder.js';
import { startPages } from './pages.js';
import { startStage } from './stage.js';
import { during, startWellBehaved } from './well-behaved.js';

const seconds = 20;
const threshold = 20;
/** Dealt to the workers by the kernel: that one of two gets none of 64 is a matter of 2 to the power of -63. */
const connections = 64;
const others = '127.0.0.3';
/** Below this a p99 is as much the machine's as the system's. */
const leastP99Ms = 5;

const settings = {
  flood_burst_enabled: true,
  flood_burst_events: 100,
  flood_burst_window: '1s',
  flood_autoban_enabled: true,
  flood_autoban_threshold: threshold,
  flood_autoban_window_sec: 60,
  flood_autoban_duration_sec: 600,
};

export async function edgeFloodCase(context: BenchContext): Promise<void> {
  const bars = new Bars(context, 'edge-flood');
  const backend = await startPages();
  const { system, stop } = await startStage(context, backend, { workers: 2, settings });
  try {
    const { port } = system;
    await during({ port, from: others }, 3000); // first requests are compiled while they run
    const quiet = await during({ port, from: others }, 10_000);
    const beside = startWellBehaved({ port, from: others });
    const flooded = await flood({ port, from: '127.0.0.2', connections, seconds, threshold });
    const served = await beside.stop();
    for (const [status, requests] of Object.entries(flooded.byStatus))
      bars.tell(
        `requests of the flooder answered ${status === '0' ? 'by the end of the connection' : status}`,
        '',
        requests,
      );
    bars.tell("the other's p99 while it is quiet", 'ms', quiet.p99Ms);
    bars.check(
      'from the threshold to the last request that was not banned',
      'ms',
      flooded.lastUnbannedMs - flooded.crossedMs,
      {
        most: 1000,
      },
    );
    bars.check('connections of the flooder, of 64, that met the ban', '', flooded.bannedConnections, {
      exact: connections,
    });
    bars.check("the other's p99", 'ms', served.p99Ms, { most: 3 * Math.max(leastP99Ms, quiet.p99Ms) });
    for (const [status, requests] of Object.entries({ ...quiet.refusals, ...served.refusals }))
      bars.tell(`the other's requests that were answered ${status === '0' ? 'not at all' : status}`, '', requests);
    bars.check("the other's requests that were refused", '', served.refused + quiet.refused, { exact: 0 });
  } finally {
    await stop();
    await backend.stop();
  }
  bars.finish();
}
