// The pages of the console, in one table: routes, side bar, tabs of a section and the command palette derive from it.
// An entry of the side bar leads to the first of its tabs that the user may open.
import { shellText as text } from '../../texts/shell.js';
import { entry, page, part, type Load, type NavEntry, type NavGroup, type PageEntry } from './page-entry.js';
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

const findings: NavEntry = entry(text.findings, 'bug', [
  page(
    '/vulnerabilities',
    text.findings,
    text.findingsWords,
    () => import('../../pages/vulnerabilities/findings.js').then((m) => m.Findings),
    { needs: 'view_findings' },
  ),
  page(
    '/vulnerabilities/groups',
    text.together,
    text.togetherWords,
    () => import('../../pages/together/together.js').then((m) => m.Together),
    { needs: 'view_findings' },
  ),
  page(
    '/vulnerabilities/posture',
    text.posture,
    text.postureWords,
    () => import('../../pages/posture/posture.js').then((m) => m.Posture),
    { needs: 'view_findings' },
  ),
  page(
    '/vulnerabilities/chains',
    text.attackChains,
    text.attackChainsWords,
    () => import('../../pages/vulnerabilities/chains.js').then((m) => m.Chains),
    {
      needs: 'view_findings',
      details: {
        '/vulnerabilities/chains/:id': part(() =>
          import('../../pages/vulnerabilities/chain/chain-page.js').then((m) => m.ChainPage),
        ),
      },
    },
  ),
  page(
    '/vulnerabilities/exploits',
    text.exploits,
    text.exploitsWords,
    () => import('../../pages/exploits/exploits.js').then((m) => m.Exploits),
    { needs: 'view_findings' },
  ),
  page(
    '/vulnerabilities/components',
    text.components,
    text.componentsWords,
    () => import('../../pages/components/components.js').then((m) => m.Components),
    { needs: 'view_findings' },
  ),
  page(
    '/vulnerabilities/patches',
    text.findingPatches,
    text.findingPatchesWords,
    () => import('../../pages/vpatches/patches.js').then((m) => m.FindingPatches),
    { needs: 'view_vpatch' },
  ),
]);

const assets: NavEntry = entry(text.assets, 'apps', [
  page(
    '/vulnerabilities/applications',
    text.applications,
    text.applicationsWords,
    () => import('../../pages/vulnerabilities/applications.js').then((m) => m.Applications),
    { needs: 'view_assets' },
  ),
  page(
    '/vulnerabilities/targets',
    text.targets,
    text.targetsWords,
    () => import('../../pages/targets/targets.js').then((m) => m.Targets),
    { needs: 'view_assets' },
  ),
  page(
    '/vulnerabilities/assessments',
    text.assessments,
    text.assessmentsWords,
    () => import('../../pages/assessments/assessments.js').then((m) => m.Assessments),
    { needs: 'view_assets' },
  ),
  page(
    '/vulnerabilities/threat-models',
    text.threatModels,
    text.threatModelsWords,
    () => import('../../pages/threat-models/threat-models.js').then((m) => m.ThreatModels),
    {
      needs: 'view_threat_models',
      details: {
        '/vulnerabilities/threat-models/:id': part(() =>
          import('../../pages/threat-models/model-page.js').then((m) => m.ThreatModelPage),
        ),
      },
    },
  ),
]);

const scans: NavEntry = entry(text.scans, 'search', [
  page(
    '/vulnerabilities/scans',
    text.scans,
    text.scansWords,
    () => import('../../pages/scans/scans.js').then((m) => m.Scans),
    { needs: 'view_code', permission: 'view_scans' },
  ),
  page(
    '/vulnerabilities/exploit-runs',
    text.exploitRuns,
    text.exploitRunsWords,
    () => import('../../pages/exploit-runs/exploit-runs.js').then((m) => m.ExploitRuns),
    { needs: 'view_scans' },
  ),
  page(
    '/vulnerabilities/schedules',
    text.schedules,
    text.schedulesWords,
    () => import('../../pages/schedules/schedules.js').then((m) => m.Schedules),
    { needs: 'view_scans' },
  ),
  page(
    '/vulnerabilities/repositories',
    text.repositories,
    text.repositoriesWords,
    () => import('../../pages/repositories/repositories.js').then((m) => m.Repositories),
    { needs: 'view_code' },
  ),
  page(
    '/vulnerabilities/images',
    text.images,
    text.imagesWords,
    () => import('../../pages/images/images.js').then((m) => m.Images),
    { needs: 'view_code' },
  ),
  page(
    '/vulnerabilities/runtime',
    text.atRunTime,
    text.atRunTimeWords,
    () => import('../../pages/clusters/clusters.js').then((m) => m.Clusters),
    { needs: 'view_k8s' },
  ),
  page(
    '/vulnerabilities/imports',
    text.imports,
    text.importsWords,
    () => import('../../pages/vulnerabilities/imports.js').then((m) => m.Imports),
    { needs: 'view_findings' },
  ),
  page(
    '/vulnerabilities/gates',
    text.pipelineGates,
    text.pipelineGatesWords,
    () => import('../../pages/gates/gates.js').then((m) => m.PipelineGates),
    { needs: 'view_gates' },
  ),
]);

const governance: NavEntry = entry(text.governance, 'audit', [
  page(
    '/vulnerabilities/policies',
    text.policies,
    text.policiesWords,
    () => import('../../pages/policies/policies.js').then((m) => m.Policies),
    { needs: 'view_policies' },
  ),
  page(
    '/vulnerabilities/rules',
    text.triageRules,
    text.triageRulesWords,
    () => import('../../pages/triage/triage.js').then((m) => m.TriageRules),
    { needs: 'view_policies' },
  ),
  page(
    '/vulnerabilities/acceptances',
    text.acceptances,
    text.acceptancesWords,
    () => import('../../pages/governance/acceptances.js').then((m) => m.Acceptances),
    { needs: 'view_findings' },
  ),
  page(
    '/vulnerabilities/deadlines',
    text.deadlines,
    text.deadlinesWords,
    () => import('../../pages/governance/deadlines.js').then((m) => m.Deadlines),
    { needs: 'view_sla' },
  ),
  page(
    '/vulnerabilities/integrations',
    text.integrations,
    text.integrationsWords,
    () => import('../../pages/integrations/integrations.js').then((m) => m.Integrations),
    { needs: 'view_assets' },
  ),
  page(
    '/vulnerabilities/assistant',
    text.assistant,
    text.assistantWords,
    () => import('../../pages/assistant/assistant.js').then((m) => m.Assistant),
    { needs: 'view_findings' },
  ),
  page(
    '/admin/templates',
    text.templates,
    text.templatesWords,
    () => import('../../pages/templates/templates.js').then((m) => m.Templates),
    { needs: 'view_reports' },
  ),
]);

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
      () => import('../../pages/admin/tokens.js').then((m) => m.Tokens),
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
  { key: 'vulnerabilities', title: text.vulnerabilities, entries: [findings, assets, scans, governance] },
  { key: 'manage', title: text.manage, entries: manage },
];

export const allEntries: readonly NavEntry[] = navigation.flatMap(({ entries }) => entries);
export const allPages: readonly PageEntry[] = allEntries.flatMap(({ tabs }) => tabs);
