// VMware.
import { asPath, type CatalogPatch, definePatch, json } from '../entry.js';

export const vmwarePatches: readonly CatalogPatch[] = [
  definePatch({
    id: 1007326,
    cve: 'CVE-2022-22954',
    title: 'Workspace ONE evaluates FreeMarker',
    product: 'VMware Workspace ONE Access, Identity Manager',
    affected: '20.10, 21.08, 3.3.x',
    cwe: 'CWE-94',
    severity: 'critical',
    phase: 2,
    links: [
      ['REQUEST_FILENAME', '@contains /catalog-portal/', asPath],
      ['ARGS', '@rx [$]\\{', 'urlDecodeUni'],
    ],
    attack: [
      [
        'deviceUdid',
        'GET /catalog-portal/ui/oauth/verify?error=&deviceUdid=%24%7B%22freemarker.template.utility.Execute%2' +
          '2%3Fnew()(%22id%22)%7D',
      ],
    ],
    benign: [
      ['an error', 'GET /catalog-portal/ui/oauth/verify?error=denied&deviceUdid=7f00'],
      ['elsewhere', 'GET /x?q=%24%7Ba%7D'],
    ],
  }),
  definePatch({
    id: 1007327,
    cve: 'CVE-2021-21972',
    title: 'vCenter plug-in takes uploads',
    product: 'VMware vCenter Server',
    affected: '6.5, 6.7, 7.0 before U1c',
    cwe: 'CWE-22',
    technique: 'T1505.003',
    severity: 'critical',
    phase: 1,
    links: [['REQUEST_FILENAME', '@contains /vropspluginui/rest/services/', asPath]],
    attack: [['archive', 'POST /ui/vropspluginui/rest/services/uploadova', {}, 'x=1']],
    benign: [
      ['the client', 'GET /ui/vropspluginui/index.html'],
      ['login', 'GET /ui/login'],
    ],
  }),
  definePatch({
    id: 1007328,
    cve: 'CVE-2021-21985',
    title: 'vCenter vSAN plug-in calls any method',
    product: 'VMware vCenter Server',
    affected: '6.5, 6.7, 7.0 before U2b',
    cwe: 'CWE-20',
    severity: 'critical',
    phase: 1,
    links: [['REQUEST_FILENAME', '@contains /h5-vsan/rest/proxy/service/', asPath]],
    attack: [
      [
        'setting a target',
        'POST /ui/h5-vsan/rest/proxy/service/&vsanProviderUtils_setVmodlHelper/setTargetObject',
        json,
        '{"methodInput":[null]}',
      ],
    ],
    benign: [
      ['another plug-in', 'GET /ui/h5-host/rest/list'],
      ['in the query', 'GET /x?p=/h5-vsan/rest/proxy/service/'],
    ],
  }),
  definePatch({
    id: 1007329,
    cve: 'CVE-2021-22005',
    title: 'vCenter analytics writes files',
    product: 'VMware vCenter Server',
    affected: '6.7, 7.0 before U2c',
    cwe: 'CWE-22',
    technique: 'T1505.003',
    severity: 'critical',
    phase: 1,
    links: [
      ['REQUEST_FILENAME', '@contains /analytics/telemetry/ph/api/', asPath],
      ['ARGS_GET:_i', '@contains ..', 'urlDecodeUni'],
    ],
    attack: [
      [
        'a scheduled job',
        'POST /analytics/telemetry/ph/api/hyper/send?_c=&_i=/../../../../../../etc/cron.d/x',
        json,
        '{}',
      ],
    ],
    benign: [
      ['telemetry', 'POST /analytics/telemetry/ph/api/hyper/send?_c=vc&_i=9D36C850', json, '{}'],
      ['elsewhere', 'GET /x?_i=..'],
    ],
  }),
];
