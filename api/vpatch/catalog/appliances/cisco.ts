// Cisco.
import { asPath, asSent, type CatalogPatch, definePatch, xml } from '../entry.js';

const r = String.raw;

export const ciscoPatches: readonly CatalogPatch[] = [
  definePatch({
    id: 1007317,
    cve: 'CVE-2020-3452',
    title: 'Cisco ASA reads any file',
    product: 'Cisco ASA and FTD',
    affected: '9.6 to 9.14.1',
    cwe: 'CWE-22',
    technique: 'T1083',
    severity: 'high',
    phase: 2,
    links: [
      ['REQUEST_FILENAME', r`@rx /[+ ]cscot[+ ]/(?:translation-table|oem-customization)`, asPath],
      ['ARGS', r`@rx \.\.|[+ ]cscoe[+ ]`, 'urlDecodeUni,lowercase'],
    ],
    attack: [
      [
        'a portal script',
        'GET /+CSCOT+/translation-table?type=mst&textdomain=/%2bCSCOE%2b/portal_inc.lua&default-language&lang=../',
      ],
      [
        'customisation',
        'GET /+CSCOT+/oem-customization?app=AnyConnect&type=oem&platform=..&resource-type=..&' +
          'name=%2bCSCOE%2b/portal_inc.lua',
      ],
    ],
    benign: [
      ['a table', 'GET /+CSCOT+/translation-table?type=mst&textdomain=AnyConnect&lang=de'],
      ['login', 'GET /+CSCOE+/logon.html?x=..'],
    ],
  }),
  definePatch({
    id: 1007318,
    cve: 'CVE-2023-20198',
    title: 'Cisco IOS XE web services without login',
    product: 'Cisco IOS XE',
    affected: '16 and 17 with the web UI',
    cwe: 'CWE-420',
    technique: 'T1136',
    severity: 'critical',
    phase: 1,
    links: [['REQUEST_FILENAME', r`@rx /webui_wsma_https?`, asSent]],
    attack: [['doubly encoded path', 'POST /%2577eb%2575i_%2577sma_Http', xml, '<a/>']],
    benign: [
      ['the page', 'GET /webui/login.html'],
      ['an encoded path', 'GET /web%20ui'],
    ],
  }),
];
