// AWS: machines and what starts them.
import { isUnknown } from '../values.js';
import type { Part, Resource } from '../resources.js';
import { isGiven, notTrue, rule, type Check, type TerraformRule } from '../rule.js';

/** A word that says what it is, and a value that stands there and is no placeholder. */
const namedSecret = /\b[A-Z_]*(?:PASSWORD|PASSWD|SECRET|API_KEY|ACCESS_KEY)=["']?(?![$<{%*\s"'])[^\s"'$<{]{6,}/;
const isBareSecret = (text: string): boolean =>
  namedSecret.test(text) ||
  /\b(?:AKIA|ASIA)[A-Z2-7]{16}\b|aws_secret_access_key\s*[=:]\s*["']?[A-Za-z0-9/+]{30,}/i.test(text);
const userDataSecret: Check = (one) =>
  ['user_data', 'user_data_base64'].flatMap((name) => {
    const value = one.value(name);
    const text = typeof value === 'string' ? value : isUnknown(value) ? value.partly : '';
    const plain =
      name.endsWith('64') || /^[A-Za-z0-9+/=\s]{40,}$/.test(text)
        ? `${text}\n${Buffer.from(text, 'base64').toString('latin1')}`
        : text;
    return isBareSecret(plain) ? [one.lineOf(name)] : [];
  });

const isTokenOptional = (one: Resource | Part): boolean => {
  const [tokens, endpoint] = [one.value('metadata_options.http_tokens'), one.value('metadata_options.http_endpoint')];
  return !isUnknown(tokens) && tokens !== 'required' && endpoint !== 'disabled';
};

export const awsMachineRules: readonly TerraformRule[] = [
  rule(
    'metadata',
    ['aws-instance-metadata', 'AWS-0028'],
    'Instance answers metadata without a token (IMDSv1)',
    ['aws_instance'],
    (one) => (isTokenOptional(one) ? [one.lineOf('metadata_options.http_tokens')] : []),
    'Set metadata_options { http_tokens = "required" }.',
  ),
  rule(
    'metadata',
    ['aws-launch-metadata', 'AWS-0130'],
    'Launch template answers metadata without a token (IMDSv1)',
    ['aws_launch_template', 'aws_launch_configuration'],
    (one) => (isTokenOptional(one) ? [one.lineOf('metadata_options.http_tokens')] : []),
    'Set metadata_options { http_tokens = "required" }.',
  ),
  rule(
    'exposure',
    ['aws-launch-public-ip', 'AWS-0009'],
    'Machines get public addresses',
    ['aws_launch_configuration', 'aws_instance'],
    notTrue('associate_public_ip_address'),
    'Set associate_public_ip_address = false.',
  ),
  rule(
    'secret',
    ['aws-user-data-secret', 'AWS-0029'],
    'Key of AWS in user data',
    ['aws_instance'],
    userDataSecret,
    'Give the machine a role.',
  ),
  rule(
    'secret',
    ['aws-launch-data-secret', 'AWS-0129'],
    'Key of AWS in the user data of a template',
    ['aws_launch_configuration', 'aws_launch_template'],
    userDataSecret,
    'Give the machine a role.',
  ),
  rule(
    'supply',
    ['aws-ami-owner', 'AWS-0344'],
    'Image of anybody',
    ['data.aws_ami'],
    isGiven('owners'),
    'Name owners.',
    'high',
  ),
];
