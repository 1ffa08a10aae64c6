// AWS: queues, topics, streams, and what stores secrets.
import { isObject, isUnknown } from '../values.js';
import {
  allOf,
  anyOf,
  hasBlock,
  holds,
  isGiven,
  isOneOf,
  isTrue,
  notFalse,
  notTrue,
  rule,
  type TerraformRule,
} from '../rule.js';
import { statementsIn } from './policies.js';

export const awsQueueRules: readonly TerraformRule[] = [
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
      statementsIn(one.value('policy')).some(
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
