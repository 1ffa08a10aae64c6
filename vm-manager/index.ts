// The door `#vm-manager`: the vulnerability manager as a feature of a server. The server gives a Host; everything below
// /api/v1 and the explorer at /docs come with it.
import { type App, type Feature } from '#http-kit';
import { endpoints } from './endpoints.js';
import type { Host } from './host.js';
import { explorerPaths, registerExplorer } from './kit/docs/explorer.js';
import { accessOf, mount } from './kit/mount.js';
import { toOpenApi } from './kit/docs/openapi.js';
import { registerUploads } from './kit/upload/receive.js';
import { vmJobs } from './jobs.js';

export { brandNameIn } from './branding/current.js';
export { seesAudit } from './kit/caller.js';
export type { FirewallActivity } from './reports/sections/firewall-activity.js';
export type { Narrator } from './graph/explain.js';
export type { OutboxEvent, TakeEvents } from './kit/outbox.js';
export type * from './apis/port.js';
export type { ModelChange, ModelService, ModelSettings } from './assistant/settings.js';
export type * from './backups/port.js';
export * from './health/component.js';
export type * from './vpatches/firewall.js';
export type {
  AuditFilter,
  AuditInput,
  AuditPort,
  AuditText,
  AuditView,
  FirewallAnswers,
  Host,
  Identity,
  IntelSources,
  LoginAnswer,
  OutboundCall,
  OwnAccount,
  Person,
  SeenEndpoint,
  SingleSignOn,
  SsoChange,
  SsoProvider,
  UserAdministration,
  UserRow,
  VmAction,
  WayOut,
} from './host.js';

/** The room as one feature; `toHost` makes what it needs of what the server has. */
export function createVulnerabilityManager<Needs>(toHost: (needs: Needs) => Host): Feature<Needs> {
  return {
    name: 'vm',
    access: {
      ...accessOf(endpoints),
      ...Object.fromEntries(explorerPaths.map((path) => [`GET ${path}`, { kind: 'public' } as const])),
    },
    routes: (app: App, needs) => {
      const host = toHost(needs);
      registerUploads(app);
      mount(app, endpoints, host);
      registerExplorer(app, host.brandName, () => toOpenApi(endpoints, host.brandName));
    },
    jobs: (needs) => vmJobs(toHost(needs)),
    migrations: new URL('./migrations/', import.meta.url),
  };
}
