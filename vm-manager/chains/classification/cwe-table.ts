// Weakness (CWE) → capability, as data. In a list of weaknesses a trailing "-" marks one that belongs to a
// pivot-capable class but gives no way on by itself. What needs words of the title stands in cwe-words.ts.
import { capability, type Capability } from './capability.js';
import type { Stage } from './stages.js';
import type { TechniqueId } from './techniques.js';

/** Raised with every change of this folder that may classify a finding differently. */
export const classifierVersion = 1;
/** The version of ATT&CK from which the technique identifiers are. */
export const attackVersion = '18';

type Row = readonly [weaknesses: string, stage: Stage, cap: string, mitre: TechniqueId, label: string];

const entry: readonly Row[] = [
  ['918', 'entry', 'ssrf', 'T1190', 'Server-side request forgery'],
  ['441', 'entry', 'ssrf', 'T1190', 'Unintended proxy'],
  ['610', 'entry', 'ssrf', 'T1190', 'Externally controlled resource reference'],
  ['89', 'entry', 'sqli', 'T1190', 'SQL injection'],
  ['564', 'entry', 'sqli', 'T1190', 'ORM query injection'],
  ['943', 'entry', 'nosqli', 'T1190', 'Data query injection'],
  ['90', 'entry', 'ldapi', 'T1190', 'LDAP injection'],
  ['91 643 652', 'entry', 'xmli', 'T1190', 'XML, XPath or XQuery injection'],
  ['611', 'entry', 'xxe', 'T1190', 'XML external entity'],
  ['827', 'entry', 'xxe', 'T1190', 'Document type definition out of control'],
  ['22 23 24- 35- 36 37- 38-', 'entry', 'file_read', 'T1190', 'Path traversal'],
  ['73', 'entry', 'file_read', 'T1190', 'External control of a file name'],
  ['79', 'entry', 'xss', 'T1059.007', 'Cross-site scripting'],
  ['80 83 87', 'entry', 'xss', 'T1059.007', 'Script injection'],
  ['352', 'entry', 'csrf', 'T1204.001', 'Cross-site request forgery'],
  ['601', 'entry', 'open_redirect', 'T1566.002', 'Open redirect'],
  ['444', 'entry', 'smuggling', 'T1190', 'HTTP request smuggling'],
  ['93 113', 'entry', 'crlf', 'T1190', 'Header injection'],
  ['287 288 289 302 303 304 305', 'entry', 'auth_bypass', 'T1190', 'Authentication bypass'],
  ['306', 'entry', 'missing_auth', 'T1133', 'Missing authentication'],
  ['290 291 293-', 'entry', 'auth_spoof', 'T1190', 'Authentication by a value that can be spoofed'],
  ['425 749', 'entry', 'forced_browse', 'T1190', 'Direct request to an exposed function'],
  ['489', 'entry', 'debug_iface', 'T1190', 'Active debug interface'],
  ['1327', 'entry', 'exposed_service', 'T1133', 'Service bound to an unrestricted address'],
];

const execute: readonly Row[] = [
  ['77 78 88', 'execute', 'rce', 'T1059', 'Command injection'],
  ['94 95 96 97- 470', 'execute', 'rce', 'T1059', 'Code injection'],
  ['917 1336', 'execute', 'rce', 'T1059', 'Expression or template injection'],
  ['98', 'execute', 'rce', 'T1059', 'Remote file inclusion'],
  ['434', 'execute', 'webshell', 'T1505.003', 'Dangerous file upload'],
  ['502', 'execute', 'deser', 'T1059', 'Unsafe deserialisation'],
  ['1321', 'execute', 'proto_pollution', 'T1059.007', 'Prototype pollution'],
  ['119 120 121 122 123 134 190- 415 416 787 843', 'execute', 'memory_rce', 'T1574', 'Memory corruption'],
  ['494 829 830', 'execute', 'supply_chain', 'T1195.002', 'Code taken without an integrity check'],
  ['506 507 510 912', 'execute', 'malicious_code', 'T1195.001', 'Embedded malicious code'],
  ['1236', 'execute', 'csv_injection', 'T1204.002', 'Formula injection'],
];

