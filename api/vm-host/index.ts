// The vulnerability manager in this server: its people, sessions, audit log and database are the control plane's.
import { resolveTxt } from 'node:dns/promises';
import { createVulnerabilityManager, type Host, type TakeEvents } from '#vm-manager';
import { answerEveryCheck, type ComplianceParts } from '../compliance/index.js';
import { createApis } from './apis/index.js';
import { release } from '../release.js';
import { createAuditReader } from './audit-port.js';
import { createBackupPort, type BackupPortParts } from './backups.js';
import { createFirewall, type FirewallParts } from './firewall.js';
import { createFirewallActivity } from './firewall-activity.js';
import { createIntelSources } from './intel-sources.js';
import { createHealth, type HealthParts } from './health/index.js';
import { createModelSettings } from './model.js';
import { createNarrators, type NarratorParts } from './narrator.js';
import { createIdentity, type IdentityParts } from './identity.js';
import { createSettingsRecord } from './settings-record.js';
import { createEastWest, createSeenEndpoints } from './seen-endpoints.js';
import type { Feature } from '../http-kit/index.js';
import type { Parts } from '../parts.js';
import { noteNamedEvents } from '../siem/store.js';

type VmParts = IdentityParts &
  NarratorParts &
  FirewallParts &
  ComplianceParts &
  HealthParts &
  BackupPortParts &
  Pick<Parts, 'brandName' | 'outbound' | 'replica' | 'chromium'>;

/** Events go to connectors that name the kind `vm`, with the transaction that takes them out of the room. */
const takeEvents: TakeEvents = (tx, events) =>
  noteNamedEvents(
    tx,
    'vm',
    events.map(({ at, ...body }) => ({ at, body })),
  );

const toHost = (parts: VmParts): Host => ({
  sql: parts.database.sql,
  ...(parts.replica === null ? {} : { replica: parts.replica }),
  hasOneConnection: parts.database.kind === 'embedded',
  now: parts.now,
  identity: createIdentity(parts),
  audit: createAuditReader(parts),
  brandName: parts.brandName,
  release: release(),
  secrets: parts.sealing,
  narrator: createNarrators(parts),
  model: createModelSettings(parts),
  ...(parts.tryRequests === null ? {} : { firewall: createFirewall(parts) }),
  firewallAnswers: () => answerEveryCheck(parts),
  intelSources: createIntelSources(parts),
  csafNamespace: async () => (await parts.currentSettings()).vm_csaf_namespace,
  withToxicPack: async () => (await parts.currentSettings()).vm_toxic_pack,
  eventBounds: async () => {
    const { vm_events_days: days, vm_events_max: rowsMax } = await parts.currentSettings();
    return { days, rowsMax };
  },
  closePercentMax: async () => (await parts.currentSettings()).vm_import_close_percent,
  takeEvents,
  wayOut: parts.outbound,
  chromium: parts.chromium,
  gitHosts: async () => (await parts.currentSettings()).vm_git_hosts.split(/[\s,]+/).filter(Boolean),
  gitAuthorities: async () => (await parts.currentSettings()).vm_git_authorities,
  textRecords: async (name) => (await resolveTxt(name)).map((chunks) => chunks.join('')),
  seenEndpoints: createSeenEndpoints(parts),
  eastWest: createEastWest(parts),
  firewallActivity: createFirewallActivity(parts),
  apis: createApis(parts),
  settingsRecord: createSettingsRecord(parts),
  health: createHealth(parts),
  ...(parts.backupTools === null ? {} : { backups: createBackupPort(parts, parts.backupTools) }),
});

export const vmFeature: Feature<VmParts> = createVulnerabilityManager(toHost);
