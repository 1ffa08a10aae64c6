// The pages of the console, in one table: routes, side bar, tabs of a section and the command palette derive from it.
// An entry of the side bar leads to the first of its tabs that the user may open.
import { shellText as text } from '../../texts/shell.js';
import { entry, page, part, type Load, type NavEntry, type NavGroup, type PageEntry } from './page-entry.js';
import { vulnerabilities } from './vulnerability-pages.js';

const monitor: readonly NavEntry[] = [
  entry(text.overview, 'overview', [
    page('/', text.overview, text.dashboardStartTrafficBlock, () =>
      import('../../pages/overview/overview.js').then((m) => m.Overview),
    ),
    page(
      '/admin/health',
      text.health,
      text.healthWords,
      () => import('../../pages/health/health.js').then((m) => m.Health),
      { needs: 'view_health' },
    ),
  ]),
  entry(text.events, 'list', [
    page('/soc', text.securityEvents, text.socLiveStreamAttacks, () =>
      import('../../pages/events/events.js').then((m) => m.Events),
    ),
    page('/requests', text.requests, text.accessLogTraffic, () =>
      import('../../pages/events/requests.js').then((m) => m.Requests),
    ),
    page('/soc/wall', text.socWall, text.socWallWords, () =>
      import('../../pages/soc-wall/soc-wall.js').then((m) => m.SocWall),
    ),
  ]),
  entry(text.alerts, 'bell', [
    page('/alerts', text.alerts, text.alertsWords, () => import('../../pages/alerts/alerts.js').then((m) => m.Alerts)),
    page('/connectors', text.connectors, text.connectorsWords, () =>
      import('../../pages/connectors/connectors.js').then((m) => m.ConnectorsPage),
    ),
    page(
      '/vulnerabilities/notifications',
      text.notifications,
      text.notificationsWords,
      () => import('../../pages/notifications/notifications.js').then((m) => m.Notifications),
      { needs: 'view_health' },
    ),
  ]),
];

const protect: readonly NavEntry[] = [
  entry(text.sites, 'nodes', [
    page('/sites', text.sites, text.sitesWords, () => import('../../pages/sites/sites.js').then((m) => m.Sites)),
    page('/protection/authentication', text.siteAuth, text.siteAuthWords, () =>
      import('../../pages/site-auth/site-auth.js').then((m) => m.SiteAuth),
    ),
    page('/admin/certificates', text.certificates, text.certificatesWords, () =>
      import('../../pages/certificates/certificates.js').then((m) => m.Certificates),
    ),
  ]),
  entry(text.rules, 'shield', [
    page('/waf', text.ruleSet, text.wafCrsModeParanoia, () =>
      import('../../pages/waf/rule-set.js').then((m) => m.RuleSet),
    ),
    page(
      '/waf/rules',
      text.customRules,
      text.seclangModsecurityBuilderEditor,
      () => import('../../pages/rules/rules.js').then((m) => m.Rules),
      {
        details: {
          '/waf/rules/:id': part(() => import('../../pages/rules/rule-editor.js').then((m) => m.RuleEditor)),
        },
      },
    ),
    page('/waf/patches', text.virtualPatches, text.cveVulnerabilityCatalogue, () =>
      import('../../pages/waf/patches.js').then((m) => m.Patches),
    ),
    page('/waf/tuning', text.tuning, text.falsePositivesExclusionsSuggestions, () =>
      import('../../pages/waf/tuning.js').then((m) => m.Tuning),
    ),
  ]),
  entry(text.clients, 'ban', [
    page('/protection/addresses', text.addresses, text.threatIntelligenceDenyList, () =>
      import('../../pages/protection/addresses.js').then((m) => m.Addresses),
    ),
    page('/protection/feeds', text.threatFeeds, text.threatFeedsWords, () =>
      import('../../pages/protection/feeds.js').then((m) => m.FeedsPage),
    ),
  ]),
  entry(text.limitsBots, 'gauge', [
    page('/protection/limits', text.rateLimits, text.rateLimitsWords, () =>
      import('../../pages/limits/limits.js').then((m) => m.LimitsPage),
    ),
    page('/protection/bots', text.bots, text.botsWords, () =>
      import('../../pages/protection/bots-page.js').then((m) => m.BotsPage),
    ),
    page('/protection/attack-mode', text.attackMode, text.attackModeWords, () =>
      import('../../pages/protection/attack-mode.js').then((m) => m.AttackModePage),
    ),
    page('/protection/gates', text.requestPath, text.requestPathWords, () =>
      import('../../pages/protection/gates.js').then((m) => m.Gates),
    ),
  ]),
  entry(text.apis, 'code', [
    page('/inventory', text.apiInventory, text.apiInventoryWords, () =>
      import('../../pages/apis/inventory.js').then((m) => m.ApiInventory),
    ),
    page('/inventory/gaps', text.apiGaps, text.apiGapsWords, () =>
      import('../../pages/specs/gaps.js').then((m) => m.Gaps),
    ),
    page('/inventory/threats', text.apiThreats, text.apiThreatsWords, () =>
      import('../../pages/threats/threats.js').then((m) => m.Threats),
    ),
    page('/inventory/specifications', text.specifications, text.specificationsWords, () =>
      import('../../pages/specs/specifications.js').then((m) => m.Specifications),
    ),
  ]),
  entry(text.detection, 'radar', [
    page('/engine', text.engine, text.engineWords, () => import('../../pages/engine/engine.js').then((m) => m.Engine)),
    page('/engine/simulation', text.simulation, text.simulationWords, () =>
      import('../../pages/simulation/simulation.js').then((m) => m.Simulation),
    ),
  ]),
];

