// The controls that this program can answer for, by framework: the number that the framework gives, in words of our own
// what it asks for, and the checks that answer. What a framework asks of staff and documents is not here.
import type { CheckName } from './checks.js';

export interface Control {
  readonly id: string;
  readonly title: string;
  readonly checks: readonly [CheckName, ...CheckName[]];
}
export interface Framework {
  readonly name: string;
  readonly version: string;
  readonly controls: readonly Control[];
}

const control = (id: string, title: string, ...names: [CheckName, ...CheckName[]]): Control => ({
  id,
  title,
  checks: names,
});

export const frameworks = {
  'pci-dss': {
    name: 'PCI DSS',
    version: '4.0.1',
    controls: [
      control('3.4.1', 'Card numbers are not readable where they are shown or stored', 'masking'),
      control('6.2.4', 'Common attacks on software are prevented or weakened', 'injection', 'leaks'),
      control('6.3.3', 'Known holes are closed without delay', 'virtual_patches'),
      control('6.4.2', 'Something automatic stands before public web applications and stops attacks', 'waf_blocks'),
      control('8.2.8', 'A session that nobody uses ends after a quarter of an hour', 'session_idle'),
      control('8.3.4', 'Guessing a password locks the account', 'lockout'),
      control('8.3.6', 'Passwords have twelve characters at least, letters and others', 'passwords', 'password_mix'),
      control('8.4.2', 'Administration asks for a second factor', 'second_factor'),
      control('10.2.1', 'What people do is logged', 'audit_chain'),
      control('10.3.3', 'Logs are copied to a place that is hard to change', 'central_log'),
      control('10.3.4', 'A change to a log is noticed', 'audit_chain'),
      control('10.4.1.1', 'Logs are looked through by a program', 'alerting'),
      control('10.5.1', 'Logs are kept for a year', 'audit_year'),
      control('11.5.1', 'Intrusions are noticed, and somebody is told', 'waf_blocks', 'alerting'),
    ],
  },
  gdpr: {
    name: 'GDPR',
    version: '2016/679',
    controls: [
      control('5.1.c', 'No more personal data is kept than is needed', 'masking'),
      control('5.1.e', 'Personal data is kept for a limited time', 'storage_limit'),
      control('5.2', 'It can be shown who did what', 'audit_chain'),
      control('25', 'Data protection is built in and on by default', 'masking', 'storage_limit'),
      control('32.1.b', 'Confidentiality and integrity of services are protected', 'waf_blocks', 'second_factor'),
      control('32.1.d', 'Whether the protection works is tested regularly', 'tested_nightly', 'change_control'),
      control('33', 'A breach is noticed in time to be reported', 'alerting', 'central_log'),
    ],
  },
  'soc-2': {
    name: 'SOC 2',
    version: '2017 (2022)',
    controls: [
      control('CC6.1', 'Access to the system is limited and proven', 'passwords', 'lockout', 'second_factor'),
      control('CC6.3', 'Rights follow roles, and are changed when people change', 'roles'),
      control('CC6.6', 'Attacks from outside are kept out', 'waf_blocks', 'limits'),
      control('CC6.8', 'Malicious software and input are prevented', 'injection', 'threat_feeds'),
      control('CC7.2', 'The system is watched for what is unusual', 'alerting', 'central_log'),
      control('CC7.3', 'Events are kept and judged', 'central_log', 'audit_chain'),
      control('CC8.1', 'Changes are authorised, tested and recorded', 'change_control'),
      control('A1.1', 'Load is bounded, so that the service stays available', 'limits'),
      control('C1.2', 'Confidential data is disposed of', 'storage_limit'),
    ],
  },
  'owasp-top-10': {
    name: 'OWASP Top 10',
    version: '2021',
    controls: [
      control('A01', 'Broken access control', 'site_auth', 'object_access'),
      control('A03', 'Injection', 'injection'),
      control('A05', 'Security misconfiguration', 'leaks'),
      control('A06', 'Vulnerable and outdated components', 'virtual_patches'),
      control('A07', 'Identification and authentication failures', 'site_auth', 'limits'),
      control('A08', 'Software and data integrity failures', 'integrity'),
      control('A09', 'Security logging and monitoring failures', 'audit_chain', 'alerting', 'central_log'),
      control('A10', 'Server-side request forgery', 'ssrf'),
    ],
  },
  'owasp-api': {
    name: 'OWASP API Security Top 10',
    version: '2023',
    controls: [
      control('API1', 'Broken object level authorisation', 'object_access'),
      control('API2', 'Broken authentication', 'site_auth'),
      control('API3', 'Broken object property level authorisation', 'schema'),
      control('API4', 'Unrestricted resource consumption', 'limits'),
      control('API5', 'Broken function level authorisation', 'object_access', 'site_auth'),
      control('API6', 'Unrestricted access to sensitive business flows', 'limits'),
      control('API7', 'Server-side request forgery', 'ssrf'),
      control('API8', 'Security misconfiguration', 'leaks', 'waf_blocks'),
      control('API9', 'Improper inventory management', 'schema'),
      control('API10', 'Unsafe consumption of APIs', 'injection'),
    ],
  },
} as const satisfies Record<string, Framework>;

export type FrameworkId = keyof typeof frameworks;
export const frameworkIds = Object.keys(frameworks) as FrameworkId[];
