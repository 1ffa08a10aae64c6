// What sensors and live scans call an attack, and which finding it proves. The first three are pivots of live scans.

export interface Attack {
  readonly cwe: number;
  readonly severity: 'critical' | 'high' | 'medium';
  /** Title of the finding where none is there yet. */
  readonly title: string;
}

export const attacks = {
  credential_propagation: { cwe: 522, severity: 'critical', title: 'Leaked token replayed as a new principal' },
  object_graph_idor: { cwe: 639, severity: 'high', title: 'Referenced object of another user can be reached' },
  ssrf_metadata: { cwe: 918, severity: 'critical', title: 'SSRF reaches the cloud metadata service' },
  sql_injection: { cwe: 89, severity: 'high', title: 'SQL injection at run time' },
  nosql_injection: { cwe: 943, severity: 'high', title: 'Data query injection at run time' },
  command_injection: { cwe: 78, severity: 'critical', title: 'Command injection at run time' },
  code_injection: { cwe: 94, severity: 'critical', title: 'Code injection at run time' },
  template_injection: { cwe: 1336, severity: 'critical', title: 'Template injection at run time' },
  deserialization: { cwe: 502, severity: 'critical', title: 'Unsafe deserialisation at run time' },
  path_traversal: { cwe: 22, severity: 'high', title: 'Path traversal at run time' },
  file_upload: { cwe: 434, severity: 'high', title: 'Dangerous file upload at run time' },
  ssrf: { cwe: 918, severity: 'high', title: 'Server-side request forgery at run time' },
  xxe: { cwe: 611, severity: 'high', title: 'XML external entity at run time' },
  ldap_injection: { cwe: 90, severity: 'high', title: 'LDAP injection at run time' },
  xss: { cwe: 79, severity: 'medium', title: 'Cross-site scripting at run time' },
} as const satisfies Record<string, Attack>;

export type AttackType = keyof typeof attacks;
export const attackTypes = Object.keys(attacks) as AttackType[];
