// AWS: identities, logs, containers, functions and what else runs for you.
import { isObject, isUnknown, jsonOf, type Value } from '../values.js';
import type { Resource } from '../resources.js';
import {
  anyOf,
  each,
  holds,
  inPart,
  isAtLeast,
  isGiven,
  isOneOf,
  isOpen,
  isTrue,
  notTrue,
  rule,
  type Check,
  type TerraformRule,
} from '../rule.js';

const listOf = (value: Value | undefined): readonly Value[] =>
  Array.isArray(value) ? value : value === undefined ? [] : [value as Value];

/** Statements of a policy: of a text, of jsonencode, or of the document that it refers to. */
export function statementsOf(one: Resource, path: string): readonly { readonly [key: string]: Value }[] {
  const value = one.value(path);
  const policy = jsonOf(value);
  if (isObject(policy ?? undefined))
    return listOf((policy as { readonly [key: string]: Value })['Statement']).filter(isObject);
  if (!isUnknown(value) || value.reference === null) return [];
  const name = /^data\.aws_iam_policy_document\.([\w-]+)/.exec(value.reference)?.[1];
  const document = one.module.data.find((other) => other.type === 'aws_iam_policy_document' && other.name === name);
  return (document?.parts('statement') ?? []).map((part) => ({
    Effect: part.value('effect') ?? 'Allow',
    Action: part.value('actions') ?? [],
    Resource: part.value('resources') ?? [],
    Principal: Object.fromEntries(
      part.parts('principals').map((inner) => [String(inner.value('type')), inner.value('identifiers') ?? []]),
    ),
    Condition: part.parts('condition').length > 0 ? { some: 'condition' } : {},
  }));
}

const allows = ({ Effect }: { readonly [key: string]: Value }): boolean => Effect !== 'Deny';
const isEverybody = (value: Value | undefined): boolean =>
  value === '*' ||
  (Array.isArray(value) && value.includes('*')) ||
  (isObject(value) && Object.values(value).some(isEverybody));

const policies = ['aws_iam_policy', 'aws_iam_role_policy', 'aws_iam_user_policy', 'aws_iam_group_policy'];

const passwordPolicy = ['aws_iam_account_password_policy'];

const identity: readonly TerraformRule[] = [
  rule(
    'identity',
    ['aws-iam-wildcard', 'AWS-0057'],
    'Policy with every action on everything',
    policies,
    (one) =>
      statementsOf(one, 'policy').some(
        (statement) =>
          allows(statement) && listOf(statement['Action']).includes('*') && listOf(statement['Resource']).includes('*'),
      )
        ? [one.lineOf('policy')]
        : [],
    'Name the actions and resources that are needed.',
  ),
  rule(
    'identity',
    ['aws-iam-s3-wildcard', 'AWS-0345'],
    'Policy with every action of S3 on everything',
    policies,
    (one) =>
      statementsOf(one, 'policy').some(
        (statement) =>
          allows(statement) && listOf(statement['Action']).some((action) => action === 's3:*' || action === '*'),
      )
        ? [one.lineOf('policy')]
        : [],
    'Name the actions and buckets that are needed.',
  ),
  rule(
    'password',
    ['aws-password-reuse', 'AWS-0056'],
    'Passwords may be used again',
    passwordPolicy,
    isAtLeast('password_reuse_prevention', 5),
    'Set password_reuse_prevention to 5 or more.',
  ),
  rule(
    'password',
    ['aws-password-lower', 'AWS-0058'],
    'Passwords without a small letter',
    passwordPolicy,
    isTrue('require_lowercase_characters'),
    'Set require_lowercase_characters = true.',
  ),
  rule(
    'password',
    ['aws-password-number', 'AWS-0059'],
    'Passwords without a number',
    passwordPolicy,
    isTrue('require_numbers'),
    'Set require_numbers = true.',
  ),
  rule(
    'password',
    ['aws-password-symbol', 'AWS-0060'],
    'Passwords without a symbol',
    passwordPolicy,
    isTrue('require_symbols'),
    'Set require_symbols = true.',
  ),
  rule(
    'password',
    ['aws-password-upper', 'AWS-0061'],
    'Passwords without a large letter',
    passwordPolicy,
    isTrue('require_uppercase_characters'),
    'Set require_uppercase_characters = true.',
  ),
  rule(
    'password',
    ['aws-password-age', 'AWS-0062'],
    'Passwords without an end',
    passwordPolicy,
    holds('max_password_age', (value) => Number(value) <= 90 && Number(value) > 0, 'bad'),
    'Set max_password_age to 90 or less.',
  ),
  rule(
    'password',
    ['aws-password-length', 'AWS-0063'],
    'Short passwords',
    passwordPolicy,
    isAtLeast('minimum_password_length', 14),
    'Set minimum_password_length to 14 or more.',
  ),
  rule(
    'identity',
    ['aws-iam-root-key', 'AWS-0141'],
    'Access key of the root user',
    ['aws_iam_access_key'],
    (one) => {
      const [user] = one.module.of('aws_iam_user').filter((other) => one.means('user', other, 'name'));
      return (user?.value('name') ?? one.value('user')) === 'root' ? [one.lineOf('user')] : [];
    },
    'Delete it, and use a role.',
    'critical',
  ),
  rule(
    'identity',
    ['aws-iam-user-policy', 'AWS-0143'],
    'Policy of a single user',
    ['aws_iam_user_policy', 'aws_iam_user_policy_attachment'],
    (one) => [one.line],
    'Give it to a group or a role.',
    'low',
  ),
  rule(
    'identity',
    ['aws-iam-group-mfa', 'AWS-0123'],
    'Group without a second factor',
    ['aws_iam_group'],
    (one) => {
      const own = one.module.of('aws_iam_group_policy').filter((policy) => policy.means('group', one, 'name'));
      const attached = one.module
        .of('aws_iam_group_policy_attachment')
        .filter((attachment) => attachment.means('group', one, 'name'))
        .flatMap((attachment) =>
          one.module.of('aws_iam_policy').filter((policy) => attachment.means('policy_arn', policy, 'arn')),
        );
      const text = [...own, ...attached]
        .map((policy) => JSON.stringify([policy.value('policy'), statementsOf(policy, 'policy'), documentText(policy)]))
        .join('');
      return text.includes('MultiFactorAuth') ? [] : [one.line];
    },
    'Attach a policy with the condition aws:MultiFactorAuthPresent.',
    'medium',
  ),
];

