// The whole installation at one moment, and what has changed since the last look. A look is made with each question and
// by a job every minute; only the job writes.
import type { Host } from '../host.js';
import { emit, type NewEvent } from '../kit/events.js';
import { unknownComponent, type HealthComponent, type HealthQueue, type HealthState } from './component.js';
import { judgeIntel, judgeScanners, judgeWaysOut } from './own.js';
import { judgeQueues, readQueues } from './queues.js';

export interface Look {
  readonly components: readonly HealthComponent[];
  readonly queues: readonly HealthQueue[];
}

/** A component that could not be looked at says so, and the others are shown all the same. */
async function tried(id: string, look: () => Promise<HealthComponent>): Promise<HealthComponent> {
  try {
    return await look();
  } catch (error) {
    return unknownComponent(id, error);
  }
}

export async function lookAround(host: Host, now: Date): Promise<Look> {
  const { sql } = host;
  const of = (await host.health?.(now)) ?? { components: [], queues: [] };
  const queues = [...(await readQueues(sql, now)), ...of.queues];
  const components = [
    ...of.components,
    judgeQueues(queues, now),
    await tried('intelligence', () => judgeIntel(host, now)),
    await tried('scanners', () => judgeScanners(sql, now)),
    await tried('outgoing', () => judgeWaysOut(sql, now)),
  ];
  return { components, queues };
}

export interface StateRow {
  readonly component: string;
  readonly state: HealthState;
  readonly since: Date;
  readonly looked_at: Date;
}

export const changesKept = 1000;
/** Of a finding: routes that ask for grave events have it. */
const high = 3;
const isQuiet = (state: HealthState): boolean => state === 'ok' || state === 'off';

/** `failing` and the end of it are events; between `ok` and `warning` there is nothing to wake people for. */
function eventOf(before: HealthState | null, now: HealthComponent, entityId: number): NewEvent[] {
  const type =
    now.state === 'failing' ? 'health.failing' : before === 'failing' && isQuiet(now.state) ? 'health.recovered' : null;
  if (type === null) return [];
  const { id: component, state, summary, action } = now;
  const title = `${component}: ${summary}`;
  const payload = {
    component,
    state,
    before,
    action,
    summary: title,
    ...(type === 'health.failing' && { severity: high }),
  };
  return [{ type, entity: 'component', entityId, applicationId: null, payload }];
}

/** Writes down what has changed since the last look; returns how many components did. */
export async function noteChanges(host: Host, now: Date): Promise<number> {
  const { components } = await lookAround(host, now);
  return host.sql.begin(async (tx) => {
    const known = await tx<StateRow[]>`select * from vm_health_states for update`;
    let changed = 0;
    for (const component of components) {
      const { id, state, summary, action } = component;
      const before = known.find((row) => row.component === id) ?? null;
      const [stored] = await tx<{ id: number }[]>`
        insert into vm_health_states (component, state, since, looked_at) values (${id}, ${state}, ${now}, ${now})
        on conflict (component) do update set looked_at = excluded.looked_at, state = excluded.state,
          since = case when vm_health_states.state = excluded.state then vm_health_states.since else excluded.since end
        returning id`;
      if (before?.state === state || (before === null && isQuiet(state))) continue;
      changed++;
      await tx`
        insert into vm_health_changes (component, before, state, summary, action, at)
        values (${id}, ${before?.state ?? null}, ${state}, ${summary}, ${action}, ${now})`;
      await emit(tx, eventOf(before?.state ?? null, component, stored?.id ?? 0), now);
    }
    const ids = components.map(({ id }) => id);
    await tx`delete from vm_health_states where component not in ${tx(ids)}`;
    if (changed > 0)
      await tx`delete from vm_health_changes where id <= (select max(id) from vm_health_changes) - ${changesKept}`;
    return changed;
  });
}
