// Managed file transfer: MOVEit, GoAnywhere, CrushFTP, Serv-U.
import { asPath, asSent, type CatalogPatch, definePatch } from '../entry.js';

const r = String.raw;

export const fileTransferPatches: readonly CatalogPatch[] = [
  definePatch({
    id: 1007408,
    cve: 'CVE-2023-34362',
    title: 'MOVEit Transfer SQL injection entry',
    product: 'Progress MOVEit Transfer',
    affected: 'before 2021.0.6, 2022.0.4, 2023.0.1',
    cwe: 'CWE-89',
    severity: 'critical',
    phase: 2,
    links: [
      ['REQUEST_FILENAME', r`@rx /moveitisapi\.dll`, asPath],
      ['ARGS:action', '@streq m2', 'trim,lowercase'],
    ],
    attack: [
      [
        'inner call',
        'POST /moveitisapi/moveitisapi.dll?action=m2',
        { 'X-siLock-Transaction': 'folder_add_by_path', 'xX-siLock-Transaction': 'session_setvars' },
        'x=1',
      ],
    ],
    benign: [
      ['an upload', 'POST /moveitisapi/moveitisapi.dll?action=upload', {}, 'x=1'],
      ['elsewhere', 'GET /x?action=m2'],
    ],
  }),
  definePatch({
    id: 1007409,
    cve: 'CVE-2023-0669',
    title: 'GoAnywhere licence deserialises objects',
    product: 'Fortra GoAnywhere MFT',
    affected: 'before 7.1.2',
    cwe: 'CWE-502',
    severity: 'high',
    phase: 1,
    links: [['REQUEST_FILENAME', '@contains /goanywhere/lic/accept', asPath]],
    attack: [['a bundle', 'POST /goanywhere/lic/accept', {}, 'bundle=abc$2']],
    benign: [
      ['login', 'GET /goanywhere/auth/Login.xhtml'],
      ['a page', 'GET /lic/accept'],
    ],
  }),
  definePatch({
    id: 1007410,
    cve: 'CVE-2024-0204',
    title: 'GoAnywhere makes a new administrator',
    product: 'Fortra GoAnywhere MFT',
    affected: 'before 7.4.1',
    cwe: 'CWE-425',
    technique: 'T1136',
    severity: 'critical',
    phase: 1,
    links: [['REQUEST_FILENAME', r`@rx /\.\.;/.*wizard/initialaccountsetup\.xhtml`, asSent]],
    attack: [['through images', 'POST /goanywhere/images/..;/wizard/InitialAccountSetup.xhtml', {}, 'x=1']],
    benign: [
      ['a picture', 'GET /goanywhere/images/logo.png'],
      ['the wizard itself', 'GET /goanywhere/wizard/InitialAccountSetup.xhtml'],
    ],
  }),
  definePatch({
    id: 1007411,
    cve: 'CVE-2024-4040',
    title: 'CrushFTP template includes files',
    product: 'CrushFTP',
    affected: 'before 10.7.1 and 11.1.0',
    cwe: 'CWE-1336',
    technique: 'T1083',
    severity: 'critical',
    phase: 2,
    links: [
      ['REQUEST_FILENAME', '@contains /webinterface/', asPath],
      ['ARGS', r`@rx <include>|\{working_dir\}`, 'urlDecodeUni,lowercase'],
    ],
    attack: [
      [
        'file',
        'POST /WebInterface/function/',
        {},
        'command=zip&path=%3CINCLUDE%3E/etc/passwd%3C/INCLUDE%3E&names=/bbb&c2f=abcd',
      ],
    ],
    benign: [
      ['a list', 'POST /WebInterface/function/', {}, 'command=getXMLListing&path=/&c2f=abcd'],
      ['elsewhere', 'POST /posts', {}, 'text=%3Cinclude%3E'],
    ],
  }),
  definePatch({
    id: 1007440,
    cve: 'CVE-2024-28995',
    title: 'Serv-U reads any file',
    product: 'SolarWinds Serv-U',
    affected: '15.4.2 HF 1 and older',
    cwe: 'CWE-22',
    technique: 'T1083',
    severity: 'high',
    phase: 2,
    links: [['ARGS:InternalDir', '@contains ..', 'urlDecodeUni']],
    attack: [
      ['Windows', 'GET /?InternalDir=/../../../../windows&InternalFile=win.ini'],
      ['with backslashes', 'GET /?InternalDir=%5C..%5C..%5Cetc&InternalFile=passwd'],
    ],
    benign: [
      ['a folder', 'GET /?InternalDir=/Common/Java&InternalFile=a.jar'],
      ['another parameter', 'GET /?dir=/../x'],
    ],
  }),
];
