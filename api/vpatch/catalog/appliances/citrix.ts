// Citrix and NetScaler.
import { asPath, asSent, type CatalogPatch, definePatch } from '../entry.js';

const r = String.raw;

export const citrixPatches: readonly CatalogPatch[] = [
  definePatch({
    id: 1007301,
    cve: 'CVE-2019-19781',
    title: 'Citrix ADC path traversal',
    product: 'Citrix ADC and Gateway',
    affected: '10.5 to 13.0 before January 2020',
    cwe: 'CWE-22',
    severity: 'critical',
    phase: 1,
    links: [['REQUEST_FILENAME', r`@rx /vpn/\.\./+vpns/`, asSent]],
    attack: [
      ['configuration', 'GET /vpn/../vpns/cfg/smb.conf'],
      [
        'encoded',
        'POST /vpn/%2e%2e/vpns/portal/scripts/newbm.pl',
        { NSC_USER: '../../../netscaler/portal/templates/x' },
        'url=http://example.org&title=x',
      ],
    ],
    benign: [
      ['login page', 'GET /vpn/index.html'],
      ['in the query', 'GET /x?p=/vpn/../vpns/'],
    ],
  }),
  definePatch({
    id: 1007302,
    cve: 'CVE-2023-3519',
    title: 'Citrix Gateway buffer overflow in SAML requests',
    product: 'NetScaler ADC and Gateway',
    affected: '13.1 before 49.13, 13.0 before 91.13',
    cwe: 'CWE-94',
    severity: 'critical',
    phase: 2,
    links: [
      ['REQUEST_FILENAME', '@contains /gwtest/formssso', asPath],
      ['ARGS:target', r`@rx (?s)^.{128,}`],
    ],
    attack: [['overlong target', `GET /gwtest/formssso?event=start&target=${'A'.repeat(300)}`]],
    benign: [
      ['a short target', 'GET /gwtest/formssso?event=start&target=https://intranet.example/'],
      ['elsewhere', `GET /x?target=${'a'.repeat(300)}`],
    ],
  }),
  definePatch({
    id: 1007303,
    cve: 'CVE-2023-4966',
    title: 'Citrix Gateway leaks memory for long Host headers',
    product: 'NetScaler ADC and Gateway',
    affected: '14.1 before 8.50, 13.1 before 49.15, 13.0 before 92.19',
    cwe: 'CWE-119',
    technique: 'T1539',
    severity: 'critical',
    phase: 1,
    links: [
      ['REQUEST_FILENAME', '@contains /.well-known/openid-configuration', asPath],
      ['REQUEST_HEADERS:Host', r`@rx (?s)^.{512,}`],
    ],
    attack: [['overlong Host', 'GET /oauth/idp/.well-known/openid-configuration', { Host: 'a'.repeat(2000) }]],
    benign: [
      ['discovery', 'GET /oauth/idp/.well-known/openid-configuration', { Host: 'gateway.example.org' }],
      ['a long host elsewhere', 'GET /', { Host: `${'a'.repeat(600)}.example.org` }],
    ],
  }),
];
