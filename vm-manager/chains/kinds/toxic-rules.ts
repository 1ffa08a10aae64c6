// The rules of toxic combinations, as data: slots that distinct findings of one application fill. The four of the
// specification always hold; the others are a pack that an operator switches on.
import { flag } from '../classification/classify.js';
import type { ApplicationView, Candidate } from '../candidate.js';

export interface Slot {
  readonly holds: (candidate: Candidate) => boolean;
  /** A slot that is filled where something fits, and never keeps the rule from firing. */
  readonly isOptional: boolean;
}

export interface ToxicRule {
  readonly slug: string;
  readonly name: string;
  readonly pack: 'specification' | 'further' | 'own';
  /** The first way whose slots can be filled is taken. */
  readonly ways: readonly (readonly Slot[])[];
  readonly when?: (view: ApplicationView) => boolean;
}

type Test = (candidate: Candidate) => boolean;

/** A capability by name, or any of a stage: `cap`, `stage:entry`. */
function test(...words: readonly string[]): Test {
  const stages = new Set(words.filter((word) => word.startsWith('stage:')).map((word) => word.slice('stage:'.length)));
  const caps = new Set(words);
  return ({ capability }) => caps.has(capability.cap) || stages.has(capability.stage);
}
const needs = (holds: Test): Slot => ({ holds, isOptional: false });
const likes = (...words: readonly string[]): Slot => ({ holds: test(...words), isOptional: true });
const has = (...words: readonly string[]): Slot => needs(test(...words));
const flagged = (bit: number, ...words: readonly string[]): Test => {
  const holds = test(...words);
  return (candidate) => (candidate.flags & bit) !== 0 && holds(candidate);
};

const isForged = test('ssrf');
const isFlaggedForgery = flagged(flag.metadata, 'xxe', 'file_read');
const forgery: Test = (candidate) => isForged(candidate) || isFlaggedForgery(candidate);

export const specifiedRules: readonly ToxicRule[] = [
  {
    slug: 'ssrf-metadata-iam',
    name: 'SSRF to metadata service to IAM',
    pack: 'specification',
    // A finding that names the metadata service as what its forgery reaches says both: a second finding for the same
    // fact is not asked for. Whether it is proven is the business of danger, not of the rule.
    ways: [
      [needs(forgery), has('metadata', 'cloud_key'), has('iam_wildcard')],
      [needs(flagged(flag.metadata, 'ssrf', 'xxe', 'file_read')), has('iam_wildcard')],
    ],
  },
  {
    slug: 'public-object-storage',
    name: 'Public object storage',
    pack: 'specification',
    ways: [
      [
        has('public_bucket'),
        has('sensitive_data', 'stored_secret', 'hardcoded_secret', 'cloud_key', 'backup_exposed', 'stage:entry'),
        likes('stage:entry', 'stage:credential'),
      ],
    ],
  },
  {
    slug: 'container-escape',
    name: 'Container escape',
    pack: 'specification',
    ways: [[has('stage:execute', 'missing_auth'), has('container_escape'), likes('iam_wildcard', 'sa_token')]],
  },
  {
    slug: 'injection-exec-data',
    name: 'Injection to execution to data or credentials',
    pack: 'specification',
    ways: [
      [
        has('sqli', 'nosqli', 'ldapi', 'xmli'),
        has('stage:execute'),
        has('stage:credential', 'idor', 'public_files', 'public_bucket', 'sensitive_data'),
      ],
    ],
  },
];

const further = (slug: string, name: string, slots: readonly Slot[], when?: ToxicRule['when']): ToxicRule => ({
  slug,
  name,
  pack: 'further',
  ways: [slots],
  ...(when === undefined ? {} : { when }),
});

