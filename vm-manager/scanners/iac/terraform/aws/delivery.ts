// AWS: load balancers, content delivery, gateways of APIs.
import { textOf } from '../values.js';
import { hasBlock, holds, inPart, isGiven, isOneOf, isTrue, rule, type TerraformRule } from '../rule.js';

const oldPolicies = new Set([
  'ELBSecurityPolicy-2015-05',
  'ELBSecurityPolicy-2016-08',
  'ELBSecurityPolicy-TLS-1-0-2015-04',
  'ELBSecurityPolicy-TLS-1-1-2017-01',
  'ELBSecurityPolicy-FS-2018-06',
  'ELBSecurityPolicy-FS-1-1-2019-08',
]);

export const awsDeliveryRules: readonly TerraformRule[] = [
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
            (value) => /^TLSv1\.[23]/.test(textOf(value)),
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
            ['HTTPS', '443'].includes(textOf(part.value('redirect.protocol') ?? 'HTTPS')),
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
    holds('ssl_policy', (value) => !oldPolicies.has(textOf(value))),
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
    ['aws-api-logs', 'AWS-0001', 'AWS-0113', 'AWS-0116'],
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
    ['aws-api-tracing', 'AWS-0003', 'AWS-0111'],
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
      !/^OPTIONS?$/.test(textOf(one.value('http_method'))) &&
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
    holds('security_policy', (value) => /^(?:TLS_1_[23]$|SecurityPolicy_TLS1[23]_)/.test(textOf(value)), 'bad'),
    'Set security_policy = "TLS_1_2".',
  ),
];
