// Which operations of the API the console offers: every one that a person would want is called from console/web. Those
// that it leaves out are named here with the reason, and the test holds that nothing is missing on either side.

/** Programs ask these; a person has no use for the answer. */
export const forPrograms: Readonly<Record<string, string>> = {
  'GET /api/live': 'probes that restart a process',
  'GET /api/metrics': 'Prometheus',
  'GET /api/sso/callback': 'the browser is sent there by the provider of the login',
  'GET /api/v1/sso/login/{id}': 'the browser is led there from the login',
  'GET /api/v1/sso/callback/{id}': 'the browser is sent there by the provider of the login',
  'POST /api/dataplane/hello': 'nodes',
  'POST /api/dataplane/records': 'nodes',
  'POST /api/dataplane/samples': 'nodes',
  'POST /api/dataplane/observations': 'nodes',
  'POST /api/dataplane/clients': 'nodes',
  'POST /api/nodes/tokens/local': '`gatehouse node token` on the same host; it needs a token that no session has',
  'POST /api/backup/database-copy': '`gatehouse backup` on the same host; it needs a token that no session has',
  'POST /api/dataplane/rules': '`gatehouse rules`, which has the unpacked files on its disk',
  'POST /api/gateway/{type}': 'gateways; the page of other sources has the command',
  'POST /api/ingest': 'programs that record requests; the page of other sources has the command',
  'POST /api/ingest/mesh': 'sidecars; the page of other sources has the command',
  'POST /api/ingest/v1/traces': 'collectors of OpenTelemetry; the page of other sources has their settings',
  'POST /api/ci-scan': 'pipelines; a person uploads the document, and sees its gaps',
  'POST /api/v1/ci/runs': 'pipelines; "Connect a pipeline" has the commands',
  'POST /api/v1/ci/runs/{id}/artifacts': 'pipelines; "Connect a pipeline" has the commands',
  'POST /api/v1/ci/runs/{id}/complete': 'pipelines; "Connect a pipeline" has the commands',
  'GET /api/v1/ci/badge/{application_id}': 'whoever shows the picture; its address is made at "Connect a pipeline"',
  'POST /api/v1/scm/webhook/{provider}': 'hosts of repositories',
  'POST /api/v1/runtime/events': 'sensors',
  'POST /api/v1/runtime/heartbeat': 'sensors',
  'POST /api/v1/k8s-runtime/events': 'Falco, and the audit webhook of Kubernetes',
  'GET /api/v1/events': 'programs that follow what happens',
  'GET /api/v1/events/stream': 'programs that follow what happens as it happens',
  'GET /api/v1/events/stats': 'programs that follow what happens, and want to know how much is kept',
  'GET /api/v1/scan-callbacks/{token}': 'targets of scans that fetch what a request names',
  'GET /api/v1/meta/version': 'programs that ask which release answers',
  'GET /api/v1/meta/enums': 'programs that are written without the types of the document',
  'GET /api/v1/branding/logo': 'the server of the console, which shows it at /brand/logo',
  'GET /api/v1/backups/made': 'programs that watch whether backups are made; the page shows it of each',
  'GET /api/v1/threat-models/rules':
    'programs that want to know by which rules threats are derived; each threat has its words',
  'POST /api/v1/rbac/check': 'programs that ask before they try',
};

