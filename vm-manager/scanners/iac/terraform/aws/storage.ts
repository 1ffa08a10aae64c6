// AWS: what stores data (S3, EBS, EFS, databases, caches, queues).
import { jsonOf, isObject, isUnknown, type Value } from '../values.js';
import type { Resource } from '../resources.js';
import {
  allOf,
  anyOf,
  each,
  hasBlock,
  holds,
  inPart,
  isAtLeast,
  isGiven,
  isOneOf,
  isTrue,
  notFalse,
  notTrue,
  rule,
  type Check,
  type TerraformRule,
} from '../rule.js';

const bucket = ['aws_s3_bucket'];

/** Of a bucket: the resource that goes with it has it, or the bucket itself in the way of older providers. */
const beside =
  (type: string, own: string, isRight: (one: Resource) => boolean): Check =>
  (one) => {
    const joined = one.joined(type, 'bucket', 'bucket');
    if (joined.some(isRight)) return [];
    const inside = one.parts(own);
    if (inside.length > 0 && joined.length === 0 && inside.some((part) => isRight(part as Resource))) return [];
    return [joined[0] === undefined ? one.lineOf(own) : one.line];
  };

const accessBlock = (path: string): Check => isTrue(path);

const aclOf = (one: Resource): Value | undefined =>
  one.value('acl') ?? one.joined('aws_s3_bucket_acl', 'bucket', 'bucket')[0]?.value('acl');

const encryptionOf = (
  one: Resource,
): { readonly key: Value | undefined; readonly algorithm: Value | undefined; readonly isThere: boolean } => {
  const [joined] = one.joined('aws_s3_bucket_server_side_encryption_configuration', 'bucket', 'bucket');
  const from = joined ?? one;
  const base = joined === undefined ? 'server_side_encryption_configuration.rule' : 'rule';
  const path = `${base}.apply_server_side_encryption_by_default`;
  return {
    key: from.value(`${path}.kms_master_key_id`),
    algorithm: from.value(`${path}.sse_algorithm`),
    isThere: from.parts(base).length > 0,
  };
};

/** Buckets that hold the logs of others. */
const isLogBucket = (one: Resource): boolean =>
  aclOf(one) === 'log-delivery-write' ||
  one
    .joined('aws_s3_bucket_acl', 'bucket', 'bucket')
    .some((acl) =>
      acl
        .parts('access_control_policy.grant.grantee')
        .some((part) => String(part.value('uri')).endsWith('/s3/LogDelivery')),
    ) ||
  one
    .joined('aws_s3_bucket_policy', 'bucket', 'bucket')
    .some((policy) => JSON.stringify(statementsOf(policy.value('policy'))).includes('logging.s3.amazonaws.com'));

const statementsOf = (value: Value | undefined): Value[] => {
  const policy = jsonOf(value);
  const given = isObject(policy ?? undefined) ? (policy as { readonly [key: string]: Value })['Statement'] : undefined;
  return Array.isArray(given) ? [...given] : given === undefined ? [] : [given];
};

