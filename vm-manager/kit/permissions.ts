// The words of authorisation: permissions, the built-in roles that are sets of them, and the scopes of tokens. A token
// never may more than its owner: what it may is the owner's permissions that one of its scopes names as well.

/** Permission → what it lets somebody do. */
export const permissionTable = {
  view_findings: 'read findings, comments, imports, mutes and acceptances',
  edit_findings: 'create, change and delete findings and assessments',
  triage_findings: 'move findings through their states, assign, tag, override risk',
  import_findings: 'import reports of tools',
  request_acceptance: 'ask for a risk to be accepted',
  approve_acceptance: 'accept a risk that somebody else asked for',
  manage_mutes: 'write mutes',
  view_assets: 'read projects, applications and targets',
  edit_assets: 'create, change and delete projects, applications and targets',
  run_discovery: 'look for hosts that are no application or target yet',
  manage_integrations: 'write connections to issue trackers',
  view_scans: 'read runs and events',
  run_scans: 'start and cancel runs',
  manage_schedules: 'write, pause and start what runs by the clock',
  run_exploit: 'prove weaknesses of verified targets by their effect',
  view_code: 'read scans of code, and the rules of their scanners',
  run_code_scans: 'scan code, lock files, manifests and images',
  manage_code_rules: 'switch rules of the scanners of code, add own ones, allow what is no secret',
  view_api_security: 'read operations of APIs, their specifications and tests',
  edit_api_security: 'add specifications, and keep what they and traffic show as findings',
  view_k8s: 'read scans of clusters and their controls',
  edit_k8s: 'scan manifests and dumps of clusters',
  run_ci: 'start CI runs and evaluate the gate',
  view_gates: 'read gates and their evaluations',
  manage_gates: 'write gates',
  override_gate: 'override a verdict of the gate',
  view_runtime: 'read runtime events and sensors',
  ingest_runtime: 'post runtime events',
  manage_sensors: 'make and revoke sensors',
  view_intel: 'read what is known of vulnerabilities',
  manage_intel: 'import what is known of vulnerabilities',
  edit_graph: 'change classifications and rules of the attack graph',
  view_threat_models: 'read threat models and their threats',
  edit_threat_models: 'write threat models, derive threats, and decide of them',
  view_policies: 'read policies',
  manage_policies: 'write policies',
  manage_rules: 'write rules that triage findings, and apply and undo them',
  view_compliance: 'read controls of frameworks and how they stand',
  edit_compliance: 'attest controls, and write exceptions from them',
  view_sla: 'read SLA policies and clocks',
  manage_sla: 'write SLA policies, pause and resume clocks',
  view_reports: 'read reports',
  build_reports: 'build reports',
  send_reports: 'send reports to mailboxes that a channel allows',
  view_evidence: 'read packs and files of evidence, with all that they hold of the organisation',
  build_evidence: 'build packs of evidence, and add files to them',
  view_vpatch: 'read virtual patches',
  apply_vpatch: 'put virtual patches in force',
  use_assistant: 'ask the assistant about findings that one sees',
  manage_assistant: 'switch the assistant, name its model, and read every question',
  view_health: 'read how the parts of the installation stand, channels of notices, and what became of each notice',
  manage_branding: 'change name, logo and colours of the installation',
  manage_templates: 'write templates of tickets, notices, reports and write-ups',
  manage_notifications: 'write channels and routes of notices',
  manage_webhooks: 'write webhooks, and send their deliveries again',
  manage_backups: 'make, verify, schedule and remove backups',
  restore_backups: 'restore a backup in the place of what is there',
  view_audit: 'read the audit log',
  view_users: 'read users and roles',
  manage_users: 'make, change, suspend and delete users',
  manage_sso: 'name the provider of single sign-on',
  manage_roles: 'write roles and grants',
  manage_tokens: 'read and revoke tokens of others',
} as const;

export type VmPermission = keyof typeof permissionTable;
export const permissionNames = Object.keys(permissionTable) as VmPermission[];

const views = permissionNames.filter((name) => name.startsWith('view_'));
const administration: readonly VmPermission[] = [
  'manage_roles',
  'manage_users',
  'manage_sso',
  'manage_tokens',
  'approve_acceptance',
  'override_gate',
  'manage_backups',
  'restore_backups',
  'view_audit',
  'view_evidence',
  'build_evidence',
  'manage_branding',
  'manage_assistant',
];

/** Roles that cannot be changed; the first three are the control plane's. */
export const builtInRoles: Readonly<Record<string, readonly VmPermission[]>> = {
  admin: permissionNames,
  operator: permissionNames.filter((name) => !administration.includes(name)),
  viewer: views.filter((name) => !['view_audit', 'view_users', 'view_evidence'].includes(name)),
  auditor: views,
  developer: [
    'view_findings',
    'view_assets',
    'triage_findings',
    'request_acceptance',
    'run_ci',
    'view_gates',
    'view_code',
    'run_code_scans',
  ],
  sensor: ['ingest_runtime'],
};

const everyPermission: ReadonlySet<VmPermission> = new Set(permissionNames);

/** Scope of a token → permissions that it lets through. `read` is for requests that change nothing. */
export const tokenScopes: Readonly<Record<string, ReadonlySet<VmPermission>>> = {
  read: everyPermission,
  write: new Set(permissionNames.filter((name) => !administration.includes(name))),
  ci: new Set<VmPermission>([
    'run_ci',
    'import_findings',
    'view_gates',
    'view_findings',
    'view_assets',
    'view_code',
    'run_code_scans',
  ]),
  ingest: new Set<VmPermission>(['ingest_runtime']),
  scan: new Set<VmPermission>([
    'view_scans',
    'run_scans',
    'view_assets',
    'view_findings',
    'view_code',
    'run_code_scans',
    'view_k8s',
    'edit_k8s',
    'run_discovery',
    'view_api_security',
    'edit_api_security',
  ]),
  report: new Set<VmPermission>(['view_reports', 'build_reports', 'send_reports', 'view_findings']),
  admin: everyPermission,
};
export const scopeNames = Object.keys(tokenScopes);

export const isPermission = (name: string): name is VmPermission => Object.hasOwn(permissionTable, name);

/** Scopes of authors. What may be written by anybody who sees it (comments, saved views) is not for pipelines. */
const authors: ReadonlySet<string> = new Set(['write', 'admin']);

export const areOfAuthor = (scopes: readonly string[]): boolean => scopes.some((scope) => authors.has(scope));

/** Whether one of these scopes lets the permission through, for a request that writes or does not. */
export function scopesAllow(scopes: readonly string[], permission: VmPermission, writes: boolean): boolean {
  const needsAuthor = writes && permission.startsWith('view_');
  return scopes.some(
    (scope) =>
      (scope !== 'read' || !writes) &&
      (!needsAuthor || authors.has(scope)) &&
      tokenScopes[scope]?.has(permission) === true,
  );
}
