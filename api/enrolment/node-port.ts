// The port of nodes as a part of the server: what is made before the way to the data plane, and what listens after it.
import type { Database } from '../db/client.js';
import { createSealing } from '../auth/sealing.js';
import type { Env } from '../env.js';
import type { App } from '../http-kit/index.js';
import type { NodeDirectory } from '../nodes/directory.js';
import { createLook } from '../nodes/routes.js';
import { createTunnels, type TunnelRegistry } from '../nodes/tunnels.js';
import type { Parts } from '../parts.js';
import { openAuthority } from './authority.js';
import type { NodePort } from './contract.js';
import { openDoor, type Door } from './door.js';
import { createEnrolment } from './enrol.js';
import { applyFirst } from './first-apply.js';
import { adoptSharedToken } from './fleeting.js';

export interface PreparedNodePort {
  readonly forLink: { readonly tunnels: TunnelRegistry };
  portFor(directory: Pick<NodeDirectory, 'refresh'> | undefined): NodePort;
  /** After the app is built. Rejects where the port is taken. */
  open(app: App, parts: Parts): Promise<Door>;
}

/** null: NODES_PORT is not set. `nodeLifeMs`: of certificates of nodes; shorter in tests. */
export async function prepareNodePort(
  env: Pick<Env, 'nodePort' | 'settingsEncryptionSecret'>,
  database: Database,
  now: () => number,
  nodeLifeMs?: number,
): Promise<PreparedNodePort | null> {
  if (env.nodePort === null) return null;
  const { host, port, urls, shared = null } = env.nodePort;
  const sealing = createSealing(env.settingsEncryptionSecret);
  const authority = await openAuthority(database.sql, sealing, new Date(now()), nodeLifeMs);
  await adoptSharedToken(database, shared, new Date(now()));
  const tunnels = createTunnels();
  let refresh = async (): Promise<void> => {};
  return {
    forLink: { tunnels },
    portFor(directory) {
      if (directory !== undefined) refresh = () => directory.refresh();
      return {
        fingerprint: authority.fingerprint,
        addresses: urls,
        isConnected: tunnels.has,
        async revoked(name) {
          tunnels.drop(name);
          await refresh();
        },
      };
    },
    open(app, parts) {
      const look = createLook(parts);
      const onProblem = (message: string): void => app.log.error(message);
      tunnels.onConnect = (name) => {
        app.log.info({ node: name }, 'a node is connected');
        // another control plane may have enrolled it a moment ago
        refresh()
          .then(look)
          .then(() => (env.nodePort?.isOnlyWay === true ? applyFirst(parts) : null))
          .catch((error: unknown) => onProblem(`nodes were not looked at: ${String(error)}`));
      };
      const onLeft = async ({ name }: { readonly name: string }): Promise<void> => {
        tunnels.drop(name);
        await refresh();
      };
      const joinSecret = shared?.secret ?? null;
      const given = { parts, authority, addresses: urls, onJoined: () => refresh(), onLeft, joinSecret };
      const enrolment = createEnrolment(given);
      const { nodeToken } = parts;
      const route = app.routing.bind(app);
      return openDoor({ host, port, authority, enrolment, tunnels, route, nodeToken, now, onProblem });
    },
  };
}
