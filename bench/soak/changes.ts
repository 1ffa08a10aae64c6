// Changes for a soak: one is saved and applied every ten seconds, whatever the database does; what was acknowledged has
// to be there at the end, and what was refused must not matter.
import postgres from 'postgres';
import { setTimeout as pause } from 'node:timers/promises';
import { RefusedCall, type ControlPlane } from '../control-plane.js';
import { nowMs, type Interval } from './probe.js';

const everyMs = 10_000;
/** Of the settings; older ones are removed by the product, so that they are looked for before that. */
const versionsKept = 50;
const lookEvery = 20;
/** Only while the database is away. */
const patienceMs = 60_000;
/** A first compile without any cache, on a machine that has other things to do, goes on where it was given up. */
const firstPatienceMs = 900_000;

export interface Applies {
  saved: number;
  applied: number;
  /** Answered 503: the database was away, and the caller was told to come again. */
  refused: number;
  /** Every other answer, and connections that ended without one. */
  readonly faults: string[];
  /** Acknowledged changes that were not there when they were looked for. */
  readonly lost: Set<string>;
  /** When an apply was on its way. */
  readonly intervals: Interval[];
}

export interface Changes {
  /** The first one, which has to succeed. */
  applyOnce(control: ControlPlane): Promise<void>;
  /** Until `ending`, then looks once more for what was acknowledged. */
  keepApplying(control: ControlPlane, ending: AbortSignal): Promise<Applies>;
  /** Stored records of requests, and those that were counted as left out. */
  countRecords(control: ControlPlane): Promise<number>;
}

interface VersionRow {
  readonly id: number;
  readonly active: boolean;
}

const ruleOf = (n: number): object => ({
  id: 1_000_001,
  name: `soak ${n}`,
  enabled: true,
  kind: 'visual',
  variable: 'ARGS',
  operator: 'contains',
  value: `never-sent-${n}`,
  action: 'block',
  phase: 2,
});

async function listVersions(control: ControlPlane, limit: number): Promise<readonly VersionRow[]> {
  const { items } = (await control.call('GET', `/api/config/versions?limit=${limit}`)) as {
    items: readonly VersionRow[];
  };
  return items;
}

const isAway = (error: unknown): boolean => error instanceof RefusedCall && error.status === 503;

/** Asks again while the answer is 503. */
async function insist<T>(ask: () => Promise<T>, forMs = patienceMs): Promise<T> {
  for (const startedMs = performance.now(); ; await pause(250)) {
    try {
      return await ask();
    } catch (error) {
      if (!isAway(error) || performance.now() - startedMs > forMs) throw error;
    }
  }
}

class Acknowledged {
  /** Version → the name that its rule was saved with. */
  private readonly saved = new Map<number, string>();
  private lastApplied = 0;
  private n = 0;

  async save(control: ControlPlane): Promise<number> {
    const name = `soak ${++this.n}`;
    await control.call('PATCH', '/api/settings', { custom_rules: [ruleOf(this.n)] });
    // a save that was not acknowledged may have been stored all the same: then this one is a version behind it
    const id = (await listVersions(control, 1))[0]?.id ?? -1;
    this.saved.set(id, name);
    return id;
  }

  async apply(control: ControlPlane, intervals: Interval[]): Promise<void> {
    const fromMs = nowMs();
    const { version } = await control.call('POST', '/api/apply').finally(() => {
      intervals.push({ fromMs, toMs: nowMs() });
    });
    this.lastApplied = Number(version);
  }

  /** What is missing of the newest; whatever is active has to be as new as the last apply that was acknowledged. */
  async findLost(control: ControlPlane): Promise<readonly string[]> {
    const lost: string[] = [];
    const newest = [...this.saved].slice(-Math.min(versionsKept - 1, 2 * lookEvery));
    for (const [version, name] of newest) {
      const found = await insist(() => control.call('GET', `/api/config/versions/${version}`)).catch(
        (error: Error) => error,
      );
      if (found instanceof Error || !JSON.stringify(found).includes(`"${name}"`)) lost.push(`version ${version}`);
    }
    const active = (await insist(() => listVersions(control, versionsKept))).find((version) => version.active);
    if ((active?.id ?? 0) < this.lastApplied) lost.push(`the apply of version ${this.lastApplied}`);
    return lost;
  }
}

async function keepApplying(acknowledged: Acknowledged, control: ControlPlane, ending: AbortSignal): Promise<Applies> {
  const applies: Applies = { saved: 0, applied: 0, refused: 0, faults: [], lost: new Set(), intervals: [] };
  const isDone = async (step: () => Promise<unknown>): Promise<boolean> => {
    try {
      await step();
      return true;
    } catch (error) {
      if (isAway(error)) applies.refused++;
      else applies.faults.push(error instanceof Error ? error.message : String(error));
      return false;
    }
  };
  const look = async (): Promise<void> => {
    for (const lost of await acknowledged.findLost(control)) applies.lost.add(lost);
  };
  while (!ending.aborted) {
    const dueMs = performance.now() + everyMs;
    if (await isDone(() => acknowledged.save(control))) {
      applies.saved++;
      if (await isDone(() => acknowledged.apply(control, applies.intervals))) applies.applied++;
      if (applies.saved % lookEvery === 0) await look();
    }
    await pause(Math.max(0, dueMs - performance.now()), undefined, { signal: ending }).catch(() => undefined);
  }
  await look();
  return applies;
}

/** `databaseUrl`: where records are counted, which the API only estimates beyond 100,000. */
export function createChanges(databaseUrl: string): Changes {
  const acknowledged = new Acknowledged();
  return {
    async applyOnce(control) {
      await acknowledged.save(control);
      await insist(() => acknowledged.apply(control, []), firstPatienceMs);
    },
    keepApplying: (control, ending) => keepApplying(acknowledged, control, ending),
    async countRecords(control) {
      const stats = await control.call('GET', '/api/policy/stats');
      const leftOut = ['records_dropped_by_nodes', 'records_sampled_out', 'records_refused'];
      const sql = postgres(databaseUrl, { max: 1 });
      try {
        const [row] = await sql<{ n: number }[]>`select count(*)::int as n from request_records`;
        return (row?.n ?? 0) + leftOut.reduce((sum, name) => sum + Number(stats[name] ?? 0), 0);
      } finally {
        await sql.end({ timeout: 1 });
      }
    },
  };
}
