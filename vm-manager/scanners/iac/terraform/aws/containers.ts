// AWS: containers, functions and keys.
import { isObject, isUnknown, jsonOf, type Value, textOf } from '../values.js';
import {
  anyOf,
  each,
  holds,
  inPart,
  isGiven,
  isOneOf,
  isOpen,
  isTrue,
  notTrue,
  rule,
  type Check,
  type TerraformRule,
} from '../rule.js';
import { listOf, statementsOf, allows, isEverybody } from './policies.js';

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
        secretName.test(textOf(variable['name'])) &&
        typeof variable['value'] === 'string' &&
        variable['value'] !== '',
    );
  return containers.some(isBad) ? [one.lineOf('container_definitions')] : [];
};

export const awsContainerRules: readonly TerraformRule[] = [
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
            part.value('name') === 'containerInsights' && ['enabled', 'enhanced'].includes(textOf(part.value('value'))),
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
    ['aws-lambda-tracing', 'AWS-0066', 'AWS-0125'],
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
    (one) => (textOf(one.value('principal') ?? '').endsWith('.amazonaws.com') ? isGiven('source_arn')(one) : []),
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