/** All conditions of the documents that a policy is put together from. */
function documentText(one: Resource): string {
  const waiting: Value[] = [one.value('policy') ?? null];
  const seen = new Set<string>();
  let text = '';
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    const name = isUnknown(value)
      ? /^data\.aws_iam_policy_document\.([\w-]+)/.exec(value.reference ?? '')?.[1]
      : undefined;
    const document = one.module.data.find((other) => other.type === 'aws_iam_policy_document' && other.name === name);
    if (name === undefined || document === undefined || seen.has(name)) continue;
    seen.add(name);
    text += document
      .parts('statement.condition')
      .map((part) => String(part.value('variable')))
      .join(' ');
    for (const key of ['source_policy_documents', 'override_policy_documents', 'source_json', 'override_json'])
      waiting.push(...listOf(document.value(key)));
  }
  return text;
}

/** The bucket that a trail writes to. */
const bucketOf = (one: Resource): Resource | undefined =>
  one.module.of('aws_s3_bucket').find((bucket) => one.means('s3_bucket_name', bucket, 'bucket'));
const trail = ['aws_cloudtrail'];
/** Buckets that no trail beside them records; where the directory has no trail nobody knows. */
const recordsData =
  (kind: 'Read' | 'Write'): Check =>
  (one) => {
    const trails = one.module.of('aws_cloudtrail');
    const hasBucket = (value: Value): boolean => {
      const text = isUnknown(value) ? (value.reference ?? value.partly) : String(value);
      return (
        /^arn:aws:s3(?::::?)?$/.test(text) ||
        isUnknown(value) ||
        text.startsWith(`arn:aws:s3:::${String(one.value('bucket'))}/`)
      );
    };
    const isRecorded = trails.some(
      (other) =>
        other.parts('advanced_event_selector').length > 0 ||
        other
          .parts('event_selector')
          .some(
            (part) =>
              ['All', `${kind}Only`].includes(String(part.value('read_write_type') ?? 'All')) &&
              part
                .parts('data_resource')
                .some(
                  (data) => data.value('type') === 'AWS::S3::Object' && listOf(data.value('values')).some(hasBucket),
                ),
          ),
    );
    return trails.length === 0 || isRecorded ? [] : [one.line];
  };