const credential: readonly Row[] = [
  ['294', 'credential', 'replay', 'T1040', 'Capture and replay'],
  ['798 259', 'credential', 'hardcoded_secret', 'T1552.001', 'Hard-coded credential'],
  ['321', 'credential', 'private_key', 'T1552.004', 'Hard-coded cryptographic key'],
  ['258 1391 1392 1393', 'credential', 'default_creds', 'T1078.001', 'Default or weak credential'],
  [
    '256 257 260 261 312 313 315 316 318 526 540 555',
    'credential',
    'stored_secret',
    'T1552.001',
    'Secret stored in clear',
  ],
  ['522', 'credential', 'weak_cred_protection', 'T1552', 'Insufficiently protected credential'],
  ['5 319 523', 'credential', 'cleartext_transit', 'T1040', 'Transmission in clear'],
  ['295 297 300 322', 'credential', 'mitm', 'T1557', 'Certificate or peer not verified'],
  ['307', 'credential', 'brute_force', 'T1110.001', 'No limit on attempts'],
  ['521', 'credential', 'weak_password', 'T1110', 'Weak password policy'],
  ['759 760 916', 'credential', 'weak_hash', 'T1110.002', 'Weak password hash'],
  ['347 1270', 'credential', 'forged_token', 'T1606', 'Token signature not verified'],
  ['330 338 340 341 342 343', 'credential', 'predictable_token', 'T1606', 'Predictable token'],
  ['384', 'credential', 'session', 'T1550.004', 'Session fixation'],
  ['613', 'credential', 'session', 'T1550.004', 'Session that does not expire'],
  ['346 942 1385', 'credential', 'cross_origin_read', 'T1539', 'Origin not validated'],
  ['620 640', 'credential', 'account_takeover', 'T1098', 'Weak recovery of accounts'],
  ['125 126 127', 'credential', 'memory_read', 'T1212', 'Memory over-read'],
];

const privesc: readonly Row[] = [
  ['59 61', 'privesc', 'link_follow', 'T1068', 'Link following'],
  ['426 427 428', 'privesc', 'search_path', 'T1574', 'Search path that can be hijacked'],
  ['250 269 270 271 272 274', 'privesc', 'priv_mgmt', 'T1068', 'Excess privilege'],
  ['266 267 268 648', 'privesc', 'priv_mgmt', 'T1068', 'Incorrect privilege assignment'],
  ['285 862 863', 'privesc', 'authz', 'T1068', 'Missing or incorrect authorisation'],
  ['284 1220', 'privesc', 'authz', 'T1068', 'Improper access control'],
  ['276 277 278 279 281', 'privesc', 'perm_default', 'T1068', 'Insecure default permissions'],
  ['732', 'privesc', 'perm_default', 'T1068', 'Incorrect permission assignment'],
  ['915', 'privesc', 'mass_assign', 'T1098', 'Mass assignment'],
  ['565 784', 'privesc', 'cookie_trust', 'T1606.001', 'Trust in an unsigned cookie'],
  ['362 366 367', 'privesc', 'race', 'T1068', 'Race condition'],
  ['653', 'privesc', 'container_escape', 'T1611', 'Improper isolation'],
];

const pivotAndImpact: readonly Row[] = [
  ['923', 'pivot', 'lateral_net', 'T1210', 'Channel open to others than intended'],
  ['350 940 941', 'pivot', 'trust', 'T1199', 'Trust in an unverified peer'],
  ['566 639', 'impact', 'idor', 'T1213', 'Insecure direct object reference'],
  ['552', 'impact', 'public_files', 'T1005', 'Files within reach of outsiders'],
  ['359', 'impact', 'sensitive_data', 'T1213', 'Personal data exposed'],
  ['840 841', 'impact', 'biz_logic', 'T1565', 'Abuse of business logic'],
  ['353 354 471', 'impact', 'tamper', 'T1565.001', 'Integrity not checked'],
  ['400 770 789 1050', 'impact', 'dos', 'T1499.003', 'Resource exhaustion'],
  ['405 409 617 674 776 834 835 1333', 'impact', 'dos', 'T1499.004', 'Crash or algorithmic denial of service'],
];

/** Weaknesses that bring an attacker no further: quality and hygiene. The table above wins over it. */
const hygiene: readonly number[] = [
  117, 178, 204, 208, 223, 262, 263, 388, 390, 391, 396, 397, 398, 477, 478, 525, 546, 561, 563, 570, 571, 614, 693,
  710, 778, 1004, 1021, 1022, 1041, 1173, 1275, 1295,
];

/** Weaknesses that count only with words of the title (cwe-words.ts). */
export const wordsOnly: readonly number[] = [
  16, 200, 201, 203, 209, 215, 311, 328, 345, 349, 497, 524, 532, 538, 548, 598, 668, 799, 837, 937, 1032, 1035, 1104,
  1125, 1188, 1395,
];

function read(): ReadonlyMap<number, Capability> {
  const map = new Map<number, Capability>();
  for (const [weaknesses, stage, cap, mitre, label] of [
    ...entry,
    ...execute,
    ...credential,
    ...privesc,
    ...pivotAndImpact,
  ]) {
    const own = capability(stage, cap, mitre, label);
    const bound = capability(stage, cap, mitre, label, true);
    for (const word of weaknesses.split(' ')) map.set(parseInt(word, 10), word.endsWith('-') ? bound : own);
  }
  return map;
}

/** What a weakness gives where no word of the title says otherwise. */
export const byWeakness: ReadonlyMap<number, Capability> = read();

const spoken: ReadonlySet<number> = new Set(wordsOnly);
const dropped: ReadonlySet<number> = new Set([...hygiene, ...Array.from({ length: 69 }, (_, index) => 1059 + index)]);

/** Whether a weakness is known to bring an attacker no further. */
export const isHygiene = (weakness: number): boolean =>
  dropped.has(weakness) && !byWeakness.has(weakness) && !spoken.has(weakness);
