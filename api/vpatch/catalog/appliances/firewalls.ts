// Firewalls: Palo Alto, Check Point, Zyxel.
import { asPath, type CatalogPatch, definePatch, json } from '../entry.js';

const r = String.raw;

export const firewallPatches: readonly CatalogPatch[] = [
  definePatch({
    id: 1007312,
    cve: 'CVE-2024-3400',
    title: 'PAN-OS GlobalProtect session file',
    product: 'Palo Alto PAN-OS',
    affected: '10.2, 11.0, 11.1 before April 2024',
    cwe: 'CWE-77',
    severity: 'critical',
    phase: 1,
    links: [
      ['REQUEST_FILENAME', r`@rx ^/(?:ssl-vpn|global-protect)/`, asPath],
      ['REQUEST_COOKIES:SESSID', '@rx [/\\`$.;|]', 'urlDecodeUni'],
    ],
    attack: [
      [
        'path in the session',
        'POST /ssl-vpn/hipreport.esp',
        { Cookie: 'SESSID=/../../../opt/panlogs/tmp/device_telemetry/minute/x`id`' },
        'user=a',
      ],
    ],
    benign: [
      ['a session', 'POST /ssl-vpn/hipreport.esp', { Cookie: 'SESSID=6f1d3c9a-77aa-4d0e-9b77-000000000001' }, 'user=a'],
      ['elsewhere', 'GET /', { Cookie: 'SESSID=a/b' }],
    ],
  }),
  definePatch({
    id: 1007313,
    cve: 'CVE-2024-0012',
    title: 'PAN-OS management trusts a header',
    product: 'Palo Alto PAN-OS',
    affected: '10.2, 11.0, 11.1, 11.2 before November 2024',
    cwe: 'CWE-306',
    severity: 'critical',
    phase: 1,
    links: [['REQUEST_HEADERS:X-PAN-AUTHCHECK', '@streq off', 'trim,lowercase']],
    attack: [['switching the check off', 'GET /php/ztp_gate.php/.js.map', { 'X-PAN-AUTHCHECK': 'off' }]],
    benign: [
      ['on', 'GET /php/login.php', { 'X-PAN-AUTHCHECK': 'on' }],
      ['without', 'GET /php/login.php'],
    ],
  }),
  definePatch({
    id: 1007319,
    cve: 'CVE-2024-24919',
    title: 'Check Point gateways read any file',
    product: 'Check Point Security Gateway',
    affected: 'R77 to R81.20',
    cwe: 'CWE-200',
    technique: 'T1083',
    severity: 'high',
    phase: 2,
    links: [
      ['REQUEST_FILENAME', '@contains /clients/mycrl', asPath],
      ['FULL_REQUEST', '@contains ../', 'urlDecodeUni'],
    ],
    attack: [
      [
        'password file',
        'POST /clients/MyCRL',
        { 'Content-Type': 'text/plain' },
        'aCSHELL/../../../../../../../etc/shadow',
      ],
    ],
    benign: [
      ['a list', 'POST /clients/MyCRL', { 'Content-Type': 'text/plain' }, 'ICA_CRL1.crl'],
      ['elsewhere', 'POST /notes', {}, 'path=../a'],
    ],
  }),
  definePatch({
    id: 1007320,
    cve: 'CVE-2022-30525',
    title: 'Zyxel firewalls command injection',
    product: 'Zyxel USG FLEX, ATP, VPN',
    affected: 'ZLD 4.60 to 5.21',
    cwe: 'CWE-78',
    technique: 'T1059',
    severity: 'critical',
    phase: 2,
    links: [
      ['REQUEST_FILENAME', '@contains /ztp/cgi-bin/handler', asPath],
      ['ARGS:/mtu$/', r`!@rx ^\d*$`],
    ],
    attack: [
      [
        'command in mtu',
        'POST /ztp/cgi-bin/handler',
        json,
        '{"command":"setWanPortSt","proto":"dhcp","port":"4","vlan_tagged":"1","vlanid":"5","mtu":"; id;","data":"hi"}',
      ],
    ],
    benign: [
      ['a size', 'POST /ztp/cgi-bin/handler', json, '{"command":"setWanPortSt","mtu":"1500"}'],
      ['elsewhere', 'POST /x', json, '{"mtu":"auto"}'],
    ],
  }),
];
