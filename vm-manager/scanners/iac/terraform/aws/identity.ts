// AWS: who may do what.
import { isUnknown, type Value, textOf } from '../values.js';
import type { Resource } from '../resources.js';
import { holds, isAtLeast, isTrue, rule, type TerraformRule } from '../rule.js';
import { listOf, statementsOf, allows } from './policies.js';

const policies = ['aws_iam_policy', 'aws_iam_role_policy', 'aws_iam_user_policy', 'aws_iam_group_policy'];

const passwordPolicy = ['aws_iam_account_password_policy'];

export const awsIdentityRules: readonly TerraformRule[] = [
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
      .map((part) => textOf(part.value('variable')))
      .join(' ');
    for (const key of ['source_policy_documents', 'override_policy_documents', 'source_json', 'override_json'])
      waiting.push(...listOf(document.value(key)));
  }
  return text;
}
