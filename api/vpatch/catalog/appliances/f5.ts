// F5 BIG-IP.
import { asPath, asSent, type CatalogPatch, definePatch, json } from '../entry.js';

const r = String.raw;

export const f5Patches: readonly CatalogPatch[] = [
  definePatch({
    id: 1007304,
    cve: 'CVE-2020-5902',
    title: 'F5 BIG-IP TMUI traversal',
    product: 'F5 BIG-IP',
    affected: '11.6 to 15.1.0',
    cwe: 'CWE-22',
    severity: 'critical',
    phase: 1,
    links: [['REQUEST_FILENAME', r`@rx /(?:tmui|hsqldb).*(?:\.\.;|;)`, asSent]],
    attack: [
      ['file reading', 'GET /tmui/login.jsp/..;/tmui/locallb/workspace/fileRead.jsp?fileName=/etc/passwd'],
      ['data base', 'GET /hsqldb;'],
    ],
    benign: [
      ['login', 'GET /tmui/login.jsp'],
      ['in the query', 'GET /x?p=/tmui/..;/'],
    ],
  }),
  definePatch({
    id: 1007305,
    cve: 'CVE-2022-1388',
    title: 'F5 iControl REST login bypass',
    product: 'F5 BIG-IP',
    affected: '11.6 to 16.1.2',
    cwe: 'CWE-306',
    severity: 'critical',
    phase: 1,
    links: [
      ['REQUEST_FILENAME', '@contains /mgmt/', asPath],
      ['REQUEST_HEADERS:Connection', '@contains x-f5-auth-token', 'lowercase'],
    ],
    attack: [
      [
        'hop-by-hop token',
        'POST /mgmt/tm/util/bash',
        { Connection: 'X-F5-Auth-Token, X-Forwarded-Host', 'X-F5-Auth-Token': 'a', ...json },
        '{"command":"run","utilCmdArgs":"-c id"}',
      ],
    ],
    benign: [
      ['with a token', 'GET /mgmt/tm/ltm/pool', { 'X-F5-Auth-Token': 'abc', Connection: 'keep-alive' }],
      ['elsewhere', 'GET /', { Connection: 'X-F5-Auth-Token' }],
    ],
  }),
  definePatch({
    id: 1007306,
    cve: 'CVE-2021-22986',
    title: 'F5 iControl REST request forgery',
    product: 'F5 BIG-IP, BIG-IQ',
    affected: '12.1 to 16.0.1',
    cwe: 'CWE-918',
    severity: 'critical',
    phase: 2,
    links: [
      ['REQUEST_FILENAME', '@contains /mgmt/shared/authn/login', asPath],
      ['ARGS_NAMES', '@contains loginreference', 'lowercase'],
    ],
    attack: [
      [
        'reference to itself',
        'POST /mgmt/shared/authn/login',
        json,
        '{"username":"admin","password":"x","loginReference":{"link":"http://localhost/mgmt/tm/access/' +
          'bundle-install-tasks"}}',
      ],
    ],
    benign: [
      [
        'a login',
        'POST /mgmt/shared/authn/login',
        json,
        '{"username":"admin","password":"x","loginProviderName":"tmos"}',
      ],
      ['elsewhere', 'POST /x', json, '{"loginReference":"a"}'],
    ],
  }),
];