const s3: readonly TerraformRule[] = [
  rule(
    'publicData',
    ['aws-s3-public-acl', 'AWS-0092'],
    'Public bucket by its ACL',
    [...bucket, 'aws_s3_bucket_acl'],
    isOneOf(
      'acl',
      ['private', 'log-delivery-write', 'bucket-owner-full-control', 'bucket-owner-read', 'aws-exec-read'],
      'fine',
    ),
    'Take the ACL out, and give access by a policy that names who.',
  ),
  rule(
    'publicData',
    ['aws-s3-block-acl', 'AWS-0086'],
    'Public ACLs are not blocked',
    ['aws_s3_bucket_public_access_block'],
    accessBlock('block_public_acls'),
    'Set block_public_acls = true.',
    'high',
  ),
  rule(
    'publicData',
    ['aws-s3-block-policy', 'AWS-0087'],
    'Public policies are not blocked',
    ['aws_s3_bucket_public_access_block'],
    accessBlock('block_public_policy'),
    'Set block_public_policy = true.',
    'high',
  ),
  rule(
    'publicData',
    ['aws-s3-ignore-acl', 'AWS-0091'],
    'Public ACLs are not ignored',
    ['aws_s3_bucket_public_access_block'],
    accessBlock('ignore_public_acls'),
    'Set ignore_public_acls = true.',
    'high',
  ),
  rule(
    'publicData',
    ['aws-s3-restrict', 'AWS-0093'],
    'Public buckets are not restricted',
    ['aws_s3_bucket_public_access_block'],
    accessBlock('restrict_public_buckets'),
    'Set restrict_public_buckets = true.',
    'high',
  ),
  rule(
    'hygiene',
    ['aws-s3-no-access-block', 'AWS-0094'],
    'Bucket without a block of public access',
    bucket,
    (one) => (one.joined('aws_s3_bucket_public_access_block', 'bucket', 'bucket').length === 0 ? [one.line] : []),
    'Add aws_s3_bucket_public_access_block with all four set.',
  ),
  rule(
    'logs',
    ['aws-s3-logging', 'AWS-0089'],
    'Bucket without an access log',
    bucket,
    (one) =>
      isLogBucket(one) ||
      one.parts('logging').length > 0 ||
      one.joined('aws_s3_bucket_logging', 'bucket', 'bucket').length > 0 ||
      isTarget(one)
        ? []
        : [one.line],
    'Add aws_s3_bucket_logging.',
    'low',
  ),
  rule(
    'backup',
    ['aws-s3-versioning', 'AWS-0090'],
    'Bucket without versions',
    bucket,
    (one) =>
      beside('aws_s3_bucket_versioning', 'versioning', (part) => {
        const value = part.value('versioning_configuration.status') ?? part.value('enabled');
        return isUnknown(value) || value === 'Enabled' || value === true;
      })(one),
    'Add aws_s3_bucket_versioning with status Enabled.',
  ),
  rule(
    'ownKey',
    ['aws-s3-own-key', 'AWS-0132'],
    'Bucket is not encrypted with a key of your own',
    bucket,
    (one) => {
      const { key, algorithm } = encryptionOf(one);
      if (isLogBucket(one) || isUnknown(algorithm) || isUnknown(key)) return [];
      return key === undefined || key === '' ? [one.line] : [];
    },
    'Name kms_master_key_id of a key that you manage.',
  ),
  rule(
    'backup',
    ['aws-s3-mfa-delete', 'AWS-0170'],
    'Versions are deleted without a second factor',
    [...bucket, 'aws_s3_bucket_versioning'],
    (one) => {
      const path = one.type === 'aws_s3_bucket' ? 'versioning' : 'versioning_configuration';
      const [part] = one.parts(path);
      const value = part?.value('mfa_delete');
      if (part === undefined || isUnknown(value)) return [];
      return value === false || value === 'Disabled' || value === 'disabled' ? [part.lineOf('mfa_delete')] : [];
    },
    'Set mfa_delete.',
    'low',
  ),
];

/** Whether another bucket's log goes there. */
const isTarget = (one: Resource): boolean =>
  one.module.of('aws_s3_bucket_logging').some((log) => log.means('target_bucket', one, 'bucket')) ||
  one.module.of('aws_s3_bucket').some((other) =>
    other.parts('logging').some((part) => {
      const value = part.value('target_bucket');
      return isUnknown(value) ? value.reference?.startsWith(one.address) === true : value === one.value('bucket');
    }),
  );

const disk: readonly TerraformRule[] = [
  rule(
    'encryption',
    ['aws-ebs-encrypted', 'AWS-0026'],
    'EBS volume is not encrypted',
    ['aws_ebs_volume'],
    isTrue('encrypted'),
    'Set encrypted = true.',
  ),
  rule(
    'ownKey',
    ['aws-ebs-own-key', 'AWS-0027'],
    'EBS volume has no key of your own',
    ['aws_ebs_volume'],
    isGiven('kms_key_id'),
    'Name kms_key_id.',
  ),
  rule(
    'encryption',
    ['aws-efs-encrypted', 'AWS-0037'],
    'EFS is not encrypted',
    ['aws_efs_file_system'],
    isTrue('encrypted'),
    'Set encrypted = true.',
  ),
  rule(
    'encryption',
    ['aws-workspace-encrypted', 'AWS-0109'],
    'Disk of a workspace is not encrypted',
    ['aws_workspaces_workspace'],
    anyOf(isTrue('root_volume_encryption_enabled'), isTrue('user_volume_encryption_enabled')),
    'Set both …_volume_encryption_enabled.',
  ),
  rule(
    'encryption',
    ['aws-launch-encrypted', 'AWS-0008'],
    'Disk of a launch configuration is not encrypted',
    ['aws_launch_configuration'],
    anyOf(
      each('root_block_device', inPart(isTrue('encrypted')), 'bad'),
      each('ebs_block_device', inPart(isTrue('encrypted'))),
    ),
    'Set encrypted = true in each block of a device.',
  ),
  rule(
    'encryption',
    ['aws-instance-encrypted', 'AWS-0131'],
    'Disk of an instance is not encrypted',
    ['aws_instance'],
    anyOf(
      each('root_block_device', inPart(isTrue('encrypted')), 'bad'),
      each('ebs_block_device', inPart(isTrue('encrypted'))),
    ),
    'Set encrypted = true in each block of a device.',
  ),
];