/** The same is offered by way of another operation, which the console calls. */
export const sameAs: Readonly<Record<string, string>> = {
  'GET /api/bans': 'GET /api/measures',
  'DELETE /api/bans': 'DELETE /api/measures',
  'GET /api/threat-intel': 'GET /api/measures',
  'DELETE /api/threat-intel': 'DELETE /api/measures',
  'GET /api/verdicts': 'GET /api/measures',
  'DELETE /api/verdicts': 'DELETE /api/measures',
  'GET /api/v1/audit/{id}': 'GET /api/audit',
  'GET /api/v1/audit/export': 'GET /api/audit/export',
  'GET /api/v1/imports/{id}/errors': 'GET /api/v1/imports',
  'GET /api/v1/tags': 'GET /api/v1/findings/facets',
  'POST /api/v1/tags/assign': 'POST /api/v1/vulnerabilities/bulk',
  'PATCH /api/v1/acceptances/{id}': 'DELETE /api/v1/acceptances/{id}',
  'POST /api/v1/vex/statements': 'POST /api/v1/vulnerabilities/{id}/transition',
  'POST /api/v1/vulnerabilities/{id}/duplicates': 'POST /api/v1/findings/clusters/merge',
  'GET /api/v1/discovery/runs/{id}': 'GET /api/v1/discovery/runs',
  'GET /api/v1/templates/{id}': 'GET /api/v1/templates',
  'GET /api/v1/evidence/{id}': 'GET /api/v1/evidence',
  'GET /api/v1/evidence/files/{id}': 'GET /api/v1/evidence/files',
  'GET /api/v1/bi/datasets/{id}': 'GET /api/v1/bi/datasets',
  'GET /api/v1/health_monitor/components/{id}': 'GET /api/v1/health_monitor',
  'GET /api/v1/backups/{id}': 'GET /api/v1/backups',
  'GET /api/v1/backups/schedule': 'GET /api/backup',
  'PATCH /api/v1/backups/schedule': 'PATCH /api/settings',
  'POST /api/v1/backups': 'POST /api/backup/run',
  'POST /api/v1/backups/prune': 'DELETE /api/v1/backups/{id}',
  'GET /api/certificates/{id}': 'GET /api/certificates',
  'POST /api/v1/auth/login': 'POST /api/login',
  'POST /api/v1/auth/mfa': 'POST /api/login/otp',
  'DELETE /api/v1/auth/mfa': 'DELETE /api/account/totp',
  'POST /api/v1/auth/mfa/enroll': 'POST /api/account/totp',
  'POST /api/v1/auth/mfa/confirm': 'POST /api/account/totp/confirm',
  'POST /api/v1/auth/logout': 'POST /api/logout',
  'POST /api/v1/auth/logout-all': 'DELETE /api/account/sessions/{id}',
  'POST /api/v1/auth/password/change': 'POST /api/account/password',
  'GET /api/v1/auth/sessions': 'GET /api/account/sessions',
  'POST /api/v1/auth/refresh': 'POST /api/login',
  'GET /api/v1/users/{id}': 'GET /api/users',
  'DELETE /api/v1/users/{id}': 'DELETE /api/users/{id}',
  'POST /api/v1/users/{id}/suspend': 'PATCH /api/users/{id}',
  'POST /api/v1/users/{id}/activate': 'PATCH /api/users/{id}',
  'POST /api/v1/users/{id}/reset-password': 'POST /api/users/{id}/password',
  'GET /api/v1/sso/providers': 'GET /api/settings',
  'POST /api/v1/sso/providers': 'PATCH /api/settings',
  'GET /api/v1/sso/providers/{id}': 'GET /api/settings',
  'PATCH /api/v1/sso/providers/{id}': 'PATCH /api/settings',
  'DELETE /api/v1/sso/providers/{id}': 'PATCH /api/settings',
  'GET /api/v1/secrets/scans/{id}': 'GET /api/v1/secrets/scans',
  'GET /api/v1/sast/scans/{id}': 'GET /api/v1/sast/scans',
  'GET /api/v1/sca/scans/{id}': 'GET /api/v1/sca/scans',
  'GET /api/v1/iac/scans/{id}': 'GET /api/v1/iac/scans',
  'GET /api/v1/k8s-posture/scans/{id}': 'GET /api/v1/k8s-posture/scans',
  'GET /api/v1/audit': 'GET /api/audit',
  'GET /api/v1/audit/verify': 'GET /api/audit/verify',
  'GET /api/users/{id}': 'GET /api/users',
  'PUT /api/settings': 'PATCH /api/settings',
  'GET /api/spec/preview': 'GET /api/spec/{id}/preview',
  'POST /api/spec/preview': 'GET /api/spec/{id}/preview',
  'GET /api/config/versions/{id}': 'GET /api/config/versions',
  'GET /api/v1/tokens/{id}': 'GET /api/v1/tokens',
  'GET /api/v1/mutes/{id}': 'GET /api/v1/mutes',
  'GET /api/v1/acceptances/{id}': 'GET /api/v1/acceptances',
  'GET /api/v1/rules/runs/{id}': 'GET /api/v1/rules/runs',
  'GET /api/v1/sla/policies/{id}': 'GET /api/v1/sla/policies',
  'GET /api/v1/gate/definitions/{id}': 'GET /api/v1/gate/definitions',
  'GET /api/v1/scm/hooks/{id}': 'GET /api/v1/scm/hooks',
  'GET /api/v1/runs/{id}': 'GET /api/v1/runs',
  'GET /api/v1/findings/stats': 'GET /api/v1/posture/trend',
  'GET /api/v1/applications/{id}/score-history': 'GET /api/v1/posture/trend',
  'POST /api/v1/applications/{id}/archive': 'PATCH /api/v1/applications/{id}',
  'POST /api/v1/applications/{id}/restore': 'PATCH /api/v1/applications/{id}',
  'POST /api/v1/assessments/{id}/transition': 'PATCH /api/v1/assessments/{id}',
  'PUT /api/v1/assessments/{id}/checklist': 'PATCH /api/v1/assessments/{id}',
  'PUT /api/v1/rbac/grants': 'PUT /api/v1/rbac/grants/{user_id}',
  'GET /api/v1/projects/{id}/members': 'GET /api/v1/rbac/grants/{user_id}',
  'PUT /api/v1/projects/{id}/members': 'PUT /api/v1/rbac/grants/{user_id}',
  'GET /api/alerts/{id}': 'GET /api/alerts',
  'GET /api/v1/vulnerabilities': 'GET /api/v1/findings',
  'GET /api/v1/reports/{id}': 'GET /api/v1/reports',
  'GET /api/v1/compliance/frameworks/{id}': 'GET /api/v1/compliance/frameworks',
  'GET /api/v1/compliance/exceptions': 'GET /api/v1/compliance/assessment',
  'POST /api/v1/reports/preview': 'POST /api/v1/reports',
};

/** A person would want these, and no page offers them yet. The list only shrinks. */
export const notYet: readonly string[] = [];

const methods = new Set(['get', 'post', 'put', 'patch', 'delete']);

/** `GET /api/users` of each operation of a document. */
export const operationsOf = (paths: Readonly<Record<string, object>>): string[] =>
  Object.entries(paths).flatMap(([path, of]) =>
    Object.keys(of).flatMap((method) => (methods.has(method) ? [`${method.toUpperCase()} ${path}`] : [])),
  );

/**
 * The operations that a source names as a string, which is how the typed client is called; of a template those that it
 * may stand for.
 */
export function calledIn(source: string, known: readonly string[]): Set<string> {
  const called = new Set(known.filter((operation) => source.includes(`'${operation}'`)));
  for (const [, template = ''] of source.matchAll(/`((?:GET|POST|PUT|PATCH|DELETE) \/[^`]*\$\{[^`]*)`/g)) {
    const parts = template.split(/\$\{[^}]*\}/).map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
    const pattern = new RegExp(`^${parts.join('[\\w-]+')}$`);
    for (const operation of known) if (pattern.test(operation)) called.add(operation);
  }
  return called;
}
