// What a finding gives to an attacker. A finding has at most one capability, so that it stands in one stage.
import type { Stage } from './stages.js';
import type { TechniqueId } from './techniques.js';

/** How an attacker gets from one application to the next; null where the capability stays where it is. */
export type PivotClass = 'foothold' | 'credential' | 'rce' | 'host-escape' | null;

export interface Capability {
  readonly stage: Stage;
  /** The name by which rules of toxic combinations ask for it. */
  readonly cap: string;
  readonly mitre: TechniqueId;
  /** The weakness in words. */
  readonly label: string;
  readonly pivot: PivotClass;
}

/** Entry capabilities that leave the attacker with a foothold on the server, not only in a browser. */
const footholds: ReadonlySet<string> = new Set([
  'ssrf',
  'sqli',
  'nosqli',
  'ldapi',
  'xmli',
  'xxe',
  'file_read',
  'smuggling',
  'auth_bypass',
  'missing_auth',
  'auth_spoof',
  'forced_browse',
  'debug_iface',
  'exposed_service',
]);
/** Execute capabilities that run code of the attacker on the server at once. */
const remoteExecution: ReadonlySet<string> = new Set(['rce', 'webshell', 'deser', 'memory_rce']);

function pivotClass(stage: Stage, cap: string): PivotClass {
  if (stage === 'credential') return 'credential';
  if (stage === 'entry') return footholds.has(cap) ? 'foothold' : null;
  if (stage === 'execute') return remoteExecution.has(cap) ? 'rce' : null;
  return cap === 'container_escape' ? 'host-escape' : null;
}

/**
 * A capability. Pivot-capable are the four classes of the specification: footholds, credentials, remote code execution
 * and the escape to a host. `bound` takes that away from a weakness which the class has and the finding has not.
 */
export function capability(stage: Stage, cap: string, mitre: TechniqueId, label: string, bound = false): Capability {
  return { stage, cap, mitre, label, pivot: bound ? null : pivotClass(stage, cap) };
}
