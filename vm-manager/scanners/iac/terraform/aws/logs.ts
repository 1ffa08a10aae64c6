// AWS: what is recorded.
import { isUnknown, type Value, textOf } from '../values.js';
import type { Resource } from '../resources.js';
import { anyOf, each, holds, inPart, isGiven, isTrue, rule, type Check, type TerraformRule } from '../rule.js';
import { listOf } from './policies.js';

/** The bucket that a trail writes to. */
const bucketOf = (one: Resource): Resource | undefined =>
  one.module.of('aws_s3_bucket').find((bucket) => one.means('s3_bucket_name', bucket, 'bucket'));
const trail = ['aws_cloudtrail'];
/** Buckets that no trail beside them records; where the directory has no trail it is unknown. */
const recordsData =
  (kind: 'Read' | 'Write'): Check =>
  (one) => {
    const trails = one.module.of('aws_cloudtrail');
    const hasBucket = (value: Value): boolean => {
      const text = isUnknown(value) ? (value.reference ?? value.partly) : textOf(value);
      return (
        /^arn:aws:s3(?::::?)?$/.test(text) ||
        isUnknown(value) ||
        text.startsWith(`arn:aws:s3:::${textOf(one.value('bucket'))}/`)
      );
    };
    const isRecorded = trails.some(
      (other) =>
        other.parts('advanced_event_selector').length > 0 ||
        other
          .parts('event_selector')
          .some(
            (part) =>
              ['All', `${kind}Only`].includes(textOf(part.value('read_write_type') ?? 'All')) &&
              part
                .parts('data_resource')
                .some(
                  (data) => data.value('type') === 'AWS::S3::Object' && listOf(data.value('values')).some(hasBucket),
                ),
          ),
    );
    return trails.length === 0 || isRecorded ? [] : [one.line];
  };

export const awsLogRules: readonly TerraformRule[] = [
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
      return typeof acl === 'string' && /^(?:public-|authenticated-read$)/.test(acl)
        ? [one.lineOf('s3_bucket_name')]
        : [];
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
    ['aws-state-machine-tracing', 'AWS-0117'],
    'State machine is not traced',
    ['aws_sfn_state_machine'],
    isTrue('tracing_configuration.enabled'),
    'Set tracing_configuration { enabled = true }.',
    'info',
  ),
  rule(
    'logs',
    ['aws-state-machine-logs', 'AWS-0119'],
    'State machine writes no log',
    ['aws_sfn_state_machine'],
    holds('logging_configuration.level', (value) => value !== 'OFF' && value !== '', 'bad'),
    'Set logging_configuration { level = "ERROR" } with a log group.',
    'low',
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
