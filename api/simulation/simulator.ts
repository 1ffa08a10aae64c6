// One simulation from its beginning to its report: the site is found on a node, requests are sent, records are waited
// for, and the row says how it ended, whatever happened.
import { setTimeout as pause } from 'node:timers/promises';
import { simulationKeyOf } from '#proxy/contract';
import { ApiError, type Actor } from '../http-kit/index.js';
import type { Queryable } from '../db/client.js';
import type { NodeTraffic } from '../edge/node-gates.js';
import { nameOf } from '../nodes/directory.js';
import type { Parts } from '../parts.js';
import { gather } from './gather.js';
import { makeReport, readRecorded, type Report } from './report.js';
import { addressOf, sendWave, type Plan, type Sent } from './send.js';
import { beginSimulation, endSimulation, noteProgress, type SimulationRow, type Wanted } from './store.js';
import { waveOf } from './waves.js';

/** The detection engine, as a simulation asks it. */
export interface EngineView {
  /** What it said of these addresses since then. */
  verdictsOf(sql: Queryable, addresses: readonly string[], since: Date): Promise<readonly unknown[]>;
  /** When its last round began; null: it has had none. */
  lookedAt(sql: Queryable): Promise<Date | null>;
}

export type SimulationParts = Pick<
  Parts,
  'database' | 'audit' | 'now' | 'nodeGates' | 'nodeToken' | 'currentSettings'
> & {
  /** Absent: no engine is asked. */
  readonly engine?: EngineView;
};

const progressMs = 1000;

export interface Target {
  readonly site: string;
  readonly url: string;
  readonly host: string;
  readonly prefix: string;
}

/**
 * Where requests to the site are answered: the first node that answers and serves it in plain HTTP. Throws ApiError
 * `not_ready` without a node, `unfit` for a site that none serves, with the names of those that are.
 */
export async function findTarget({ nodeGates }: Pick<SimulationParts, 'nodeGates'>, site: string): Promise<Target> {
  if (nodeGates === null) throw new ApiError('not_ready', 'No data plane is connected (DATA_ADMIN_URLS).');
  const nodes = (await nodeGates.traffic()).filter(({ answer }) => answer !== null);
  if (nodes.length === 0) throw new ApiError('not_ready', 'No node of the data plane answers.');
  const served = nodes.flatMap(({ node, answer }) => targetsOf(node, answer));
  const found = served.find((one) => one.site === site);
  if (found !== undefined) return found;
  const names = [...new Set(served.map((one) => one.site))].slice(0, 20).join(', ');
  throw new ApiError('unfit', `No node serves a site ${site} in plain HTTP; there are: ${names || 'none'}.`);
}

function targetsOf(node: string, answer: NodeTraffic | null): Target[] {
  const { port } = answer ?? {};
  // where clients reach a node that enrolled is not known here
  if (answer === null || port === undefined || port === null || nameOf(node) !== null) return [];
  const url = `http://${new URL(node).hostname}:${port}`;
  return answer.sites.map(({ name, host, prefix }) => ({
    site: name,
    url,
    // a name within the wildcard; a site of any host takes one that nobody has (RFC 2606)
    host: host === null || host === '' || host === '*' ? 'simulation.invalid' : host.replace(/^\*\./, 'simulation.'),
    prefix: prefix.replace(/\/+$/, ''),
  }));
}

/** Stores the beginning with its audit entry. Throws ApiError `conflict` while another one runs. */
export const begin = (
  { database, audit, now }: SimulationParts,
  wanted: Wanted,
  actor: Actor,
  selfTest: number | null,
): Promise<SimulationRow> =>
  beginSimulation(database.sql, wanted, { name: actor.name, selfTest }, new Date(now()), async (tx, id) => {
    await audit.record(tx as never, {
      actor,
      action: 'simulation.start',
      summary: `simulation ${id}: ${wanted.type} against ${wanted.site}, ${wanted.requests} requests at most`,
      details: { ...wanted, simulation: id, self_test: selfTest },
    });
  });

/** Sends it and stores how it ended; never rejects. `signal`: this server stops. */
export async function run(
  parts: SimulationParts,
  row: SimulationRow,
  target: Target,
  signal: AbortSignal,
): Promise<Report | null> {
  const { database, now } = parts;
  const { sql } = database;
  const { wanted } = row;
  const sent: Sent[] = [];
  const stopping = new AbortController();
  const either = AbortSignal.any([signal, stopping.signal]);
  const timer = setInterval(() => {
    noteProgress(sql, row.id, sent.length, new Date(now())).then(
      (isToStop) => isToStop && stopping.abort(),
      () => undefined, // the database is away: the time limit still ends it
    );
  }, progressMs);
  try {
    const plan: Plan = {
      ...target,
      wave: waveOf(wanted.type),
      key: simulationKeyOf(parts.nodeToken),
      number: row.id,
      requests: wanted.requests,
      seconds: wanted.seconds,
      rate: wanted.rate,
      now,
    };
    await sendWave(plan, either, (one) => sent.push(one));
    const report = await reportOf(parts, row, sent, signal);
    const status = stopping.signal.aborted || signal.aborted ? 'stopped' : 'ended';
    await endSimulation(sql, row.id, { status, sent: sent.length, report, error: null }, new Date(now()));
    return report;
  } catch (error) {
    const told = error instanceof Error ? error.message : String(error);
    const end = { status: 'failed', sent: sent.length, report: null, error: told.slice(0, 500) } as const;
    await endSimulation(sql, row.id, end, new Date(now())).catch(() => undefined);
    return null;
  } finally {
    clearInterval(timer);
  }
}

async function reportOf(
  { database, currentSettings, engine, now }: SimulationParts,
  row: SimulationRow,
  sent: readonly Sent[],
  signal: AbortSignal,
): Promise<Report> {
  const { sql } = database;
  const addresses = [...new Set(sent.map(({ address }) => address))];
  // nodes have clocks of their own
  const since = new Date(row.started_at.getTime() - 60_000);
  const asked = engine !== undefined && (await currentSettings()).ai_enabled ? engine : null;
  const ids = sent.flatMap(({ requestId }) => (requestId === null ? [] : [requestId]));
  const { recorded, verdicts } = await gather({
    answered: new Set(ids),
    recorded: () => readRecorded(sql, addresses, ids, since),
    engine:
      asked === null
        ? null
        : { verdicts: () => asked.verdictsOf(sql, addresses, since), lookedAt: () => asked.lookedAt(sql) },
    now,
    pause: (ms) => pause(ms, undefined, { signal }).catch(() => undefined),
    signal,
  });
  return { ...makeReport(sent, recorded, verdicts), scored_clients: asked === null ? 0 : addresses.length };
}

/** The address of the first client, for people who look for its records. */
export const networkOf = (id: number): string => `${addressOf(id, 0).replace(/\.\d+$/, '')}.0/24`;
