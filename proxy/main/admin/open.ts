// Where the control plane reaches this node: the admin interface on its port, and, for a node that enrolled, tunnels.
import type { Logger } from 'pino';
import { Renewal } from '../../fleet/renewal.js';
import { Tunnels } from '../../fleet/tunnels.js';
import type { DataPlaneOptions } from '../options.js';
import { adminHandler, startAdmin, type AdminActions, type AdminServer } from './server.js';

export interface OpenAdmin extends AdminServer {
  /** null: the node never enrolled. */
  readonly tunnels: Tunnels | null;
}

/** Rejects where the port is taken; control planes that are away are tried in the background. */
export async function openAdmin(
  { adminHost: host, adminPort: port, identity = null }: DataPlaneOptions,
  token: string,
  actions: AdminActions,
  logger: Logger,
): Promise<OpenAdmin> {
  const admin = await startAdmin({ host, port, token, actions });
  if (identity === null) return { ...admin, tunnels: null };
  const log = (level: 'info' | 'warn' | 'error', fields: object, message: string): void =>
    logger[level](fields, message);
  const tunnels = new Tunnels({ identity, handle: adminHandler(actions, null), log });
  const renewal = new Renewal({ identity, log });
  tunnels.begin();
  renewal.begin();
  return {
    port: admin.port,
    tunnels,
    async close() {
      renewal.close();
      tunnels.close();
      await admin.close();
    },
  };
}
