// Every endpoint of /api/v1, in the order of the document. A new module is one line here.
import { authEndpoints } from './accounts/auth-endpoints.js';
import { ownEndpoints } from './accounts/own-endpoints.js';
import { roleEndpoints } from './accounts/role-endpoints.js';
import { ssoEndpoints } from './accounts/sso-endpoints.js';
import { tokenEndpoints } from './accounts/token-endpoints.js';
import { userEndpoints } from './accounts/user-endpoints.js';
import { assistantEndpoints } from './assistant/endpoints.js';
import { backupEndpoints } from './backups/endpoints.js';
import { assetEndpoints } from './assets/endpoints.js';
import { codeRuleEndpoints } from './code-rules/endpoints.js';
import { moreCodeEndpoints } from './code-rules/more-endpoints.js';
import { complianceEndpoints } from './compliance/endpoints.js';
import { containerEndpoints } from './containers/endpoints.js';
import { componentEndpoints } from './components/endpoints.js';
import { evidenceEndpoints } from './evidence/endpoints.js';
import { commentEndpoints } from './findings/comments.js';
import { vulnerabilityEndpoints } from './findings/endpoints.js';
import { scanEndpoints } from './dast/endpoints.js';
import { exploitEndpoints } from './exploit/endpoints.js';
import { evidenceOfFindingEndpoints } from './findings/proof/endpoints.js';
import { clusterEndpoints } from './findings/together/cluster-endpoints.js';
import { deduplicationEndpoints } from './findings/together/deduplicate.js';
import { duplicateEndpoints } from './findings/together/duplicates.js';
import { groupEndpoints } from './findings/together/groups.js';
import { exportEndpoints } from './findings/export/endpoints.js';
import { hubEndpoints } from './findings/hub.js';
import { moveEndpoints } from './findings/moves.js';
import { acceptanceChangeEndpoints } from './governance/acceptance-changes.js';
import { clockEndpoints } from './governance/clocks.js';
import { acceptanceEndpoints } from './governance/acceptances.js';
import { governanceEndpoints } from './governance/endpoints.js';
import { violationEndpoints } from './governance/violations.js';
import { intelEndpoints } from './intel/endpoints.js';
import { feedEndpoints } from './intel/feed-endpoints.js';
import { importEndpoints } from './imports/endpoints.js';
import { rollbackEndpoints } from './imports/run/rollback.js';
import { muteEndpoints } from './governance/mutes.js';
import { biEndpoints } from './bi/endpoints.js';
import { ciEndpoints } from './gate/ci.js';
import { gateEndpoints } from './gate/endpoints.js';
import { graphEndpoints } from './graph/endpoints.js';
import type { Endpoint } from './kit/endpoint.js';
import { withPages } from './kit/list.js';
import { healthEndpoints } from './health/endpoints.js';
import { searchEndpoints } from './lookup/search.js';
import { tagEndpoints } from './lookup/tags.js';
import { metaEndpoints } from './meta.js';
import { notificationEndpoints } from './notifications/endpoints.js';
import { postureEndpoints } from './posture/endpoints.js';
import { repositoryEndpoints } from './repositories/endpoints.js';
import { reportEndpoints } from './reports/endpoints.js';
import { k8sPostureEndpoints } from './k8s-posture/endpoints.js';
import { k8sRuntimeEndpoints } from './k8s-runtime/endpoints.js';
import { integrationEndpoints } from './integrations/endpoints.js';
import { brandingEndpoints } from './branding/endpoints.js';
import { templateEndpoints } from './templates/endpoints.js';
import { ruleEndpoints } from './rules/endpoints.js';
import { scheduleEndpoints } from './schedules/endpoints.js';
import { sbomEndpoints } from './sboms/endpoints.js';
import { scannerEndpoints } from './scanners/hub/endpoints.js';
import { runtimeEndpoints } from './runtime/endpoints.js';
import { scmEndpoints } from './scm/endpoints.js';
import { threatModelEndpoints } from './threat-models/endpoints.js';
import { vexEndpoints } from './vex/endpoints.js';
import { vexStatementEndpoints } from './vex/statement-endpoints.js';
import { webhookEndpoints } from './webhooks/endpoints.js';
import { apiSecurityEndpoints } from './api-security/endpoints.js';
import { discoveryEndpoints } from './discovery/endpoints.js';
import { vpatchEndpoints } from './vpatches/endpoints.js';

const rows: readonly Endpoint[] = [
  ...authEndpoints,
  ...ownEndpoints,
  ...userEndpoints,
  ...roleEndpoints,
  ...tokenEndpoints,
  ...ssoEndpoints,
  ...assetEndpoints,
  ...vulnerabilityEndpoints,
  ...moveEndpoints,
  ...hubEndpoints,
  ...duplicateEndpoints,
  ...evidenceOfFindingEndpoints,
  ...groupEndpoints,
  ...clusterEndpoints,
  ...deduplicationEndpoints,
  ...exportEndpoints,
  ...commentEndpoints,
  ...importEndpoints,
  ...rollbackEndpoints,
  ...sbomEndpoints,
  ...componentEndpoints,
  ...scannerEndpoints,
  ...k8sPostureEndpoints,
  ...codeRuleEndpoints,
  ...moreCodeEndpoints,
  ...repositoryEndpoints,
  ...containerEndpoints,
  ...scanEndpoints,
  ...exploitEndpoints,
  ...apiSecurityEndpoints,
  ...discoveryEndpoints,
  ...scheduleEndpoints,
  ...muteEndpoints,
  ...acceptanceChangeEndpoints,
  ...acceptanceEndpoints,
  ...clockEndpoints,
  ...governanceEndpoints,
  ...violationEndpoints,
  ...ruleEndpoints,
  ...integrationEndpoints,
  ...complianceEndpoints,
  ...intelEndpoints,
  ...feedEndpoints,
  ...graphEndpoints,
  ...threatModelEndpoints,
  ...gateEndpoints,
  ...ciEndpoints,
  ...scmEndpoints,
  ...reportEndpoints,
  ...postureEndpoints,
  ...biEndpoints,
  ...evidenceEndpoints,
  ...runtimeEndpoints,
  ...k8sRuntimeEndpoints,
  ...vpatchEndpoints,
  ...vexEndpoints,
  ...assistantEndpoints,
  ...vexStatementEndpoints,
  ...brandingEndpoints,
  ...templateEndpoints,
  ...notificationEndpoints,
  ...webhookEndpoints,
  ...healthEndpoints,
  ...backupEndpoints,
  ...searchEndpoints,
  ...tagEndpoints,
  ...metaEndpoints,
];

export const endpoints: readonly Endpoint[] = rows.map(withPages);
