// AWS: networks, machines, load balancers, gateways.
import { Unknown, textOf, type Value } from '../terraform/values.js';
import { at, fill, mapsAt, valueAt, type Draft, type Properties, type Reading } from './reading.js';
import { attributesOf } from './readings-data.js';

const groupNames = {
  GroupDescription: 'description',
  SecurityGroupIngress: 'ingress',
  SecurityGroupEgress: 'egress',
  ...Object.fromEntries(
    ['SecurityGroupIngress.', 'SecurityGroupEgress.', ''].flatMap((path) => [
      [`${path}CidrIp`, 'cidr_ipv4'],
      [`${path}CidrIpv6`, 'cidr_ipv6'],
    ]),
  ),
};
const asText = (value: Value): Value => (typeof value === 'number' ? String(value) : value);
const groupValues = {
  'SecurityGroupIngress.IpProtocol': asText,
  'SecurityGroupEgress.IpProtocol': asText,
  IpProtocol: asText,
};

/** The disk that a machine starts from is named by the image; these are what images of AWS call it. */
const rootDevice = /^(?:\/dev\/(?:xvda|sda1|sda)|root)$/;

function addDisks(draft: Draft, properties: Properties, path: string): void {
  const given = at(properties, path);
  if (given !== undefined && given.node.kind !== 'list')
    return void (draft.add('root_block_device', given.line).isOpen = true);
  const disks = mapsAt(properties, path).filter(({ fields }) => fields.has('Ebs'));
  for (const [index, { fields, line }] of disks.entries()) {
    // where none has a name of that kind the first stands for it
    const isRoot = rootDevice.test(textOf(valueAt(fields, 'DeviceName'))) || index === 0;
    const block = draft.add(isRoot ? 'root_block_device' : 'ebs_block_device', line);
    const ebs = at(fields, 'Ebs')?.node;
    if (ebs?.kind !== 'map') block.isOpen = true;
    else fill(block, ebs.fields, { as: '' });
  }
}

function addAddresses(draft: Draft, properties: Properties, path: string): void {
  for (const { fields } of mapsAt(properties, path)) {
    const field = at(fields, 'AssociatePublicIpAddress');
    if (field !== undefined)
      draft.set('associate_public_ip_address', valueAt(fields, 'AssociatePublicIpAddress') ?? false, field.line);
  }
}

const apiStage = (properties: Properties, draft: Draft, name: string): void => {
  const field = at(properties, name);
  if (field === undefined) return;
  const isThere = field.node.kind !== 'map' || field.node.isOpen || field.node.fields.has('DestinationArn');
  if (isThere) draft.add('access_log_settings', field.line);
};

const methodSettings: NonNullable<Reading['beside']> = (properties) =>
  mapsAt(properties, 'MethodSettings').map(({ fields, line }) => ({
    type: 'aws_api_gateway_method_settings',
    line,
    fill: (draft) => fill(draft.add('settings', line), fields, { as: '' }),
  }));

const stage: Reading = {
  as: 'aws_api_gateway_stage',
  names: {
    TracingEnabled: 'xray_tracing_enabled',
    AccessLogSetting: 'log_of_template',
    MethodSettings: 'methods_of_template',
  },
  more: (draft, properties) => apiStage(properties, draft, 'AccessLogSetting'),
  beside: methodSettings,
};
const stageOfTwo: Reading = {
  as: 'aws_apigatewayv2_stage',
  names: { AccessLogSettings: 'log_of_template' },
  more: (draft, properties) => apiStage(properties, draft, 'AccessLogSettings'),
};

/** An attribute of a load balancer that a rule asks for. */
const balancerAttributes = {
  'routing.http.drop_invalid_header_fields.enabled': 'drop_invalid_header_fields',
  'deletion_protection.enabled': 'enable_deletion_protection',
  'access_logs.s3.enabled': 'access_logs.enabled',
};

const balancer: NonNullable<Reading['more']> = (draft, properties) => {
  const given = at(properties, 'LoadBalancerAttributes');
  const attributes = attributesOf(properties, 'LoadBalancerAttributes');
  for (const [name, attribute] of Object.entries(balancerAttributes)) {
    const found = attributes.get(name);
    if (found !== undefined) draft.set(attribute, found.value, found.line);
    else if (given !== undefined && given.node.kind !== 'list') draft.set(attribute, new Unknown(null), given.line);
  }
  const scheme = at(properties, 'Scheme');
  const value = valueAt(properties, 'Scheme');
  if (scheme !== undefined && value !== undefined)
    draft.set('internal', value instanceof Unknown ? value : value === 'internal', scheme.line);
};

