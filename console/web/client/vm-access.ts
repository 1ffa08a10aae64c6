// What whoever is logged in may do in the vulnerability manager. Its permissions are finer than the three roles, and a
// grant may confine somebody to some applications, so the manager itself is asked.
import { createSignal, type Accessor } from 'solid-js';
import { call, type Reply } from './http.js';
import { createQuery } from './query.js';

export type VmPermission =
  | 'view_findings'
  | 'edit_graph'
  | 'edit_findings'
  | 'triage_findings'
  | 'request_acceptance'
  | 'approve_acceptance'
  | 'manage_mutes'
  | 'manage_sla'
  | 'manage_gates'
  | 'override_gate'
  | 'run_ci'
  | 'apply_vpatch'
  | 'import_findings'
  | 'view_code'
  | 'run_code_scans'
  | 'manage_code_rules'
  | 'view_api_security'
  | 'edit_api_security'
  | 'run_discovery'
  | 'view_k8s'
  | 'edit_k8s'
  | 'manage_intel'
  | 'view_scans'
  | 'run_scans'
  | 'run_exploit'
  | 'manage_schedules'
  | 'view_assets'
  | 'edit_assets'
  | 'manage_policies'
  | 'manage_rules'
  | 'manage_integrations'
  | 'view_threat_models'
  | 'edit_threat_models'
  | 'use_assistant'
  | 'manage_assistant'
  | 'manage_sensors'
  | 'view_compliance'
  | 'edit_compliance'
  | 'manage_backups'
  | 'restore_backups'
  | 'view_health'
  | 'manage_notifications'
  | 'manage_webhooks'
  | 'manage_roles'
  | 'view_reports'
  | 'view_evidence'
  | 'build_evidence'
  | 'manage_templates'
  | 'manage_branding'
  | 'build_reports'
  | 'send_reports'
  | 'manage_sso'
  | 'view_users'
  | 'view_intel'
  | 'view_runtime'
  | 'view_vpatch'
  | 'view_gates'
  | 'view_policies'
  | 'view_sla';

export interface VmAccess {
  readonly me: Accessor<Reply<'GET /api/v1/auth/me'> | undefined>;
  /** False until it is known. The server decides; this only hides what it would refuse. */
  may(permission: VmPermission): boolean;
}

export function createVmAccess(): VmAccess {
  const { data } = createQuery('GET /api/v1/auth/me');
  return { me: data, may: (permission) => data()?.permissions.includes(permission) ?? false };
}

/** null: not known, or an administrator, who has them all. */
const [held, setHeld] = createSignal<readonly string[] | null>(null);

/** Permissions of whoever is logged in, for what stands on every page; none until `readHeld` knows. */
export const isHeld = (permission: VmPermission): boolean => held()?.includes(permission) === true;

/** Whether somebody is known not to have it: what is asked for in vain is not offered. */
export const isDenied = (permission: VmPermission): boolean => held()?.includes(permission) === false;

export const forgetHeld = (): void => void setHeld(null);

export async function readHeld(): Promise<void> {
  forgetHeld();
  setHeld((await call('GET /api/v1/auth/me')).permissions);
}