const clusters = ['aws_rds_cluster'];
const instances = ['aws_db_instance', 'aws_rds_cluster_instance'];

const database: readonly TerraformRule[] = [
  rule(
    'encryption',
    ['aws-rds-cluster-encrypted', 'AWS-0079'],
    'RDS cluster is not encrypted',
    clusters,
    isTrue('storage_encrypted'),
    'Set storage_encrypted = true, with kms_key_id.',
  ),
  rule(
    'encryption',
    ['aws-rds-encrypted', 'AWS-0080'],
    'RDS instance is not encrypted',
    ['aws_db_instance'],
    (one) => (one.value('replicate_source_db') === undefined ? isTrue('storage_encrypted')(one) : []),
    'Set storage_encrypted = true.',
  ),
  rule(
    'backup',
    ['aws-rds-backup', 'AWS-0077'],
    'RDS keeps backups for a day or less',
    [...clusters, 'aws_db_instance'],
    (one) => (one.value('replicate_source_db') === undefined ? isAtLeast('backup_retention_period', 2)(one) : []),
    'Set backup_retention_period to 7 or more.',
  ),
  rule(
    'ownKey',
    ['aws-rds-insights-key', 'AWS-0078'],
    'Performance insights without a key of your own',
    instances,
    (one) =>
      one.value('performance_insights_enabled') === true ? isGiven('performance_insights_kms_key_id')(one) : [],
    'Name performance_insights_kms_key_id.',
  ),
  rule(
    'hygiene',
    ['aws-rds-insights', 'AWS-0133'],
    'Performance insights are off',
    instances,
    isTrue('performance_insights_enabled'),
    'Set performance_insights_enabled = true.',
    'info',
  ),
  rule(
    'exposure',
    ['aws-rds-public', 'AWS-0180'],
    'Database is publicly accessible',
    [...instances, 'aws_dms_replication_instance'],
    notTrue('publicly_accessible'),
    'Set publicly_accessible = false.',
    'critical',
  ),
  rule(
    'backup',
    ['aws-rds-deletion', 'AWS-0177'],
    'Database without protection from deletion',
    [...clusters, 'aws_db_instance'],
    isTrue('deletion_protection'),
    'Set deletion_protection = true.',
    'low',
  ),
  rule(
    'logs',
    ['aws-docdb-logs', 'AWS-0020'],
    'DocumentDB writes no log',
    ['aws_docdb_cluster'],
    holds(
      'enabled_cloudwatch_logs_exports',
      (value) => [value].flat().some((one) => one === 'audit' || one === 'profiler'),
      'bad',
    ),
    'Set enabled_cloudwatch_logs_exports = ["audit"].',
  ),
  rule(
    'encryption',
    ['aws-docdb-encrypted', 'AWS-0021'],
    'DocumentDB is not encrypted',
    ['aws_docdb_cluster'],
    isTrue('storage_encrypted'),
    'Set storage_encrypted = true.',
  ),
  rule(
    'ownKey',
    ['aws-docdb-own-key', 'AWS-0022'],
    'DocumentDB has no key of your own',
    ['aws_docdb_cluster', 'aws_docdb_cluster_instance'],
    isGiven('kms_key_id'),
    'Name kms_key_id.',
  ),
  rule(
    'encryption',
    ['aws-dax-encrypted', 'AWS-0023'],
    'DAX cluster is not encrypted',
    ['aws_dax_cluster'],
    isTrue('server_side_encryption.enabled'),
    'Set server_side_encryption { enabled = true }.',
  ),
  rule(
    'backup',
    ['aws-dynamodb-recovery', 'AWS-0024'],
    'DynamoDB table without recovery to a point in time',
    ['aws_dynamodb_table'],
    isTrue('point_in_time_recovery.enabled'),
    'Set point_in_time_recovery { enabled = true }.',
  ),
  rule(
    'ownKey',
    ['aws-dynamodb-own-key', 'AWS-0025'],
    'DynamoDB table has no key of your own',
    ['aws_dynamodb_table'],
    anyOf(isTrue('server_side_encryption.enabled'), (one) =>
      one.value('server_side_encryption.kms_key_arn') === undefined ||
      one.value('server_side_encryption.kms_key_arn') === 'alias/aws/dynamodb'
        ? [one.lineOf('server_side_encryption')]
        : [],
    ),
    'Name kms_key_arn in server_side_encryption.',
  ),
  rule(
    'logs',
    ['aws-neptune-logs', 'AWS-0075'],
    'Neptune writes no audit log',
    ['aws_neptune_cluster'],
    holds('enable_cloudwatch_logs_exports', (value) => Array.isArray(value) && value.includes('audit'), 'bad'),
    'Set enable_cloudwatch_logs_exports = ["audit"].',
  ),
  rule(
    'encryption',
    ['aws-neptune-encrypted', 'AWS-0076'],
    'Neptune is not encrypted',
    ['aws_neptune_cluster'],
    isTrue('storage_encrypted'),
    'Set storage_encrypted = true.',
  ),
  rule(
    'ownKey',
    ['aws-neptune-own-key', 'AWS-0128'],
    'Neptune has no key of your own',
    ['aws_neptune_cluster'],
    isGiven('kms_key_arn'),
    'Name kms_key_arn.',
  ),
  rule(
    'encryption',
    ['aws-redshift-encrypted', 'AWS-0084'],
    'Redshift is not encrypted',
    ['aws_redshift_cluster'],
    anyOf(isTrue('encrypted'), isGiven('kms_key_id')),
    'Set encrypted = true, with kms_key_id.',
  ),
  rule(
    'hygiene',
    ['aws-redshift-vpc', 'AWS-0127'],
    'Redshift outside of a VPC',
    ['aws_redshift_cluster'],
    isGiven('cluster_subnet_group_name'),
    'Name cluster_subnet_group_name.',
    'medium',
  ),
  rule(
    'backup',
    ['aws-redis-backup', 'AWS-0050'],
    'Redis cluster without backups',
    ['aws_elasticache_cluster'],
    (one) =>
      one.value('engine') === 'redis' && one.value('node_type') !== 'cache.t1.micro'
        ? isAtLeast('snapshot_retention_limit', 1)(one)
        : [],
    'Set snapshot_retention_limit.',
  ),
  rule(
    'encryption',
    ['aws-elasticache-encrypted', 'AWS-0045'],
    'ElastiCache is not encrypted at rest',
    ['aws_elasticache_replication_group'],
    isTrue('at_rest_encryption_enabled'),
    'Set at_rest_encryption_enabled = true.',
  ),
  rule(
    'transit',
    ['aws-elasticache-transit', 'AWS-0051'],
    'ElastiCache is not encrypted on the way',
    ['aws_elasticache_replication_group'],
    isTrue('transit_encryption_enabled'),
    'Set transit_encryption_enabled = true.',
  ),
];

