// Words of a title → capability, in order; the first that holds decides. They speak where a finding names no weakness,
// or one that the table does not know. Every pattern is free of nested repetition and reads at most 300 characters.
import { capability, type Capability } from './capability.js';
import type { Stage } from './stages.js';
import type { TechniqueId } from './techniques.js';

/** What the patterns may look at beside the title. */
export interface Surroundings {
  /** Where the finding came from, lower case: `iac`, `k8s`, `sca`… */
  readonly source: string;
  readonly hasCve: boolean;
}

export interface Words {
  /** Number of the rule, for those that take over some of them. */
  readonly rule: number;
  /** All of them have to hold. */
  readonly all: readonly RegExp[];
  readonly none?: RegExp;
  readonly when?: (surroundings: Surroundings) => boolean;
  readonly capability: Capability;
}

type Options = Pick<Words, 'none' | 'when'>;

function words(
  rule: number,
  all: RegExp | readonly RegExp[],
  what: readonly [Stage, string, TechniqueId, string],
  options: Options = {},
): Words {
  return { rule, all: all instanceof RegExp ? [all] : all, capability: capability(...what), ...options };
}

/** Names of the cloud's metadata service, in a title, a location or a proof. */
export const metadataService =
  /169\.254\.169\.254|\bimds(v[12])?\b|metadata[ -](service|endpoint|api|server)|metadata\.google/u;
const requestForgery = /\bssrf\b|server-?\s?side request/u;
const openTo = 'public|anonymous|world|everyone|allusers|all users';
const storage = 'buckets?|blobs?|storage|s3|gcs|container registry|snapshots?';
/** Storage that anybody may read: a word of the public and one of storage, in either order. */
export const publicStorage = new RegExp(
  `\\b(${openTo})\\w*\\b.{0,60}\\b(${storage})\\b|\\b(${storage})\\b.{0,60}\\b(${openTo})`,
  'u',
);
const clusterSources = /k8s|kube|iac|container|cloud/u;

/** Titles that bring an attacker no further, where no weakness is named. */
const hygiene: readonly RegExp[] = [
  /missing\b.{0,60}\bheaders?\b/u,
  /\bheaders?\b.{0,60}\b(missing|not set)\b/u,
  /x-content-type|x-frame|\bhsts\b|referrer-policy/u,
  /\bcsp\b.{0,60}\bmissing\b|\bmissing\b.{0,60}\bcsp\b/u,
  /\bcookie\b.{0,60}(flag|secure|httponly|samesite)/u,
  /\bbanner\b|version disclos|autocomplete|\bdeprecated\b|\boptions method/u,
];
const outdated = /outdated (js |javascript )?librar/u;

/** Whether a title speaks of hygiene only. */
export function isHygieneTitle(title: string, hasCve: boolean): boolean {
  return hygiene.some((pattern) => pattern.test(title)) || (!hasCve && outdated.test(title));
}

const cloud: readonly Words[] = [
  words(1, metadataService, ['credential', 'metadata', 'T1552.005', 'Cloud metadata service'], {
    none: requestForgery,
  }),
  words(
    2,
    new RegExp(
      'container escape|privileged (container|pod)|host[- ]?path|host[- ]?pid|host[- ]?ipc|host[- ]?network' +
        '|cap_sys_admin|sys_ptrace|docker\\.?sock|containerd\\.sock|allowprivilegeescalation|core_pattern',
      'u',
    ),
    ['privesc', 'container_escape', 'T1611', 'Escape from a container'],
  ),
  words(2, /runs? as root/u, ['privesc', 'container_escape', 'T1611', 'Container runs as root'], {
    when: ({ source }) => clusterSources.test(source),
  }),
  words(
    3,
    [/\biam\b/u, /\*|wildcard|admin|overly|passrole|privilege/u],
    ['privesc', 'iam_wildcard', 'T1078.004', 'Over-privileged cloud identity'],
  ),
  words(3, /administratoraccess|cluster-?admin|wildcard (action|resource|verb)|assume ?role/u, [
    'privesc',
    'iam_wildcard',
    'T1078.004',
    'Over-privileged cloud identity',
  ]),
  words(4, publicStorage, ['impact', 'public_bucket', 'T1530', 'Public object storage']),
  words(
    5,
    new RegExp(
      '(kubelet|etcd|kube-?api|dashboard|docker api|redis|mongodb|elasticsearch|memcached|jenkins|rabbitmq)' +
        '.{0,60}(exposed|unauth|anonymous|\\bopen\\b|public)',
      'u',
    ),
    ['entry', 'missing_auth', 'T1133', 'Exposed service without authentication'],
  ),
  words(6, /service ?account token|automount/u, ['pivot', 'sa_token', 'T1528', 'Service account token']),
  words(
    7,
    [/security group.{0,60}0\.0\.0\.0\/0/u, /\b(ssh|rdp|admin\w*|22|3389)\b/u],
    ['entry', 'exposed_service', 'T1133', 'Administration open to the internet'],
  ),
  words(
    7,
    new RegExp(
      'network ?polic(y|ies)\\b.{0,60}(missing|absent|allow all)|(missing|absent|no) network ?polic(y|ies)' +
        '|flat network|unrestricted (egress|lateral)|security group.{0,60}0\\.0\\.0\\.0/0',
      'u',
    ),
    ['pivot', 'lateral_net', 'T1210', 'Network without partitions'],
  ),
];

