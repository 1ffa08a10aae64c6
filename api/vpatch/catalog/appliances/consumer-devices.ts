// Routers, cameras and storage at home and in small offices.
import { asPath, asSent, type CatalogPatch, definePatch, xml } from '../entry.js';

const r = String.raw;

export const consumerDevicePatches: readonly CatalogPatch[] = [
  definePatch({
    id: 1007321,
    cve: 'CVE-2023-1389',
    title: 'TP-Link Archer command injection',
    product: 'TP-Link Archer AX21',
    affected: 'before 1.1.4',
    cwe: 'CWE-77',
    technique: 'T1059',
    severity: 'high',
    phase: 2,
    links: [
      ['REQUEST_FILENAME', r`@rx /cgi-bin/luci/.*/locale`, 'urlDecodeUni,lowercase'],
      ['ARGS:country', '@rx [$`;|&(]', 'urlDecodeUni'],
    ],
    attack: [
      ['command in country', 'GET /cgi-bin/luci/;stok=/locale?form=country&operation=write&country=$(id>/tmp/out)'],
    ],
    benign: [
      ['a country', 'GET /cgi-bin/luci/;stok=/locale?form=country&operation=write&country=DE'],
      ['elsewhere', 'GET /x?country=$(a)'],
    ],
  }),
  definePatch({
    id: 1007322,
    cve: 'CVE-2024-3273',
    title: 'D-Link NAS hidden account runs commands',
    product: 'D-Link DNS-320L, DNS-325, DNS-327L, DNS-340L',
    affected: 'all, end of life',
    cwe: 'CWE-77',
    technique: 'T1059',
    severity: 'critical',
    phase: 2,
    links: [
      ['REQUEST_FILENAME', r`@rx /cgi-bin/nas_sharing\.cgi`, asPath],
      ['ARGS:user', '@streq messagebus', 'trim,lowercase'],
    ],
    attack: [['command', 'GET /cgi-bin/nas_sharing.cgi?user=messagebus&passwd=&cmd=15&system=aWQ=']],
    benign: [
      ['another user', 'GET /cgi-bin/nas_sharing.cgi?user=anna&cmd=1'],
      ['elsewhere', 'GET /x?user=messagebus'],
    ],
  }),
  definePatch({
    id: 1007323,
    cve: 'CVE-2021-36260',
    title: 'Hikvision language command injection',
    product: 'Hikvision cameras and recorders',
    affected: 'firmware before June 2021',
    cwe: 'CWE-77',
    technique: 'T1059',
    severity: 'critical',
    phase: 2,
    links: [
      ['REQUEST_FILENAME', '@contains /sdk/weblanguage', asPath],
      ['REQUEST_METHOD', '@streq PUT'],
    ],
    attack: [
      [
        'command in the language',
        'PUT /SDK/webLanguage',
        xml,
        '<?xml version="1.0"?><language>$(id>webLib/x)</language>',
      ],
    ],
    benign: [
      ['reading', 'GET /SDK/webLanguage'],
      ['elsewhere', 'PUT /SDK/language', xml, '<language>en</language>'],
    ],
  }),
  definePatch({
    id: 1007324,
    cve: 'CVE-2018-10561',
    title: 'GPON routers skip login for images',
    product: 'Dasan GPON home routers',
    affected: 'all',
    cwe: 'CWE-287',
    severity: 'critical',
    phase: 1,
    links: [['REQUEST_URI_RAW', r`@rx /gponform/[^?]*\?images/|/menu\.html\?images/`, asSent]],
    attack: [
      ['diagnosis', 'POST /GponForm/diag_Form?images/', {}, 'XWebPageName=diag&diag_action=ping&dest_host=%60id%60'],
    ],
    benign: [
      ['a picture', 'GET /images/logo.png'],
      ['another query', 'GET /GponForm/diag_Form?a=images/'],
    ],
  }),
  definePatch({
    id: 1007325,
    cve: 'CVE-2016-6277',
    title: 'Netgear routers run the path',
    product: 'Netgear R6250, R6400, R7000, R8000',
    affected: 'before December 2016',
    cwe: 'CWE-352',
    technique: 'T1059',
    severity: 'high',
    phase: 1,
    links: [['REQUEST_FILENAME', r`@rx ^/cgi-bin/;`, 'urlDecodeUni']],
    attack: [['command', 'GET /cgi-bin/;uname$IFS-a']],
    benign: [
      ['a script', 'GET /cgi-bin/status.cgi;jsessionid=1'],
      ['elsewhere', 'GET /x/cgi-bin/;a'],
    ],
  }),
];
