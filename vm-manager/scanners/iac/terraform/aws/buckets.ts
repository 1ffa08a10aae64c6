// AWS: buckets of S3, with the resources that belong to them.
import { isUnknown, type Value, textOf } from '../values.js';
import type { Resource } from '../resources.js';
import { isOneOf, isTrue, rule, type Check, type TerraformRule } from '../rule.js';
import { statementsIn } from './policies.js';

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
        .some((part) => textOf(part.value('uri')).endsWith('/s3/LogDelivery')),
    ) ||
  one
    .joined('aws_s3_bucket_policy', 'bucket', 'bucket')
    .some((policy) => JSON.stringify(statementsIn(policy.value('policy'))).includes('logging.s3.amazonaws.com'));

export const awsBucketRules: readonly TerraformRule[] = [
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
    ['aws-s3-no-access-block', 'AWS-0094', 'AWS-0086', 'AWS-0087', 'AWS-0091', 'AWS-0093'],
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