/** Off by default. */
export const furtherRules: readonly ToxicRule[] = [
  further('upload-to-shell', 'Upload to shell on the host', [
    has('webshell'),
    has('priv_mgmt', 'container_escape', 'perm_default'),
    likes('stage:impact'),
  ]),
  further('secret-in-code-to-cloud', 'Secret in code to cloud account', [
    has('hardcoded_secret', 'cloud_key', 'private_key'),
    has('iam_wildcard'),
    likes('public_bucket', 'sensitive_data'),
  ]),
  further('exposed-admin-default-creds', 'Exposed administration with default credentials', [
    has('missing_auth', 'debug_iface', 'exposed_service'),
    has('default_creds', 'weak_password'),
    likes('stage:execute'),
  ]),
  further(
    'exposed-rce-secrets',
    'Exposed code execution beside secrets',
    [has('rce', 'memory_rce', 'vuln_component'), has('stored_secret', 'cloud_key')],
    (view) => view.isInternetFacing,
  ),
  further('privileged-workload-cloud-identity', 'Privileged workload with a cloud identity', [
    has('container_escape'),
    has('sa_token', 'iam_wildcard'),
  ]),
  further('public-storage-no-recovery', 'Public storage without recovery', [
    has('public_bucket'),
    has('backup_exposed'),
  ]),
  further('exposed-database-no-backup', 'Exposed database without backup', [
    needs(flagged(flag.database, 'missing_auth')),
    has('backup_exposed'),
  ]),
  further('pipeline-takeover', 'Build pipeline that gives its secrets away', [
    needs(flagged(flag.pipeline, 'supply_chain')),
    needs(flagged(flag.pipeline, 'stored_secret')),
    likes('cloud_key'),
  ]),
  further('malicious-dependency-secrets', 'Malicious dependency beside secrets', [
    has('malicious_code', 'supply_chain'),
    has('stored_secret', 'cloud_key'),
  ]),
  further('xss-session-takeover', 'Script injection to session takeover', [
    has('xss'),
    has('session', 'cross_origin_read'),
    has('authz', 'account_takeover'),
  ]),
  further('csrf-account-takeover', 'Forged request to account takeover', [
    has('csrf'),
    has('account_takeover', 'mass_assign'),
  ]),
  further('bola-mass-data', 'Weak login to everybody’s data', [
    has('brute_force', 'predictable_token', 'forged_token'),
    has('idor'),
    likes('sensitive_data'),
  ]),
  further('token-forgery-admin', 'Forged token to administration', [
    has('forged_token'),
    has('authz', 'cookie_trust', 'mass_assign'),
  ]),
  further('redirect-token-theft', 'Redirect to token theft', [
    has('open_redirect'),
    has('weak_cred_protection', 'session'),
  ]),
  further('code-to-host', 'Code execution to the host', [
    has('deser', 'rce'),
    has('container_escape', 'priv_mgmt'),
    likes('lateral_net'),
  ]),
  further('smuggling-around-protection', 'Smuggled request around the protection', [
    has('smuggling'),
    has('stage:entry', 'stage:execute'),
  ]),
  further('login-without-second-factor', 'Login without a second factor', [
    has('brute_force', 'weak_password'),
    needs(({ flags }) => (flags & flag.secondFactor) !== 0),
    has('authz'),
  ]),
  further('ransom-path', 'Path to backups', [
    has('stage:entry', 'stage:credential'),
    has('priv_mgmt', 'container_escape'),
    has('backup_exposed'),
  ]),
];

/** All rules that are built in, in the order in which they are listed. */
export const toxicRules: readonly ToxicRule[] = [...specifiedRules, ...furtherRules];

/** A slot of an own rule: one of these words (`slotWords`) has to hold. */
export interface OwnSlot {
  readonly any_of: readonly string[];
  readonly optional?: boolean;
}

/** Required slots of an own rule; trying stays bounded by them, as it is for the rules that are built in. */
export const requiredSlotsMax = 3;

export const ownRule = (slug: string, name: string, slots: readonly OwnSlot[]): ToxicRule => ({
  slug,
  name,
  pack: 'own',
  ways: [slots.map(({ any_of: words, optional = false }) => (optional ? likes(...words) : has(...words)))],
});
