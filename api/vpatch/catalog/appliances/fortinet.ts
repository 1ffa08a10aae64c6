// Fortinet.
import { asPath, type CatalogPatch, definePatch, json } from '../entry.js';

const r = String.raw;

export const fortinetPatches: readonly CatalogPatch[] = [
  definePatch({
    id: 1007314,
    cve: 'CVE-2018-13379',
    title: 'FortiOS SSL VPN reads any file',
    product: 'Fortinet FortiOS',
    affected: '5.4.6 to 5.4.12, 5.6.3 to 5.6.7, 6.0.0 to 6.0.4',
    cwe: 'CWE-22',
    technique: 'T1083',
    severity: 'critical',
    phase: 2,
    links: [
      ['REQUEST_FILENAME', '@contains /remote/fgt_lang', asPath],
      ['ARGS:lang', r`@rx \.\.|//|dev/cmdb`, 'urlDecodeUni,lowercase'],
    ],
    attack: [['sessions', 'GET /remote/fgt_lang?lang=/../../../..//////////dev/cmdb/sslvpn_websession']],
    benign: [
      ['a language', 'GET /remote/fgt_lang?lang=en'],
      ['elsewhere', 'GET /x?lang=../en'],
    ],
  }),
  definePatch({
    id: 1007315,
    cve: 'CVE-2022-40684',
    title: 'FortiOS management login bypass',
    product: 'Fortinet FortiOS, FortiProxy',
    affected: '7.0.0 to 7.0.6, 7.2.0 to 7.2.1',
    cwe: 'CWE-288',
    severity: 'critical',
    phase: 1,
    links: [
      ['REQUEST_FILENAME', '@contains /api/v2/cmdb/', asPath],
      ['REQUEST_HEADERS:Forwarded', r`@rx 127\.0\.0\.1|\[::1\]|localhost`, 'lowercase'],
    ],
    attack: [
      [
        'as if local',
        'PUT /api/v2/cmdb/system/admin/admin',
        { Forwarded: 'for="[127.0.0.1]:8000";by="[127.0.0.1]:9000";', 'User-Agent': 'Report Runner', ...json },
        '{"ssh-public-key1":"x"}',
      ],
    ],
    benign: [
      ['a call', 'GET /api/v2/cmdb/system/status', { Forwarded: 'for=192.0.2.7' }],
      ['elsewhere', 'GET /', { Forwarded: 'for=127.0.0.1' }],
    ],
  }),
  definePatch({
    id: 1007316,
    cve: 'CVE-2022-39952',
    title: 'FortiNAC takes files without login',
    product: 'Fortinet FortiNAC',
    affected: '8.3 to 9.4.0',
    cwe: 'CWE-73',
    severity: 'critical',
    phase: 1,
    links: [['REQUEST_FILENAME', r`@rx /configwizard/keyupload\.jsp`, asPath]],
    attack: [['upload', 'POST /configWizard/keyUpload.jsp', {}, 'key=x']],
    benign: [
      ['the wizard', 'GET /configWizard/index.jsp'],
      ['a page', 'GET /docs/keyUpload.jsp'],
    ],
  }),
];
