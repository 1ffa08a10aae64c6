// AWS: search and analysis.
import { isObject, jsonOf, type Value } from '../values.js';
import { holds, isTrue, rule, type Check, type TerraformRule } from '../rule.js';

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

export const awsAnalysisRules: readonly TerraformRule[] = [
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
