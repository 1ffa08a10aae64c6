// Full load from one address, from a process of its own: so many connections, each asks again as soon as it is
// answered. It notes by when it was refused how, to tell when each of its connections met the ban.
import { attackersNice, given, isPart, startPart, tellAndEnd, untilFinish } from './part.js';
import { RawClient, requestOf } from './raw-client.js';

export interface FloodGiven {
  readonly port: number;
  readonly from: string;
  readonly connections: number;
  readonly seconds: number;
  /** Limited requests that lead to a ban. */
  readonly threshold: number;
}

export interface Flooded {
  readonly byStatus: Readonly<Record<string, number>>;
  /** When the limited request that crosses the threshold was answered, since the begin; NaN = it was not reached. */
  readonly crossedMs: number;
  /** When the last request that was not refused by a ban (200 or 429) was answered, of all connections. */
  readonly lastUnbannedMs: number;
  /** Connections that met the ban. */
  readonly bannedConnections: number;
}

export const flood = (attack: FloodGiven): Promise<Flooded> =>
  startPart<Flooded>(import.meta.url, attack, attackersNice).told;

async function run({ port, from, connections, seconds, threshold }: FloodGiven): Promise<Flooded> {
  untilFinish();
  const request = requestOf('/shop/items');
  const byStatus: Record<string, number> = {};
  const startedMs = performance.now();
  const endMs = startedMs + seconds * 1000;
  let crossedMs = Number.NaN;
  let lastUnbannedMs = Number.NaN;
  let limited = 0;
  const loop = async (): Promise<boolean> => {
    const client = new RawClient({ port, from, request });
    let wasBanned = false;
    while (performance.now() < endMs) {
      const { status, atMs } = await client.ask();
      byStatus[status] = (byStatus[status] ?? 0) + 1;
      if (status === 429) limited += 1;
      // the ban comes with the request that crosses the line, which is refused with 403 already
      if (Number.isNaN(crossedMs) && (limited >= threshold || status === 403)) crossedMs = atMs - startedMs;
      if (status === 200 || status === 429) lastUnbannedMs = atMs - startedMs;
      if (status === 403) wasBanned = true;
    }
    client.close();
    return wasBanned;
  };
  const ends = await Promise.all(Array.from({ length: connections }, loop));
  return { byStatus, crossedMs, lastUnbannedMs, bannedConnections: ends.filter(Boolean).length };
}

if (isPart(import.meta.url)) tellAndEnd(await run(given<FloodGiven>()));