const logs: readonly TerraformRule[] = [
  rule(
    'logs',
    ['aws-trail-regions', 'AWS-0014'],
    'CloudTrail of one region',
    trail,
    isTrue('is_multi_region_trail'),
    'Set is_multi_region_trail = true.',
  ),
  rule(
    'ownKey',
    ['aws-trail-own-key', 'AWS-0015'],
    'CloudTrail has no key of your own',
    trail,
    isGiven('kms_key_id'),
    'Name kms_key_id.',
  ),
  rule(
    'logs',
    ['aws-trail-validation', 'AWS-0016'],
    'Changes of the trail are not noticed',
    trail,
    isTrue('enable_log_file_validation'),
    'Set enable_log_file_validation = true.',
    'high',
  ),
  rule(
    'publicData',
    ['aws-trail-public-bucket', 'AWS-0161'],
    'Public bucket of the trail',
    trail,
    (one) => {
      const acl =
        bucketOf(one)?.value('acl') ?? bucketOf(one)?.joined('aws_s3_bucket_acl', 'bucket', 'bucket')[0]?.value('acl');
      return typeof acl === 'string' && acl.startsWith('public-') ? [one.lineOf('s3_bucket_name')] : [];
    },
    'Make the bucket private.',
  ),
  rule(
    'logs',
    ['aws-trail-cloudwatch', 'AWS-0162'],
    'CloudTrail is not followed by CloudWatch',
    trail,
    isGiven('cloud_watch_logs_group_arn'),
    'Name cloud_watch_logs_group_arn.',
    'low',
  ),
  rule(
    'logs',
    ['aws-trail-bucket-log', 'AWS-0163'],
    'Bucket of the trail without an access log',
    trail,
    (one) => {
      const bucket = bucketOf(one);
      return bucket === undefined ||
        bucket.parts('logging').length > 0 ||
        bucket.joined('aws_s3_bucket_logging', 'bucket', 'bucket').length > 0
        ? []
        : [bucket.line];
    },
    'Add aws_s3_bucket_logging to the bucket.',
    'low',
  ),
  rule(
    'ownKey',
    ['aws-log-group-own-key', 'AWS-0017'],
    'Log group has no key of your own',
    ['aws_cloudwatch_log_group'],
    isGiven('kms_key_id'),
    'Name kms_key_id.',
  ),
  rule(
    'logs',
    ['aws-config-regions', 'AWS-0019'],
    'Aggregator of one region',
    ['aws_config_configuration_aggregator'],
    anyOf(
      each('account_aggregation_source', inPart(isTrue('all_regions'))),
      each('organization_aggregation_source', inPart(isTrue('all_regions'))),
      (one) =>
        one.parts('account_aggregation_source').length + one.parts('organization_aggregation_source').length === 0
          ? [one.line]
          : [],
    ),
    'Set all_regions = true.',
  ),
  rule(
    'logs',
    ['aws-trail-s3-writes', 'AWS-0171'],
    'Writes of objects are not recorded',
    ['aws_s3_bucket'],
    recordsData('Write'),
    'Add an event_selector with the objects of S3.',
    'low',
  ),
  rule(
    'logs',
    ['aws-trail-s3-reads', 'AWS-0172'],
    'Reads of objects are not recorded',
    ['aws_s3_bucket'],
    recordsData('Read'),
    'Add an event_selector with the objects of S3.',
    'low',
  ),
];

const secretName = /(?:pass(?:word|wd)?|secret|token|api_?key|access_?key|credential)/i;
const secretEnvironment: Check = (one) => {
  const text = one.value('container_definitions');
  const found = jsonOf(text);
  const containers = Array.isArray(text) ? text : Array.isArray(found) ? found : [];
  const isBad = (container: Value): boolean =>
    isObject(container) &&
    listOf(container['environment']).some(
      (variable) =>
        isObject(variable) &&
        secretName.test(String(variable['name'])) &&
        typeof variable['value'] === 'string' &&
        variable['value'] !== '',
    );
  return containers.some(isBad) ? [one.lineOf('container_definitions')] : [];
};

