// What words of the title make of a weakness that stands for several things. The rules of a weakness are tried in
// order; where none holds the table (cwe-table.ts) speaks, and for those of `wordsOnly` nothing does.
import { capability, type Capability } from './capability.js';
import { keywords, publicStorage, type Words } from './keywords.js';
import type { Stage } from './stages.js';
import type { TechniqueId } from './techniques.js';

const rule = (pattern: RegExp, stage: Stage, cap: string, mitre: TechniqueId, label: string, none?: RegExp): Words => ({
  rule: 100,
  all: [pattern],
  ...(none === undefined ? {} : { none }),
  capability: capability(stage, cap, mitre, label),
});

const taken = (...numbers: readonly number[]): Words[] => keywords.filter((words) => numbers.includes(words.rule));

const secretWords = /\b(secrets?|passwords?|passwd|credentials?|tokens?|api[ -]?keys?|access keys?|private keys?)\b/u;
const identityWords = /\biam\b|wildcard|\broles?\b|\bpolic(y|ies)\b/u;
const loginWords = /\b(log ?in|sign ?in|otp|passwords?|auth\w*|2fa|mfa|pin)\b/u;

const secret = (label: string): Words => rule(secretWords, 'credential', 'stored_secret', 'T1552.001', label);
const identity = rule(identityWords, 'privesc', 'iam_wildcard', 'T1078.004', 'Over-privileged cloud identity');

/**
 * Permissions (CWE-732, 284, 1220). Storage that is said to be public comes first, also where the title speaks of a
 * policy: what matters to an attacker is that anybody reads it. Words of identity come before a mere word of storage.
 */
const permissions: readonly Words[] = [
  rule(publicStorage, 'impact', 'public_bucket', 'T1530', 'Public object storage'),
  identity,
];
const permissionFiles: readonly Words[] = [
  ...permissions,
  rule(/\bpublic|\bbuckets?\b|\bblobs?\b|\bstorage\b/u, 'impact', 'public_bucket', 'T1530', 'Public object storage'),
  rule(
    /\bsecrets?\b|\bkeys?\b(?! management)/u,
    'credential',
    'stored_secret',
    'T1552.001',
    'Secret file within reach',
  ),
];

const privileges: readonly Words[] = [
  ...taken(2),
  rule(/\b(containers?|pods?|docker|kubernetes)\b/u, 'privesc', 'container_escape', 'T1611', 'Privileged container'),
  rule(/\biam\b|\broles?\b/u, 'privesc', 'iam_wildcard', 'T1078.004', 'Over-privileged cloud identity'),
];

const exposure: readonly Words[] = [
  rule(secretWords, 'credential', 'stored_secret', 'T1552.001', 'Secret exposed'),
  rule(
    /\b(personal|sensitive|customer|health|card\w*|pii|ssn)\b/u,
    'impact',
    'sensitive_data',
    'T1213',
    'Sensitive data exposed',
  ),
];

const resources: readonly Words[] = [
  ...taken(1, 2, 4, 5, 7),
  rule(/\bbuckets?\b/u, 'impact', 'public_bucket', 'T1530', 'Exposed object storage'),
  rule(
    /\b(dashboard|etcd|kubelet|redis)\b/u,
    'entry',
    'missing_auth',
    'T1133',
    'Exposed service without authentication',
  ),
  rule(/\bnetwork ?polic(y|ies)\b/u, 'pivot', 'lateral_net', 'T1210', 'Network without partitions'),
];

const byNumbers: readonly (readonly [numbers: readonly number[], rules: readonly Words[]])[] = [
  [
    [73],
    [rule(/\bwrit|\bupload|\boverwrit/u, 'execute', 'webshell', 'T1505.003', 'File written to a path of the client')],
  ],
  [
    [79],
    [
      rule(/\b(stored|persistent|second[- ]order)\b/u, 'entry', 'xss', 'T1189', 'Stored cross-site scripting'),
      rule(/\b(reflected|dom)\b/u, 'entry', 'xss', 'T1204.001', 'Reflected cross-site scripting'),
    ],
  ],
  [[349, 524], [rule(/cache.{0,60}poison|poison.{0,60}cache/u, 'entry', 'cache_poison', 'T1189', 'Cache poisoning')]],
  [[489], [rule(/\bconsole\b|werkzeug/u, 'execute', 'rce', 'T1059', 'Debug console')]],
  [
    [798, 259],
    [
      rule(/private key|-----begin/u, 'credential', 'private_key', 'T1552.004', 'Private key in code'),
      rule(
        /\b(aws|gcp|azure|cloud)\b.{0,60}(key|secret|token|credential)|\bakia/u,
        'credential',
        'cloud_key',
        'T1078.004',
        'Cloud credential in code',
      ),
    ],
  ],
  [
    [522],
    [
      rule(
        /\btokens?\b|propagat|\breplay/u,
        'credential',
        'weak_cred_protection',
        'T1550.001',
        'Token accepted as another principal',
      ),
    ],
  ],
  [[799, 837], [rule(loginWords, 'credential', 'brute_force', 'T1110.001', 'No limit on attempts')]],
  [[328], [rule(/\bpasswords?\b/u, 'credential', 'weak_hash', 'T1110.002', 'Weak password hash')]],
  [
    [347, 1270, 345],
    [
      rule(/\bsaml\b/u, 'credential', 'forged_token', 'T1606.002', 'SAML response not verified'),
      rule(/\bcookies?\b/u, 'credential', 'forged_token', 'T1606.001', 'Cookie not verified'),
    ],
  ],
  [[345], [rule(/\bjwts?\b|\btokens?\b/u, 'credential', 'forged_token', 'T1606', 'Token not verified')]],
  [[532, 598, 209, 215, 497, 538, 548], [secret('Secret in a log, an address, an error or a listing')]],
  [[200, 201, 203], exposure],
  [[250, 269, 270, 271, 272, 274], privileges],
  [[284, 1220], permissions],
  [[732], permissionFiles],
  [[668, 1188, 16, 1032, 1125], resources],
  [[552], [rule(/\bbuckets?\b|\bblobs?\b/u, 'impact', 'public_bucket', 'T1530', 'Public object storage')]],
  [
    [311],
    [
      rule(
        /\bstorage\b|\bdatabases?\b|\bpii\b|\bbackups?\b|\bvolumes?\b/u,
        'impact',
        'sensitive_data',
        'T1530',
        'Sensitive data not encrypted',
      ),
    ],
  ],
  [
    [840, 841],
    [
      rule(
        /\bpay|\bpric(e|ing)|\brefund|\bcoupon|\btransfer|\bdiscount/u,
        'impact',
        'biz_logic',
        'T1657',
        'Abuse of payments',
      ),
    ],
  ],
  [[1104, 1395, 937, 1035], keywords],
];

/** Weaknesses that say "a component has a known vulnerability" and nothing of its kind. */
const components: ReadonlySet<number> = new Set([1104, 1395, 937, 1035]);
export const isComponent = (weakness: number): boolean => components.has(weakness);
export const vulnerableComponent: Capability = capability('entry', 'vuln_component', 'T1190', 'Vulnerable component');

function read(): ReadonlyMap<number, readonly Words[]> {
  const map = new Map<number, Words[]>();
  for (const [numbers, rules] of byNumbers)
    for (const number of numbers) map.set(number, [...(map.get(number) ?? []), ...rules]);
  return map;
}

/** The rules of each weakness that has some. */
export const wordsOfWeakness: ReadonlyMap<number, readonly Words[]> = read();