const queues: readonly TerraformRule[] = [
  rule(
    'encryption',
    ['aws-sns-encrypted', 'AWS-0095'],
    'SNS topic is not encrypted',
    ['aws_sns_topic'],
    isGiven('kms_master_key_id'),
    'Name kms_master_key_id.',
  ),
  rule(
    'ownKey',
    ['aws-sns-own-key', 'AWS-0136'],
    'SNS topic has no key of your own',
    ['aws_sns_topic'],
    holds('kms_master_key_id', (value) => value !== 'alias/aws/sns'),
    'Name a key that you manage.',
  ),
  rule(
    'encryption',
    ['aws-sqs-encrypted', 'AWS-0096'],
    'SQS queue is not encrypted',
    ['aws_sqs_queue'],
    allOf(isGiven('kms_master_key_id'), (one) =>
      one.value('sqs_managed_sse_enabled') === true || isUnknown(one.value('sqs_managed_sse_enabled'))
        ? []
        : [one.line],
    ),
    'Name kms_master_key_id, or set sqs_managed_sse_enabled.',
  ),
  rule(
    'ownKey',
    ['aws-sqs-own-key', 'AWS-0135'],
    'SQS queue has no key of your own',
    ['aws_sqs_queue'],
    holds('kms_master_key_id', (value) => value !== 'alias/aws/sqs'),
    'Name a key that you manage.',
  ),
  rule(
    'identity',
    ['aws-sqs-wildcard', 'AWS-0097'],
    'SQS policy with every action',
    ['aws_sqs_queue_policy', 'aws_sqs_queue'],
    (one) =>
      statementsOf(one.value('policy')).some(
        (statement) =>
          isObject(statement) &&
          statement['Effect'] !== 'Deny' &&
          [statement['Action']].flat().some((action) => action === '*' || action === 'sqs:*'),
      )
        ? [one.lineOf('policy')]
        : [],
    'Name the actions that are needed.',
  ),
  rule(
    'encryption',
    ['aws-kinesis-encrypted', 'AWS-0064'],
    'Kinesis stream is not encrypted',
    ['aws_kinesis_stream'],
    isOneOf('encryption_type', ['KMS']),
    'Set encryption_type = "KMS", with kms_key_id.',
  ),
  rule(
    'transit',
    ['aws-msk-transit', 'AWS-0073'],
    'MSK cluster lets data in clear through',
    ['aws_msk_cluster'],
    anyOf(
      isOneOf('encryption_info.encryption_in_transit.client_broker', ['TLS'], 'fine'),
      notFalse('encryption_info.encryption_in_transit.in_cluster'),
    ),
    'Set client_broker = "TLS" and in_cluster = true.',
  ),
  rule(
    'ownKey',
    ['aws-msk-encrypted', 'AWS-0179'],
    'MSK cluster has no key of your own',
    ['aws_msk_cluster'],
    isGiven('encryption_info.encryption_at_rest_kms_key_arn'),
    'Name encryption_at_rest_kms_key_arn.',
    'high',
  ),
  rule(
    'logs',
    ['aws-msk-logs', 'AWS-0074'],
    'MSK cluster writes no log',
    ['aws_msk_cluster'],
    (one) =>
      ['cloudwatch_logs', 'firehose', 's3'].some((name) => {
        const value = one.value(`logging_info.broker_logs.${name}.enabled`);
        return value === true || isUnknown(value);
      })
        ? []
        : [one.lineOf('logging_info')],
    'Turn one of the logs of logging_info.broker_logs on.',
  ),
  rule(
    'logs',
    ['aws-mq-audit', 'AWS-0070'],
    'MQ broker writes no audit log',
    ['aws_mq_broker'],
    isTrue('logs.audit'),
    'Set logs { audit = true }.',
  ),
  rule(
    'logs',
    ['aws-mq-general', 'AWS-0071'],
    'MQ broker writes no log',
    ['aws_mq_broker'],
    isTrue('logs.general'),
    'Set logs { general = true }.',
    'low',
  ),
  rule(
    'exposure',
    ['aws-mq-public', 'AWS-0072'],
    'MQ broker is publicly accessible',
    ['aws_mq_broker'],
    notTrue('publicly_accessible'),
    'Set publicly_accessible = false.',
  ),
  rule(
    'encryption',
    ['aws-athena-encrypted', 'AWS-0006'],
    'Results of Athena are not encrypted',
    ['aws_athena_database', 'aws_athena_workgroup'],
    (one) =>
      one.type === 'aws_athena_database'
        ? hasBlock('encryption_configuration')(one)
        : hasBlock('configuration.result_configuration.encryption_configuration')(one),
    'Add an encryption_configuration.',
  ),
  rule(
    'encryption',
    ['aws-athena-enforce', 'AWS-0007'],
    'Clients of Athena may turn the encryption off',
    ['aws_athena_workgroup'],
    (one) =>
      one.parts('configuration').length === 0
        ? [one.line]
        : notFalse('configuration.enforce_workgroup_configuration')(one),
    'Set enforce_workgroup_configuration = true.',
  ),
  rule(
    'ownKey',
    ['aws-secret-own-key', 'AWS-0098'],
    'Secret has no key of your own',
    ['aws_secretsmanager_secret'],
    holds('kms_key_id', (value) => value !== '' && value !== 'alias/aws/secretsmanager', 'bad'),
    'Name kms_key_id.',
  ),
];

export const awsStorageRules: readonly TerraformRule[] = [...s3, ...disk, ...database, ...queues];
