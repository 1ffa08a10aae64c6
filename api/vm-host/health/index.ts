// The parts of the control plane as the vulnerability manager's monitor shows them: of what is stored, or known to this
// process, and asked of nothing else.
import type { HealthComponent, HostHealth } from '#vm-manager';
import { judgeCertificates, judgeFeeds } from './ages.js';
import type { HealthParts, Look } from './kit.js';
import { judgeBackups, judgeDatabase, judgeDisk, judgeRedis } from './storage.js';
import { connectorQueues, judgeConnectors, judgeJobs, judgeNodes } from './work.js';

export type { HealthParts } from './kit.js';

/** In the order in which they are shown. A new component is one line here. */
const looks: Readonly<Record<string, Look>> = {
  database: judgeDatabase,
  redis: judgeRedis,
  nodes: judgeNodes,
  jobs: judgeJobs,
  disk: judgeDisk,
  certificates: judgeCertificates,
  feeds: judgeFeeds,
  backups: judgeBackups,
  connectors: judgeConnectors,
};

/** One that cannot be looked at says so, and the others are told all the same. */
const unknown = (id: string): HealthComponent => ({
  id,
  state: 'unknown',
  summary: 'It could not be looked at',
  measure: null,
  action: 'Read the log of the control plane.',
});

export const createHealth =
  (parts: HealthParts) =>
  async (now: Date): Promise<HostHealth> => {
    const components: HealthComponent[] = [];
    for (const [id, look] of Object.entries(looks)) components.push(await look(parts, now).catch(() => unknown(id)));
    return { components, queues: await connectorQueues(parts).catch(() => []) };
  };
