// Changes for a soak: one is saved and applied every ten seconds, whatever the database does; what was acknowledged has
// to be there at the end, and what was refused must not matter.
import { setTimeout as pause } from 'node:timers/promises';
import type { ControlPlane } from '../control-plane.js';
import { HarnessProblem } from '../processes.js';

const everyMs = 10_000;
/** Of the settings; older ones are removed by the product. */
const versionsKept = 50;

export interface Applies {
  saved: number;
  applied: number;
  /** Not acknowledged: the database was away, or the caller was told to come again. */
  refused: number;
}

export interface Changes {
  /** The first one, which has to succeed. */
  applyOnce(control: ControlPlane): Promise<void>;
  keepApplying(control: ControlPlane, ending: AbortSignal): Promise<Applies>;
  /** Acknowledged changes that are not there. */
  findLost(control: ControlPlane): Promise<readonly string[]>;
  /** Stored records of requests, and those that were counted as left out. */
  countRecords(control: ControlPlane): Promise<number>;
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

const marker = (n: number): string => `soak ${n}`;

/** `databaseUrl`: where records are counted, which the API only estimates beyond 100,000. */
export function createChanges(databaseUrl: string): Changes {
  /** Version → the name that its rule was saved with. */
  const acknowledged = new Map<number, string>();
  let n = 0;
  const save = async (control: ControlPlane): Promise<void> => {
    const name = marker(++n);
    await control.call('PATCH', '/api/settings', { custom_rules: [ruleOf(n)] });
    const { items } = (await control.call('GET', '/api/config/versions?limit=1')) as {
      items: readonly { readonly id: number }[];
    };
    // a save that was not acknowledged may have been stored all the same: then this one is a version behind it
    acknowledged.set(items[0]?.id ?? -1, name);
  };
  return {
    async applyOnce(control) {
      await save(control);
      await control.call('POST', '/api/apply');
    },
    async keepApplying(control, ending) {
      const applies: Applies = { saved: 0, applied: 0, refused: 0 };
      const isRefused = async (step: () => Promise<unknown>): Promise<boolean> => {
        try {
          await step();
          return false;
        } catch (error) {
          // undici's TypeError: the control plane ended the connection; a HarnessProblem: it answered, and not with 2xx
          if (!(error instanceof HarnessProblem || error instanceof TypeError)) throw error;
          applies.refused++;
          return true;
        }
      };
      while (!ending.aborted) {
        const dueMs = performance.now() + everyMs;
        if (!(await isRefused(() => save(control)))) {
          applies.saved++;
          if (!(await isRefused(() => control.call('POST', '/api/apply')))) applies.applied++;
        }
        await pause(Math.max(0, dueMs - performance.now()), undefined, { signal: ending }).catch(() => undefined);
      }
      return applies;
    },
    async findLost(control) {
      const lost: string[] = [];
      for (const [version, name] of [...acknowledged].slice(-versionsKept + 1)) {
        const found = await control.call('GET', `/api/config/versions/${version}`).catch((error: Error) => error);
        if (found instanceof Error || !JSON.stringify(found).includes(`"${name}"`)) lost.push(`version ${version}`);
      }
      return lost;
    },
    async countRecords(control) {
      const stats = await control.call('GET', '/api/policy/stats');
      const leftOut = ['records_dropped_by_nodes', 'records_sampled_out', 'records_refused'];
      const { default: postgres } = await import('postgres');
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
