// Every endpoint of /api/v1, in the order of the document. A new module is one line here.
import { authEndpoints } from './accounts/auth-endpoints.js';
import { ownEndpoints } from './accounts/own-endpoints.js';
import { roleEndpoints } from './accounts/role-endpoints.js';
import { ssoEndpoints } from './accounts/sso-endpoints.js';
import { tokenEndpoints } from './accounts/token-endpoints.js';
import { userEndpoints } from './accounts/user-endpoints.js';
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
import { exportEndpoints } from './findings/export/endpoints.js';
import { hubEndpoints } from './findings/hub.js';
import { moveEndpoints } from './findings/moves.js';
import { acceptanceEndpoints } from './governance/acceptances.js';
import { governanceEndpoints } from './governance/endpoints.js';
import { violationEndpoints } from './governance/violations.js';
import { intelEndpoints } from './intel/endpoints.js';
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
import { metaEndpoints } from './meta.js';
import { notificationEndpoints } from './notifications/endpoints.js';
import { postureEndpoints } from './posture/endpoints.js';
import { repositoryEndpoints } from './repositories/endpoints.js';
import { reportEndpoints } from './reports/endpoints.js';
import { integrationEndpoints } from './integrations/endpoints.js';
import { brandingEndpoints } from './branding/endpoints.js';
import { templateEndpoints } from './templates/endpoints.js';
import { ruleEndpoints } from './rules/endpoints.js';
import { sbomEndpoints } from './sboms/endpoints.js';
import { scannerEndpoints } from './scanners/hub/endpoints.js';
import { runtimeEndpoints } from './runtime/endpoints.js';
import { scmEndpoints } from './scm/endpoints.js';
import { vexEndpoints } from './vex/endpoints.js';
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
  ...exportEndpoints,
  ...commentEndpoints,
  ...importEndpoints,
  ...rollbackEndpoints,
  ...sbomEndpoints,
  ...componentEndpoints,
  ...scannerEndpoints,
  ...codeRuleEndpoints,
  ...moreCodeEndpoints,
  ...repositoryEndpoints,
  ...containerEndpoints,
  ...scanEndpoints,
  ...muteEndpoints,
  ...acceptanceEndpoints,
  ...governanceEndpoints,
  ...violationEndpoints,
  ...ruleEndpoints,
  ...integrationEndpoints,
  ...complianceEndpoints,
  ...intelEndpoints,
  ...graphEndpoints,
  ...gateEndpoints,
  ...ciEndpoints,
  ...scmEndpoints,
  ...reportEndpoints,
  ...postureEndpoints,
  ...biEndpoints,
  ...evidenceEndpoints,
  ...runtimeEndpoints,
  ...vpatchEndpoints,
  ...vexEndpoints,
  ...brandingEndpoints,
  ...templateEndpoints,
  ...notificationEndpoints,
  ...healthEndpoints,
  ...backupEndpoints,
  ...metaEndpoints,
];

export const endpoints: readonly Endpoint[] = rows.map(withPages);
