// AWS: networks, load balancers, content delivery, machines.
import { isObject, isUnknown, type Value } from '../values.js';
import type { Part, Resource } from '../resources.js';
import {
  allOf,
  anyOf,
  each,
  hasBlock,
  holds,
  includesPort,
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

const oldPolicies = new Set([
  'ELBSecurityPolicy-2015-05',
  'ELBSecurityPolicy-2016-08',
  'ELBSecurityPolicy-TLS-1-0-2015-04',
  'ELBSecurityPolicy-TLS-1-1-2017-01',
  'ELBSecurityPolicy-FS-2018-06',
  'ELBSecurityPolicy-FS-1-1-2019-08',
]);

const isIngress = (one: Resource): boolean => one.type !== 'aws_security_group_rule' || one.value('type') === 'ingress';

/** Rules of a group: within it, and as resources of their own. */
const openPorts =
  (ports: readonly number[]): Check =>
  (one) => {
    const isBad = (part: Part): boolean => {
      const isAll =
        part.value('protocol') === '-1' || part.value('ip_protocol') === '-1' || part.value('protocol') === -1;
      return (
        [
          part.value('cidr_blocks'),
          part.value('ipv6_cidr_blocks'),
          part.value('cidr_ipv4'),
          part.value('cidr_ipv6'),
        ].some(isOpen) &&
        (isAll || includesPort(part.value('from_port'), part.value('to_port'), ports))
      );
    };
    const parts =
      one.type === 'aws_security_group' || one.type === 'aws_default_security_group'
        ? one.parts('ingress')
        : isIngress(one)
          ? [one]
          : [];
    return parts.filter(isBad).map((part) => part.line);
  };
const groups = [
  'aws_security_group',
  'aws_default_security_group',
  'aws_security_group_rule',
  'aws_vpc_security_group_ingress_rule',
];

const openEgress: Check = (one) => {
  const parts =
    one.type === 'aws_security_group'
      ? one.parts('egress')
      : one.type !== 'aws_security_group_rule' || one.value('type') === 'egress'
        ? [one]
        : [];
  return parts
    .filter((part) =>
      [
        part.value('cidr_blocks'),
        part.value('ipv6_cidr_blocks'),
        part.value('cidr_ipv4'),
        part.value('cidr_ipv6'),
      ].some(isOpen),
    )
    .map((part) => part.line);
};

const aclRules = ['aws_network_acl_rule', 'aws_network_acl'];
const aclParts = (one: Resource): readonly Part[] =>
  one.type === 'aws_network_acl' ? one.parts('ingress') : one.value('egress') === true ? [] : [one];
const isAllowed = (part: Part): boolean =>
  [part.value('rule_action'), part.value('action')].some(
    (value) => typeof value === 'string' && value.toLowerCase() === 'allow',
  );
const isOpenPart = (part: Part): boolean => isOpen(part.value('cidr_block')) || isOpen(part.value('ipv6_cidr_block'));
const isAllProtocols = (part: Part): boolean =>
  part.value('protocol') === '-1' || part.value('protocol') === 'all' || part.value('protocol') === -1;

const net: readonly TerraformRule[] = [
  rule(
    'exposure',
    ['aws-open-admin-port', 'AWS-0107'],
    'SSH or RDP is open to everybody',
    groups,
    openPorts([22, 3389]),
    'Name the networks that administer it, or use a session manager.',
  ),
  rule(
    'exposure',
    ['aws-open-database-port', 'AWS-0107-db'],
    'Port of a database is open to everybody',
    groups,
    openPorts([1433, 1521, 3306, 5432, 6379, 9200, 11_211, 27_017]),
    'Name the security group of the application.',
  ),
  rule(
    'exposure',
    ['aws-open-egress', 'AWS-0104'],
    'Traffic may leave to anywhere',
    ['aws_security_group', 'aws_security_group_rule', 'aws_vpc_security_group_egress_rule'],
    openEgress,
    'Name where it has to go.',
    'low',
  ),
  rule(
    'exposure',
    ['aws-acl-all-ports', 'AWS-0102'],
    'Network ACL lets every protocol through',
    aclRules,
    (one) =>
      (one.type === 'aws_network_acl' ? one.parts('ingress') : [one])
        .filter((part) => isAllowed(part) && isAllProtocols(part))
        .map((part) => part.line),
    'Name protocol and ports.',
    'medium',
  ),
  rule(
    'exposure',
    ['aws-acl-admin-port', 'AWS-0105'],
    'Network ACL lets everybody to SSH or RDP',
    aclRules,
    (one) =>
      aclParts(one)
        .filter(
          (part) =>
            isAllowed(part) &&
            isOpenPart(part) &&
            (isAllProtocols(part) || includesPort(part.value('from_port'), part.value('to_port'), [22, 3389])),
        )
        .map((part) => part.line),
    'Name the networks that administer it.',
    'medium',
  ),
  rule(
    'hygiene',
    ['aws-group-description', 'AWS-0099'],
    'Security group without a description',
    ['aws_security_group'],
    holds('description', (value) => value !== '' && value !== 'Managed by Terraform', 'bad'),
    'Say in description what it is for.',
    'info',
  ),
  rule(
    'hygiene',
    ['aws-group-rule-description', 'AWS-0124'],
    'Rule of a security group without a description',
    [
      'aws_security_group',
      'aws_security_group_rule',
      'aws_vpc_security_group_ingress_rule',
      'aws_vpc_security_group_egress_rule',
    ],
    (one) =>
      (one.type === 'aws_security_group' ? [...one.parts('ingress'), ...one.parts('egress')] : [one]).flatMap(
        inPart(isGiven('description')),
      ),
    'Say in description what it is for.',
    'info',
  ),
  rule(
    'hygiene',
    ['aws-default-vpc', 'AWS-0101'],
    'Default VPC is used',
    ['aws_default_vpc'],
    (one) => [one.line],
    'Make a VPC of your own.',
    'medium',
  ),
  rule(
    'exposure',
    ['aws-subnet-public-ip', 'AWS-0164'],
    'Machines of the subnet get public addresses',
    ['aws_subnet'],
    notTrue('map_public_ip_on_launch'),
    'Set map_public_ip_on_launch = false.',
    'medium',
  ),
  rule(
    'logs',
    ['aws-vpc-flow-logs', 'AWS-0178'],
    'VPC without flow logs',
    ['aws_vpc'],
    (one) =>
      one.module.of('aws_flow_log').some((log) => {
        const value = log.value('vpc_id');
        return isUnknown(value) && (value.reference?.startsWith(one.address) ?? false);
      })
        ? []
        : [one.line],
    'Add aws_flow_log for the VPC.',
  ),
];

const delivery: readonly TerraformRule[] = [
  rule(
    'logs',
    ['aws-cloudfront-logs', 'AWS-0010'],
    'CloudFront writes no log',
    ['aws_cloudfront_distribution'],
    (one) =>
      one.parts('logging_config').length > 0 || one.module.of('aws_cloudwatch_log_delivery').length > 0
        ? []
        : [one.line],
    'Add a logging_config.',
  ),
  rule(
    'hygiene',
    ['aws-cloudfront-waf', 'AWS-0011'],
    'CloudFront without a web application firewall',
    ['aws_cloudfront_distribution'],
    isGiven('web_acl_id'),
    'Name web_acl_id.',
    'low',
  ),
  rule(
    'transit',
    ['aws-cloudfront-http', 'AWS-0012'],
    'CloudFront answers without encryption',
    ['aws_cloudfront_distribution'],
    (one) =>
      ['default_cache_behavior', 'ordered_cache_behavior']
        .flatMap((name) =>
          one
            .parts(name)
            .flatMap(inPart(isOneOf('viewer_protocol_policy', ['redirect-to-https', 'https-only'], 'bad'))),
        )
        .concat(one.parts('default_cache_behavior').length === 0 ? [one.line] : []),
    'Set viewer_protocol_policy = "redirect-to-https".',
  ),
  rule(
    'transit',
    ['aws-cloudfront-tls', 'AWS-0013'],
    'CloudFront speaks old TLS',
    ['aws_cloudfront_distribution'],
    (one) =>
      // with the certificate of CloudFront nothing can be chosen
      one.value('viewer_certificate.cloudfront_default_certificate') === true
        ? []
        : holds(
            'viewer_certificate.minimum_protocol_version',
            (value) => /^TLSv1\.[23]/.test(String(value)),
            'bad',
          )(one),
    'Set minimum_protocol_version = "TLSv1.2_2021".',
  ),
  rule(
    'transit',
    ['aws-lb-http', 'AWS-0054'],
    'Load balancer listens without encryption',
    ['aws_lb_listener', 'aws_alb_listener'],
    (one) => {
      const action = one
        .parts('default_action')
        .some(
          (part) =>
            part.value('type') === 'redirect' &&
            ['HTTPS', '443'].includes(String(part.value('redirect.protocol') ?? 'HTTPS')),
        );
      const isHttp = (one.value('protocol') ?? 'HTTP') === 'HTTP';
      const [balancer] = one.module
        .of('aws_lb', 'aws_alb')
        .filter((other) => one.means('load_balancer_arn', other, 'arn'));
      return isHttp && !action && (balancer?.value('load_balancer_type') ?? 'application') === 'application'
        ? [one.lineOf('protocol')]
        : [];
    },
    'Use HTTPS, and redirect HTTP to it.',
    'critical',
  ),
  rule(
    'transit',
    ['aws-lb-tls', 'AWS-0047'],
    'Load balancer speaks old TLS',
    ['aws_lb_listener', 'aws_alb_listener'],
    holds('ssl_policy', (value) => !oldPolicies.has(String(value))),
    'Name a policy of TLS 1.2 or 1.3.',
  ),
  rule(
    'hygiene',
    ['aws-lb-invalid-headers', 'AWS-0052'],
    'Load balancer passes invalid headers on',
    ['aws_lb', 'aws_alb'],
    (one) =>
      (one.value('load_balancer_type') ?? 'application') === 'application'
        ? isTrue('drop_invalid_header_fields')(one)
        : [],
    'Set drop_invalid_header_fields = true.',
    'medium',
  ),
  rule(
    'exposure',
    ['aws-lb-public', 'AWS-0053'],
    'Load balancer is reached from the internet',
    ['aws_lb', 'aws_alb', 'aws_elb'],
    (one) => (one.value('load_balancer_type') === 'gateway' ? [] : isTrue('internal')(one)),
    'Set internal = true where only your networks need it.',
    'low',
  ),
  rule(
    'logs',
    ['aws-api-logs', 'AWS-0001'],
    'Stage of an API writes no access log',
    ['aws_api_gateway_stage', 'aws_apigatewayv2_stage'],
    hasBlock('access_log_settings'),
    'Add access_log_settings.',
  ),
  rule(
    'hygiene',
    ['aws-api-cache', 'AWS-0190'],
    'Responses of an API are not cached',
    ['aws_api_gateway_method_settings'],
    isTrue('settings.caching_enabled'),
    'Set caching_enabled = true.',
    'info',
  ),
  rule(
    'encryption',
    ['aws-api-cache-encrypted', 'AWS-0002'],
    'Cache of an API is not encrypted',
    ['aws_api_gateway_method_settings'],
    (one) => (one.value('settings.caching_enabled') === true ? isTrue('settings.cache_data_encrypted')(one) : []),
    'Set cache_data_encrypted = true.',
    'medium',
  ),
  rule(
    'logs',
    ['aws-api-tracing', 'AWS-0003'],
    'API is not traced',
    ['aws_api_gateway_stage'],
    isTrue('xray_tracing_enabled'),
    'Set xray_tracing_enabled = true.',
    'info',
  ),
  rule(
    'exposure',
    ['aws-api-open-method', 'AWS-0004'],
    'Method of an API for everybody',
    ['aws_api_gateway_method'],
    (one) =>
      one.value('authorization') === 'NONE' &&
      !/^OPTIONS?$/.test(String(one.value('http_method'))) &&
      one.value('api_key_required') !== true
        ? [one.lineOf('authorization')]
        : [],
    'Name an authorizer.',
    'low',
  ),
  rule(
    'transit',
    ['aws-api-tls', 'AWS-0005'],
    'Domain of an API speaks old TLS',
    ['aws_api_gateway_domain_name'],
    holds('security_policy', (value) => /^(?:TLS_1_[23]$|SecurityPolicy_TLS1[23]_)/.test(String(value)), 'bad'),
    'Set security_policy = "TLS_1_2".',
  ),
];

const isBareSecret = (text: string): boolean =>
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

const machine: readonly TerraformRule[] = [
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

export const awsNetworkRules: readonly TerraformRule[] = [...net, ...delivery, ...machine];
