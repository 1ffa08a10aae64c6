// AWS: networks.
import { isUnknown } from '../values.js';
import type { Part, Resource } from '../resources.js';
import {
  holds,
  includesPort,
  inPart,
  isGiven,
  isOpen,
  notTrue,
  rule,
  type Check,
  type TerraformRule,
} from '../rule.js';

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

export const awsNetworkRules: readonly TerraformRule[] = [
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
    ['aws-group-description', 'AWS-0099', 'AWS-0049', 'AWS-0083'],
    'Security group without a description',
    ['aws_security_group', 'aws_redshift_security_group', 'aws_elasticache_security_group'],
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
    ['aws-classic-network', 'AWS-0085'],
    'Resource of the network before VPCs',
    ['aws_redshift_security_group', 'aws_elasticache_security_group', 'aws_db_security_group'],
    (one) => [one.line],
    'Use aws_security_group in a VPC.',
    'medium',
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