const loadSettings: Load = () => import('../../pages/settings/settings.js').then((m) => m.Settings);

const manage: readonly NavEntry[] = [
  entry(text.compliance, 'check', [
    page('/compliance', text.compliance, text.complianceWords, () =>
      import('../../pages/compliance/compliance.js').then((m) => m.Compliance),
    ),
    page(
      '/vulnerabilities/reports',
      text.reports,
      text.reportsWords,
      () => import('../../pages/vulnerabilities/reports.js').then((m) => m.Reports),
      { needs: 'view_reports' },
    ),
    page(
      '/vulnerabilities/dashboards',
      text.dashboards,
      text.dashboardsWords,
      () => import('../../pages/dashboards/dashboards.js').then((m) => m.Dashboards),
      { needs: 'view_reports' },
    ),
    page(
      '/vulnerabilities/bi',
      text.dataExports,
      text.dataExportsWords,
      () => import('../../pages/bi/bi.js').then((m) => m.DataExports),
      { needs: 'view_reports' },
    ),
    page(
      '/vulnerabilities/evidence',
      text.evidence,
      text.evidenceWords,
      () => import('../../pages/evidence/evidence.js').then((m) => m.Evidence),
      { needs: 'view_evidence' },
    ),
    page('/admin/audit', text.auditLog, text.whoDidWhatChain, () =>
      import('../../pages/admin/audit.js').then((m) => m.Audit),
    ),
  ]),
  entry(text.system, 'cog', [
    page('/admin/changes', text.changes, text.applyVersionsRollbackDiff, () =>
      import('../../pages/changes/changes.js').then((m) => m.Changes),
    ),
    page('/admin/nodes', text.nodes, text.dataPlaneGenerationWorkers, () =>
      import('../../pages/admin/nodes.js').then((m) => m.Nodes),
    ),
    page(
      '/admin/users',
      text.users,
      text.accountsRolesPasswords,
      () => import('../../pages/admin/access/access.js').then((m) => m.Access),
      { role: 'admin', permission: 'view_users' },
    ),
    page(
      '/admin/tokens',
      text.apiTokens,
      text.automationCiScopes,
      () => import('../../pages/admin/tokens/tokens.js').then((m) => m.Tokens),
      { role: 'admin' },
    ),
    page(
      '/admin/branding',
      text.branding,
      text.brandingWords,
      () => import('../../pages/branding/branding.js').then((m) => m.BrandingPage),
      { role: 'admin' },
    ),
    page('/admin/backups', text.backups, text.backupsWords, () =>
      import('../../pages/backups/backups.js').then((m) => m.Backups),
    ),
    page('/admin/licence', text.licence, text.domainsEdition, () =>
      import('../../pages/admin/licence.js').then((m) => m.Licence),
    ),
    page('/admin/settings', text.advanced, text.configurationLimitsSitesTimeouts, loadSettings, {
      details: { '/admin/settings/:group': part(loadSettings) },
    }),
  ]),
];

export const navigation: readonly NavGroup[] = [
  { key: 'monitor', title: text.monitor, entries: monitor },
  { key: 'protect', title: text.protect, entries: protect },
  { key: 'vulnerabilities', title: text.vulnerabilities, entries: vulnerabilities },
  { key: 'manage', title: text.manage, entries: manage },
];

export const allEntries: readonly NavEntry[] = navigation.flatMap(({ entries }) => entries);
export const allPages: readonly PageEntry[] = allEntries.flatMap(({ tabs }) => tabs);