const code: readonly Words[] = [
  words(8, /remote code exec|\brce\b|command inj|code inj|template inj|\bssti\b|\beval\b|log4shell|\bognl\b/u, [
    'execute',
    'rce',
    'T1059',
    'Remote code execution',
  ]),
  words(9, /deseriali[sz]/u, ['execute', 'deser', 'T1059', 'Unsafe deserialisation']),
  words(10, /(unrestricted|arbitrary) (file )?upload|web ?shell/u, [
    'execute',
    'webshell',
    'T1505.003',
    'Dangerous file upload',
  ]),
  words(11, /\bnosql/u, ['entry', 'nosqli', 'T1190', 'Data query injection']),
  words(11, /sql inj|sqli\b/u, ['entry', 'sqli', 'T1190', 'SQL injection']),
  words(12, requestForgery, ['entry', 'ssrf', 'T1190', 'Server-side request forgery']),
  words(13, /\bxxe\b|xml external/u, ['entry', 'xxe', 'T1190', 'XML external entity']),
  words(14, /path trav|directory trav|\blfi\b|local file incl|arbitrary file read/u, [
    'entry',
    'file_read',
    'T1190',
    'Path traversal',
  ]),
  words(15, /auth(entication)? bypass|unauthenticated access|missing authentication/u, [
    'entry',
    'auth_bypass',
    'T1190',
    'Authentication bypass',
  ]),
  words(16, /(stored|persistent) (xss|cross-?\s?site script)/u, [
    'entry',
    'xss',
    'T1189',
    'Stored cross-site scripting',
  ]),
  words(16, /(dom|reflected)([ -]based)? (xss|cross-?\s?site script)/u, [
    'entry',
    'xss',
    'T1204.001',
    'Reflected cross-site scripting',
  ]),
  words(16, /\bxss\b|cross-?\s?site script/u, ['entry', 'xss', 'T1059.007', 'Cross-site scripting']),
];

const secretNames = 'api[ -]?keys?|secrets?|passwords?|passwd|tokens?|credentials?';

const secrets: readonly Words[] = [
  words(17, /private key|-----begin/u, ['credential', 'private_key', 'T1552.004', 'Private key']),
  words(18, /\b(aws|gcp|azure|cloud)\b.{0,60}(key|secret|token|credential)|\bakia/u, [
    'credential',
    'cloud_key',
    'T1078.004',
    'Cloud credential',
  ]),
  words(
    19,
    new RegExp(
      `\\b(${secretNames})\\b.{0,60}(leak|expos|hard-?\\s?coded|commit|clear|plain|in (url|log|source|repo))` +
        `|hard-?\\s?coded\\b.{0,60}\\b(${secretNames})\\b`,
      'u',
    ),
    ['credential', 'stored_secret', 'T1552.001', 'Secret within reach'],
  ),
  words(20, /default (password|credential|login)/u, ['credential', 'default_creds', 'T1078.001', 'Default credential']),
  words(
    21,
    [/\b(jwt|saml|token)/u, /\bnone\b|\balg\b|unsigned|not verified|weak secret|forg/u],
    ['credential', 'forged_token', 'T1606', 'Token that can be forged'],
  ),
  words(22, /credential stuffing/u, ['credential', 'brute_force', 'T1110.004', 'Credential stuffing']),
  words(22, /brute ?force|no rate limit.{0,60}(login|otp|auth)/u, [
    'credential',
    'brute_force',
    'T1110.001',
    'No limit on attempts',
  ]),
  words(23, /session (fixation|hijack)/u, ['credential', 'session', 'T1550.004', 'Session that can be taken']),
];

const consequences: readonly Words[] = [
  words(24, /privilege escalation|\bbfla\b|function[ -]level/u, ['privesc', 'authz', 'T1068', 'Missing authorisation']),
  words(25, /\bidor\b|\bbola\b|object[ -]level/u, ['impact', 'idor', 'T1213', 'Insecure direct object reference']),
  words(
    26,
    /(\bpii\b|personal data|card number|cardholder|\bssn\b|health record).{0,60}(expos|leak|unencrypt|unmask)/u,
    ['impact', 'sensitive_data', 'T1213', 'Personal data exposed'],
  ),
  words(27, /unpinned action|pull_request_target/u, [
    'execute',
    'supply_chain',
    'T1195.002',
    'Build pipeline that runs the code of others',
  ]),
  words(27, /dependency confusion|typosquat|malicious package/u, [
    'execute',
    'supply_chain',
    'T1195.001',
    'Malicious dependency',
  ]),
  words(28, /\bransom|\bbackup.{0,60}(public|delet|missing|unprotected)/u, [
    'impact',
    'backup_exposed',
    'T1485',
    'Backups within reach',
  ]),
  words(29, /denial of service|\bredos\b|resource exhaust|billion laughs/u, [
    'impact',
    'dos',
    'T1499.004',
    'Denial of service',
  ]),
];

export const keywords: readonly Words[] = [...cloud, ...code, ...secrets, ...consequences];

/** The capability of the first rule that holds, of all rules or of the named ones; null where none holds. */
export function byWords(
  title: string,
  surroundings: Surroundings,
  rules: readonly Words[] = keywords,
): Capability | null {
  const holds = ({ all, none, when }: Words): boolean =>
    all.every((pattern) => pattern.test(title)) &&
    !(none?.test(title) ?? false) &&
    (when === undefined || when(surroundings));
  return rules.find(holds)?.capability ?? null;
}
