// The pages of the console, in one table: the side bar, the command palette and the routes are made from it.
import type { IconName } from '../kit/icons.js';
import { mayAs, type Role } from '../client/session.js';
import { isDenied, isHeld, type VmPermission } from '../client/vm-access.js';
import { shellText as text } from '../texts/shell.js';

export interface PageEntry {
  readonly path: string;
  readonly title: string;
  readonly icon: IconName;
  readonly role: Role;
  /** Whoever has this permission of the vulnerability manager may open it, too, whatever their role. */
  readonly permission?: VmPermission;
  /** Whoever is known not to have this one is refused all that it shows: grants may take away what a role has. */
  readonly needs?: VmPermission;
  /** Other words that a person may look for. */
  readonly words: string;
}

export interface PageGroup {
  readonly title: string;
  readonly pages: readonly PageEntry[];
}

const page = (path: string, title: string, icon: IconName, words: string, role: Role = 'viewer'): PageEntry => ({
  path,
  title,
  icon,
  words,
  role,
});

/** Whether it is offered to who is logged in. The server decides; this only hides what it would refuse. */
export const mayOpen = ({ role, permission, needs }: PageEntry): boolean =>
  (mayAs(role) && (needs === undefined || !isDenied(needs))) || (permission !== undefined && isHeld(permission));

const managed = (needs: VmPermission, ...of: Parameters<typeof page>): PageEntry => ({ ...page(...of), needs });

export const navigation: readonly PageGroup[] = [
  {
    title: text.watch,
    pages: [
      page('/', text.overview, 'overview', text.dashboardStartTrafficBlock),
      page('/soc', text.securityEvents, 'radar', text.socLiveStreamAttacks),
      page('/requests', text.requests, 'list', text.accessLogTraffic),
      page('/engine', text.engine, 'gauge', text.engineWords),
      page('/engine/simulation', text.simulation, 'play', text.simulationWords),
      page('/alerts', text.alerts, 'bell', text.alertsWords),
      page('/connectors', text.connectors, 'upload', text.connectorsWords),
    ],
  },
  {
    title: text.protect,
    pages: [
      page('/sites', text.sites, 'nodes', text.sitesWords),
      page('/waf', text.ruleSet, 'shield', text.wafCrsModeParanoia),
      page('/waf/rules', text.customRules, 'code', text.seclangModsecurityBuilderEditor),
      page('/waf/patches', text.virtualPatches, 'patch', text.cveVulnerabilityCatalogue),
      page('/waf/tuning', text.tuning, 'tune', text.falsePositivesExclusionsSuggestions),
      page('/protection/limits', text.rateLimits, 'tune', text.rateLimitsWords),
      page('/protection/bots', text.bots, 'bug', text.botsWords),
      page('/protection/authentication', text.siteAuth, 'key', text.siteAuthWords),
      page('/protection/gates', text.limitsBots, 'gauge', text.rateLimitsFloodsBans),
      page('/inventory', text.apiInventory, 'apps', text.apiInventoryWords),
      page('/inventory/gaps', text.apiGaps, 'search', text.apiGapsWords),
      page('/inventory/threats', text.apiThreats, 'bug', text.apiThreatsWords),
      page('/inventory/specifications', text.specifications, 'audit', text.specificationsWords),
      page('/protection/addresses', text.addresses, 'ban', text.threatIntelligenceDenyList),
    ],
  },
  {
    title: text.vulnerabilities,
    pages: [
      managed('view_findings', '/vulnerabilities/posture', text.posture, 'gauge', text.postureWords),
      managed('view_findings', '/vulnerabilities', text.findings, 'bug', text.findingsWords),
      managed('view_findings', '/vulnerabilities/chains', text.attackChains, 'chain', text.attackChainsWords),
      managed('view_findings', '/vulnerabilities/exploits', text.exploits, 'radar', text.exploitsWords),
      managed('view_assets', '/vulnerabilities/applications', text.applications, 'apps', text.applicationsWords),
      managed('view_assets', '/vulnerabilities/targets', text.targets, 'nodes', text.targetsWords),
      managed('view_assets', '/vulnerabilities/assessments', text.assessments, 'list', text.assessmentsWords),
      managed('view_findings', '/vulnerabilities/components', text.components, 'list', text.componentsWords),
      {
        ...managed('view_code', '/vulnerabilities/scans', text.scans, 'search', text.scansWords),
        permission: 'view_scans',
      },
      managed('view_findings', '/vulnerabilities/imports', text.imports, 'upload', text.importsWords),
      managed('view_vpatch', '/vulnerabilities/patches', text.findingPatches, 'patch', text.findingPatchesWords),
      managed('view_gates', '/vulnerabilities/gates', text.pipelineGates, 'check', text.pipelineGatesWords),
      managed('view_policies', '/vulnerabilities/policies', text.policies, 'shield', text.policiesWords),
      managed('view_policies', '/vulnerabilities/rules', text.triageRules, 'tune', text.triageRulesWords),
      managed('view_findings', '/vulnerabilities/acceptances', text.acceptances, 'tune', text.acceptancesWords),
      managed('view_sla', '/vulnerabilities/deadlines', text.deadlines, 'versions', text.deadlinesWords),
      managed('view_assets', '/vulnerabilities/integrations', text.integrations, 'chain', text.integrationsWords),
      managed('view_health', '/vulnerabilities/notifications', text.notifications, 'bell', text.notificationsWords),
      managed('view_reports', '/vulnerabilities/reports', text.reports, 'audit', text.reportsWords),
    ],
  },
  {
    title: text.run,
    pages: [
      page('/admin/settings', text.settings, 'cog', text.configurationLimitsSitesTimeouts),
      page('/admin/changes', text.changes, 'versions', text.applyVersionsRollbackDiff),
      page('/admin/nodes', text.nodes, 'nodes', text.dataPlaneGenerationWorkers),
      page('/admin/certificates', text.certificates, 'key', text.certificatesWords),
      page('/compliance', text.compliance, 'check', text.complianceWords),
      page('/admin/audit', text.auditLog, 'audit', text.whoDidWhatChain),
      { ...page('/admin/users', text.users, 'people', text.accountsRolesPasswords, 'admin'), permission: 'view_users' },
      page('/admin/tokens', text.apiTokens, 'key', text.automationCiScopes, 'admin'),
      page('/admin/backups', text.backups, 'versions', text.backupsWords),
      page('/admin/licence', text.licence, 'licence', text.domainsEdition),
    ],
  },
];

export const allPages: readonly PageEntry[] = navigation.flatMap(({ pages }) => pages);