export const networkReadings: Readonly<Record<string, Reading>> = {
  'AWS::EC2::SecurityGroup': { as: 'aws_security_group', names: groupNames, values: groupValues },
  'AWS::EC2::SecurityGroupIngress': {
    as: 'aws_vpc_security_group_ingress_rule',
    names: groupNames,
    values: groupValues,
  },
  'AWS::EC2::SecurityGroupEgress': {
    as: 'aws_vpc_security_group_egress_rule',
    names: groupNames,
    values: groupValues,
  },
  'AWS::EC2::NetworkAclEntry': {
    as: 'aws_network_acl_rule',
    names: { PortRange: '', 'PortRange.From': 'from_port', 'PortRange.To': 'to_port' },
  },
  'AWS::EC2::Subnet': { as: 'aws_subnet' },
  'AWS::EC2::VPC': { as: 'aws_vpc' },
  'AWS::EC2::FlowLog': { as: 'aws_flow_log', names: { ResourceId: 'vpc_id' } },
  'AWS::EC2::Instance': {
    as: 'aws_instance',
    names: { BlockDeviceMappings: 'disks_of_template' },
    more: (draft, properties) => {
      addDisks(draft, properties, 'BlockDeviceMappings');
      addAddresses(draft, properties, 'NetworkInterfaces');
      const template = at(properties, 'LaunchTemplate');
      if (template === undefined) return;
      // what the instance does not say is said there
      if (!properties.has('MetadataOptions')) draft.set('metadata_options', new Unknown(null), template.line);
      if (!properties.has('BlockDeviceMappings')) draft.add('root_block_device', template.line).isOpen = true;
    },
  },
  'AWS::AutoScaling::LaunchConfiguration': {
    as: 'aws_launch_configuration',
    names: { BlockDeviceMappings: 'disks_of_template' },
    more: (draft, properties) => addDisks(draft, properties, 'BlockDeviceMappings'),
  },
  'AWS::EC2::LaunchTemplate': { as: 'aws_launch_template', names: { LaunchTemplateData: '' } },
  'AWS::ElasticLoadBalancingV2::LoadBalancer': {
    as: 'aws_lb',
    names: { Type: 'load_balancer_type', LoadBalancerAttributes: 'attributes_of_template' },
    more: balancer,
  },
  'AWS::ElasticLoadBalancing::LoadBalancer': {
    as: 'aws_elb',
    more: balancer,
    names: { AccessLoggingPolicy: 'access_logs' },
  },
  'AWS::ElasticLoadBalancingV2::Listener': {
    as: 'aws_lb_listener',
    names: { DefaultActions: 'default_action', 'DefaultActions.RedirectConfig': 'redirect' },
  },
  'AWS::CloudFront::Distribution': {
    as: 'aws_cloudfront_distribution',
    names: {
      DistributionConfig: '',
      'DistributionConfig.Logging': 'logging_config',
      'DistributionConfig.WebACLId': 'web_acl_id',
      'DistributionConfig.CacheBehaviors': 'ordered_cache_behavior',
      'DistributionConfig.ViewerCertificate.CloudFrontDefaultCertificate': 'cloudfront_default_certificate',
    },
    more: (draft, properties) => {
      // without a certificate of its own it has that of CloudFront
      const config = at(properties, 'DistributionConfig');
      if (config?.node.kind === 'map' && !config.node.isOpen && !config.node.fields.has('ViewerCertificate'))
        draft.set('viewer_certificate.cloudfront_default_certificate', true, config.line);
    },
  },
  'AWS::Logs::Delivery': { as: 'aws_cloudwatch_log_delivery' },
  'AWS::ApiGateway::Stage': stage,
  'AWS::Serverless::Api': stage,
  'AWS::ApiGatewayV2::Stage': stageOfTwo,
  'AWS::Serverless::HttpApi': stageOfTwo,
  'AWS::ApiGateway::Method': { as: 'aws_api_gateway_method', names: { AuthorizationType: 'authorization' } },
  'AWS::ApiGateway::DomainName': { as: 'aws_api_gateway_domain_name' },
};
