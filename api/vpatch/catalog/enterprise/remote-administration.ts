// Administration from afar: ScreenConnect, PaperCut, ManageEngine, Webmin.
import { asPath, asSent, type CatalogPatch, definePatch } from '../entry.js';

const r = String.raw;

export const remoteAdministrationPatches: readonly CatalogPatch[] = [
  definePatch({
    id: 1007412,
    cve: 'CVE-2024-1709',
    title: 'ScreenConnect setup wizard can be reopened',
    product: 'ConnectWise ScreenConnect',
    affected: '23.9.7 and older',
    cwe: 'CWE-288',
    technique: 'T1136',
    severity: 'critical',
    phase: 1,
    links: [['REQUEST_FILENAME', r`@rx /setupwizard\.aspx/`, 'urlDecodeUni,lowercase']],
    attack: [
      ['slash behind the page', 'GET /SetupWizard.aspx/anything'],
      ['only a slash', 'POST /SetupWizard.aspx/', {}, 'a=1'],
    ],
    benign: [
      ['login', 'GET /Login'],
      ['in the query', 'GET /x?p=/SetupWizard.aspx/'],
    ],
  }),
  definePatch({
    id: 1007426,
    cve: 'CVE-2023-27350',
    title: 'PaperCut login bypass',
    product: 'PaperCut MF and NG',
    affected: '8.0 to 22.0.8',
    cwe: 'CWE-284',
    severity: 'critical',
    phase: 2,
    links: [
      ['REQUEST_FILENAME', r`@rx ^/app(?:/|$)`, asPath],
      ['ARGS:service', '@contains page/setupcompleted', 'urlDecodeUni,lowercase'],
    ],
    attack: [['set-up page', 'GET /app?service=page/SetupCompleted']],
    benign: [
      ['login', 'GET /app?service=page/Home'],
      ['elsewhere', 'GET /help?service=page/SetupCompleted'],
    ],
  }),
  definePatch({
    id: 1007429,
    cve: 'CVE-2021-40539',
    title: 'ADSelfService Plus login bypass',
    product: 'Zoho ManageEngine ADSelfService Plus',
    affected: '6113 and older',
    cwe: 'CWE-706',
    severity: 'critical',
    phase: 1,
    links: [['REQUEST_FILENAME', r`@rx /\.{1,2}/+(?:.*/)?restapi/`, asSent]],
    attack: [
      ['dot in the path', 'POST /./RestAPI/LogonCustomization', {}, 'methodToCall=unspecified'],
      ['two dots', 'POST /help/../RestAPI/LogonCustomization', {}, 'a=1'],
    ],
    benign: [
      ['the API', 'POST /RestAPI/LogonCustomization', {}, 'a=1'],
      ['in the query', 'GET /x?p=/./RestAPI/'],
    ],
  }),
  definePatch({
    id: 1007430,
    cve: 'CVE-2021-44077',
    title: 'ServiceDesk Plus imports without login',
    product: 'Zoho ManageEngine ServiceDesk Plus',
    affected: 'before 11306',
    cwe: 'CWE-306',
    severity: 'critical',
    phase: 1,
    links: [['REQUEST_FILENAME', '@contains /restapi/importtechnicians', asPath]],
    attack: [['upload', 'POST /RestAPI/ImportTechnicians?step=1', {}, 'x=1']],
    benign: [
      ['another call', 'GET /RestAPI/Technicians'],
      ['a page', 'GET /ImportTechnicians'],
    ],
  }),
  definePatch({
    id: 1007441,
    cve: 'CVE-2019-15107',
    title: 'Webmin runs the old password',
    product: 'Webmin',
    affected: '1.882 to 1.921',
    cwe: 'CWE-78',
    technique: 'T1059',
    severity: 'critical',
    phase: 2,
    links: [
      ['REQUEST_FILENAME', r`@rx /password_change\.cgi`, asPath],
      ['ARGS:old|ARGS:expired', '@rx [|`;$]', 'urlDecodeUni'],
    ],
    attack: [['a pipe', 'POST /password_change.cgi', {}, 'user=x&pam=&expired=2&old=test%7Cid&new1=a&new2=a']],
    benign: [
      ['a change', 'POST /password_change.cgi', {}, 'user=x&old=Summer2024&new1=a&new2=a'],
      ['elsewhere', 'POST /x', {}, 'old=a|b'],
    ],
  }),
];
