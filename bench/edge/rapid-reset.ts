// HTTP/2 rapid reset (CVE-2023-44487): requests that are taken back as soon as they are sent, over connection after
// connection. Each connection is ended after a few hundred, others are served meanwhile, and memory stays.
import type { BenchContext } from '../context.js';
import { residentBytes } from '../cpu.js';
import { Bars } from './bars.js';
import { startPages } from './pages.js';
import { resetRapidly } from './resetter.js';
import { metric, startStage } from './stage.js';
import { during, startWellBehaved } from './well-behaved.js';

const attackMs = 10_000;
const connectionsAtOnce = 10;
/** Requests of a connection that reach the road: 200 taken back at once end it, and a few are under way by then. */
const requestsMax = 400;
const others = '127.0.0.3';
const leastP99Ms = 5;

export async function edgeRapidResetCase(context: BenchContext): Promise<void> {
  const bars = new Bars(context, 'edge-rapid-reset');
  const backend = await startPages();
  const { system, tlsPort, stop } = await startStage(context, backend, { workers: 2, settings: {} });
  try {
    const { port, pid } = system;
    await during({ port, from: others }, 3000);
    const quiet = await during({ port, from: others }, 6000);
    const before = await metric(system, 'gatehouse_requests_total');
    const beside = startWellBehaved({ port, from: others });
    const endMs = performance.now() + attackMs;
    const peaks = [0, 0]; // MB, of either half
    const timer = setInterval(() => {
      const half = performance.now() > endMs - attackMs / 2 ? 1 : 0;
      peaks[half] = Math.max(peaks[half] as number, residentBytes(pid) / 1e6);
    }, 200);
    const ends = await resetRapidly({ port: tlsPort, ms: attackMs, connections: connectionsAtOnce });
    clearInterval(timer);
    const served = await beside.stop();
    const spared = ends.filter(({ wasEnded }) => !wasEnded).length;
    const counted = await metric(system, 'gatehouse_http2_connections_ended_total');
    const requests = (await metric(system, 'gatehouse_requests_total')) - before - served.asked;
    bars.tell('most requests that a connection had sent by its end', '', Math.max(...ends.map(({ sent }) => sent)));
    bars.tell('connections that attacked', '', ends.length);
    bars.tell('connections ended for an excess, by the metrics', '', counted);
    bars.tell("others' p99 while it is quiet", 'ms', quiet.p99Ms);
    // those of the last moment had no time to be ended
    bars.check('connections that attacked and were not ended', '', spared, { most: connectionsAtOnce });
    bars.check('requests that a connection brought to the road', '', requests / ends.length, { most: requestsMax });
    bars.check('requests of others that were refused', '', served.refused, { exact: 0 });
    const waits = served.p99Ms / Math.max(leastP99Ms, quiet.p99Ms);
    bars.check('others wait, beside what is usual', 'times', waits, { most: 20 });
    bars.check('memory of the second half beside the first', 'times', (peaks[1] as number) / (peaks[0] as number), {
      most: 1.15,
    });
  } finally {
    await stop();
    await backend.stop();
  }
  bars.finish();
}
