// The parts of the control plane as the vulnerability manager's monitor shows them: of what is stored, or known to this
// process, and asked of nothing else.
import { unknownComponent, type HealthComponent, type HostHealth } from '#vm-manager';
import { judgeCertificates, judgeFeeds } from './ages.js';
import type { HealthParts, Look } from './kit.js';
import { judgeBackups, judgeDatabase, judgeDisk, judgeRedis, judgeReplica } from './storage.js';
import { connectorQueues, judgeConnectors, judgeJobs, judgeNodes } from './work.js';

export type { HealthParts } from './kit.js';

/** In the order in which they are shown. A new component is one line here. */
const looks: Readonly<Record<string, Look>> = {
  database: judgeDatabase,
  replica: judgeReplica,
  redis: judgeRedis,
  nodes: judgeNodes,
  jobs: judgeJobs,
  disk: judgeDisk,
  certificates: judgeCertificates,
  feeds: judgeFeeds,
  backups: judgeBackups,
  connectors: judgeConnectors,
};

export const createHealth =
  (parts: HealthParts) =>
  async (now: Date): Promise<HostHealth> => {
    const components: HealthComponent[] = [];
    for (const [id, look] of Object.entries(looks)) {
      components.push(await look(parts, now).catch((error: unknown) => unknownComponent(id, error)));
    }
    // where they cannot be read, the component of connectors could not be looked at either, and says so
    return { components, queues: await connectorQueues(parts).catch(() => []) };
  };