const containers: readonly TerraformRule[] = [
  rule(
    'supply',
    ['aws-ecr-scan', 'AWS-0030'],
    'Images are not scanned when they are pushed',
    ['aws_ecr_repository'],
    isTrue('image_scanning_configuration.scan_on_push'),
    'Set scan_on_push = true.',
  ),
  rule(
    'supply',
    ['aws-ecr-tags', 'AWS-0031'],
    'Tags of images can be moved',
    ['aws_ecr_repository'],
    isOneOf('image_tag_mutability', ['IMMUTABLE', 'IMMUTABLE_WITH_EXCLUSION']),
    'Set image_tag_mutability = "IMMUTABLE".',
  ),
  rule(
    'exposure',
    ['aws-ecr-public', 'AWS-0032'],
    'Registry for everybody',
    ['aws_ecr_repository_policy'],
    (one) =>
      statementsOf(one, 'policy').some((statement) => allows(statement) && isEverybody(statement['Principal']))
        ? [one.lineOf('policy')]
        : [],
    'Name the accounts that pull.',
  ),
  rule(
    'ownKey',
    ['aws-ecr-own-key', 'AWS-0033'],
    'Registry has no key of your own',
    ['aws_ecr_repository'],
    anyOf(
      isOneOf('encryption_configuration.encryption_type', ['KMS', 'KMS_DSSE']),
      isGiven('encryption_configuration.kms_key'),
    ),
    'Set encryption_configuration { encryption_type = "KMS", kms_key = … }.',
  ),
  rule(
    'logs',
    ['aws-ecs-insights', 'AWS-0034'],
    'Cluster without insights',
    ['aws_ecs_cluster'],
    (one) =>
      one
        .parts('setting')
        .some(
          (part) =>
            part.value('name') === 'containerInsights' && ['enabled', 'enhanced'].includes(String(part.value('value'))),
        )
        ? []
        : [one.line],
    'Set containerInsights to enabled.',
    'low',
  ),
  rule(
    'transit',
    ['aws-ecs-efs-transit', 'AWS-0035'],
    'Volume of EFS is mounted without encryption',
    ['aws_ecs_task_definition'],
    each('volume.efs_volume_configuration', inPart(isOneOf('transit_encryption', ['ENABLED']))),
    'Set transit_encryption = "ENABLED".',
  ),
  rule(
    'secret',
    ['aws-ecs-secret', 'AWS-0036'],
    'Secret in the environment of a task',
    ['aws_ecs_task_definition'],
    secretEnvironment,
    'Use secrets of the container definition.',
  ),
  rule(
    'logs',
    ['aws-eks-logs', 'AWS-0038'],
    'Control plane of EKS writes no log',
    ['aws_eks_cluster'],
    holds(
      'enabled_cluster_log_types',
      (value) =>
        Array.isArray(value) &&
        ['api', 'audit', 'authenticator', 'controllerManager', 'scheduler'].every((name) => value.includes(name)),
      'bad',
    ),
    'Name all five in enabled_cluster_log_types.',
  ),
  rule(
    'encryption',
    ['aws-eks-secrets', 'AWS-0039'],
    'Secrets of EKS are not encrypted',
    ['aws_eks_cluster'],
    (one) =>
      one
        .parts('encryption_config')
        .some(
          (part) =>
            listOf(part.value('resources')).includes('secrets') &&
            part.value('provider.key_arn') !== undefined &&
            part.value('provider.key_arn') !== '',
        )
        ? []
        : [one.lineOf('encryption_config')],
    'Add encryption_config for secrets.',
  ),
  rule(
    'exposure',
    ['aws-eks-public', 'AWS-0040'],
    'API of EKS is reached from everywhere',
    ['aws_eks_cluster'],
    holds('vpc_config.endpoint_public_access', (value) => value === false, 'bad'),
    'Set endpoint_public_access = false.',
    'critical',
  ),
  rule(
    'exposure',
    ['aws-eks-open', 'AWS-0041'],
    'API of EKS is open to every address',
    ['aws_eks_cluster'],
    (one) => {
      if (
        one.value('vpc_config.endpoint_public_access') === false ||
        isUnknown(one.value('vpc_config.endpoint_public_access'))
      )
        return [];
      const value = one.value('vpc_config.public_access_cidrs');
      return value === undefined || isOpen(value) ? [one.lineOf('vpc_config.public_access_cidrs')] : [];
    },
    'Name networks in public_access_cidrs.',
    'critical',
  ),
  rule(
    'logs',
    ['aws-lambda-tracing', 'AWS-0066'],
    'Function is not traced',
    ['aws_lambda_function'],
    isOneOf('tracing_config.mode', ['Active']),
    'Set tracing_config { mode = "Active" }.',
    'info',
  ),
  rule(
    'identity',
    ['aws-lambda-source', 'AWS-0067'],
    'Every source of a service may call the function',
    ['aws_lambda_permission'],
    (one) => (/\.amazonaws\.com$/.test(String(one.value('principal') ?? '')) ? isGiven('source_arn')(one) : []),
    'Name source_arn.',
  ),
  rule(
    'encryption',
    ['aws-codebuild-encrypted', 'AWS-0018'],
    'Artifacts of a build are not encrypted',
    ['aws_codebuild_project'],
    anyOf(
      each('artifacts', inPart(notTrue('encryption_disabled'))),
      each('secondary_artifacts', inPart(notTrue('encryption_disabled'))),
    ),
    'Leave encryption_disabled out.',
  ),
  rule(
    'hygiene',
    ['aws-kms-rotation', 'AWS-0065'],
    'Key is never changed',
    ['aws_kms_key'],
    (one) =>
      (one.value('key_usage') ?? 'ENCRYPT_DECRYPT') === 'ENCRYPT_DECRYPT' &&
      [undefined, 'SYMMETRIC_DEFAULT'].includes(one.value('customer_master_key_spec') as string | undefined)
        ? isTrue('enable_key_rotation')(one)
        : [],
    'Set enable_key_rotation = true.',
    'medium',
  ),
];

