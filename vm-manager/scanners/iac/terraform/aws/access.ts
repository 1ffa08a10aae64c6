// AWS: policies that let everybody in, and what is left to see of who came.
import { isObject, textOf, type Value } from '../values.js';
import type { Resource } from '../resources.js';
import { holds, notTrue, rule, type Check, type TerraformRule } from '../rule.js';
import { allows, isEverybody, statementsOf } from './policies.js';

const isBound = (condition: Value | undefined): boolean =>
  condition !== undefined && !(isObject(condition) && Object.keys(condition).length === 0);

/** A statement for everybody, which no condition narrows. */
const letsEverybody =
  (path: string): Check =>
  (one) =>
    statementsOf(one, path).some(
      (statement) => allows(statement) && isEverybody(statement['Principal']) && !isBound(statement['Condition']),
    )
      ? [one.lineOf(path)]
      : [];

const keyId = /\b(?:AKIA|ASIA)[A-Z2-7]{16}\b/;
const isKey = (name: string, value: string): boolean =>
  keyId.test(value) || (/secret_?access_?key/i.test(name) && /^[A-Za-z\d/+]{40}$/.test(value));
const hasKey = (one: Resource): boolean => {
  const variables = one.value('environment.variables');
  return isObject(variables) && Object.entries(variables).some(([name, value]) => isKey(name, textOf(value)));
};

export const awsAccessRules: readonly TerraformRule[] = [
  rule(
    'publicData',
    ['aws-s3-public-policy'],
    'Public bucket by its policy',
    ['aws_s3_bucket_policy'],
    letsEverybody('policy'),
    'Name the accounts in Principal, or narrow it by a Condition.',
  ),
  rule(
    'identity',
    ['aws-sns-everybody'],
    'Topic for everybody',
    ['aws_sns_topic_policy'],
    letsEverybody('policy'),
    'Name the accounts in Principal, or narrow it by a Condition.',
  ),
  rule(
    'identity',
    ['aws-sqs-everybody'],
    'Queue for everybody',
    ['aws_sqs_queue_policy', 'aws_sqs_queue'],
    letsEverybody('policy'),
    'Name the accounts in Principal, or narrow it by a Condition.',
  ),
  rule(
    'identity',
    ['aws-kms-everybody'],
    'Key for everybody',
    ['aws_kms_key', 'aws_kms_key_policy'],
    letsEverybody('policy'),
    'Name the accounts in Principal, or narrow it by a Condition.',
    'critical',
  ),
  rule(
    'identity',
    ['aws-role-everybody'],
    'Role that everybody may take',
    ['aws_iam_role'],
    letsEverybody('assume_role_policy'),
    'Name the accounts or services in Principal.',
    'critical',
  ),
  rule(
    'logs',
    ['aws-lb-logs'],
    'Load balancer writes no access log',
    ['aws_lb', 'aws_alb', 'aws_elb'],
    (one) => {
      if (one.value('load_balancer_type') === 'gateway') return [];
      const isOn = one.type === 'aws_elb' && one.parts('access_logs').length > 0;
      return holds('access_logs.enabled', (value) => value === true || value === 'true', isOn ? 'fine' : 'bad')(one);
    },
    'Set access_logs { bucket = …, enabled = true }.',
    'low',
  ),
  rule(
    'hygiene',
    ['aws-log-group-retention'],
    'Log group is kept for ever',
    ['aws_cloudwatch_log_group'],
    holds('retention_in_days', (value) => Number(value) > 0, 'bad'),
    'Set retention_in_days.',
    'info',
  ),
  rule(
    'exposure',
    ['aws-redshift-public'],
    'Redshift is publicly accessible',
    ['aws_redshift_cluster'],
    notTrue('publicly_accessible'),
    'Set publicly_accessible = false.',
    'critical',
  ),
  rule(
    'secret',
    ['aws-lambda-secret'],
    'Key of AWS in the environment of a function',
    ['aws_lambda_function'],
    (one) => (hasKey(one) ? [one.lineOf('environment')] : []),
    'Give the function a role.',
  ),
];