const emr =
  (path: readonly string[], isRight: (value: Value | undefined) => boolean): Check =>
  (one) => {
    let value: Value | null | undefined = jsonOf(one.value('configuration'));
    if (value === null) return [];
    for (const key of path)
      value = isObject(value ?? undefined) ? (value as { readonly [key: string]: Value })[key] : undefined;
    return isRight(value ?? undefined) ? [] : [one.lineOf('configuration')];
  };
const search = ['aws_elasticsearch_domain', 'aws_opensearch_domain'];

const analysis: readonly TerraformRule[] = [
  rule(
    'logs',
    ['aws-search-logs', 'AWS-0042'],
    'Search domain writes no audit log',
    search,
    (one) =>
      one
        .parts('log_publishing_options')
        .some((part) => part.value('log_type') === 'AUDIT_LOGS' && part.value('enabled') !== false)
        ? []
        : [one.lineOf('log_publishing_options')],
    'Add log_publishing_options with AUDIT_LOGS.',
  ),
  rule(
    'transit',
    ['aws-search-nodes', 'AWS-0043'],
    'Nodes of a search domain talk in clear',
    search,
    isTrue('node_to_node_encryption.enabled'),
    'Set node_to_node_encryption { enabled = true }.',
  ),
  rule(
    'transit',
    ['aws-search-https', 'AWS-0046'],
    'Search domain answers without encryption',
    search,
    isTrue('domain_endpoint_options.enforce_https'),
    'Set enforce_https = true.',
    'critical',
  ),
  rule(
    'encryption',
    ['aws-search-encrypted', 'AWS-0048'],
    'Search domain is not encrypted',
    search,
    isTrue('encrypt_at_rest.enabled'),
    'Set encrypt_at_rest { enabled = true }.',
  ),
  rule(
    'transit',
    ['aws-search-tls', 'AWS-0126'],
    'Search domain speaks old TLS',
    search,
    holds('domain_endpoint_options.tls_security_policy', (value) => value !== 'Policy-Min-TLS-1-0-2019-07', 'bad'),
    'Set tls_security_policy = "Policy-Min-TLS-1-2-2019-07".',
  ),
  rule(
    'encryption',
    ['aws-emr-rest', 'AWS-0137'],
    'EMR is not encrypted at rest',
    ['aws_emr_security_configuration'],
    emr(['EncryptionConfiguration', 'EnableAtRestEncryption'], (value) => value === true),
    'Set EnableAtRestEncryption.',
  ),
  rule(
    'transit',
    ['aws-emr-transit', 'AWS-0138'],
    'EMR is not encrypted on the way',
    ['aws_emr_security_configuration'],
    emr(['EncryptionConfiguration', 'EnableInTransitEncryption'], (value) => value === true),
    'Set EnableInTransitEncryption.',
  ),
  rule(
    'encryption',
    ['aws-emr-disk', 'AWS-0139'],
    'Local disks of EMR are not encrypted',
    ['aws_emr_security_configuration'],
    emr(
      [
        'EncryptionConfiguration',
        'AtRestEncryptionConfiguration',
        'LocalDiskEncryptionConfiguration',
        'EncryptionKeyProviderType',
      ],
      (value) => typeof value === 'string' && value !== '',
    ),
    'Name a key for the local disks.',
  ),
];

export const awsServiceRules: readonly TerraformRule[] = [...identity, ...logs, ...containers, ...analysis];
