// Business suites: SAP, Oracle, WSO2.
import { asPath, type CatalogPatch, definePatch, xml } from '../entry.js';

const r = String.raw;

export const businessSuitePatches: readonly CatalogPatch[] = [
  definePatch({
    id: 1007435,
    cve: 'CVE-2022-29464',
    title: 'WSO2 upload anywhere',
    product: 'WSO2 API Manager, Identity Server and others',
    affected: 'API Manager 2.2.0 to 4.0.0',
    cwe: 'CWE-22',
    technique: 'T1505.003',
    severity: 'critical',
    phase: 1,
    links: [['REQUEST_FILENAME', r`@rx /fileupload/toolsany`, asPath]],
    attack: [['upload', 'POST /fileupload/toolsAny', {}, 'x=1']],
    benign: [
      ['another upload', 'POST /fileupload/service', {}, 'x=1'],
      ['in the query', 'GET /x?p=/fileupload/toolsAny'],
    ],
  }),
  definePatch({
    id: 1007436,
    cve: 'CVE-2020-6287',
    title: 'SAP NetWeaver configuration without login',
    product: 'SAP NetWeaver AS Java',
    affected: '7.30 to 7.50',
    cwe: 'CWE-306',
    technique: 'T1136',
    severity: 'critical',
    phase: 1,
    links: [['REQUEST_FILENAME', '@contains /ctcwebservice/ctcwebservicebean', asPath]],
    attack: [['the service', 'POST /CTCWebService/CTCWebServiceBean/ConfigServlet', xml, '<a/>']],
    benign: [
      ['portal', 'GET /irj/portal'],
      ['a search', 'GET /search?q=/CTCWebService/CTCWebServiceBean'],
    ],
  }),
  definePatch({
    id: 1007437,
    cve: 'CVE-2025-31324',
    title: 'SAP Visual Composer takes uploads',
    product: 'SAP NetWeaver Visual Composer',
    affected: '7.50',
    cwe: 'CWE-434',
    technique: 'T1505.003',
    severity: 'critical',
    phase: 1,
    links: [['REQUEST_FILENAME', '@contains /developmentserver/metadatauploader', asPath]],
    attack: [['upload', 'POST /developmentserver/metadatauploader?CONTENTTYPE=MODEL&CLIENT=1', {}, 'x=1']],
    benign: [
      ['portal', 'GET /irj/portal'],
      ['another page', 'GET /developmentserver/help'],
    ],
  }),
  definePatch({
    id: 1007444,
    cve: 'CVE-2022-21587',
    title: 'Oracle E-Business Suite takes uploads',
    product: 'Oracle E-Business Suite Web Applications Desktop Integrator',
    affected: '12.2.3 to 12.2.11',
    cwe: 'CWE-306',
    technique: 'T1505.003',
    severity: 'critical',
    phase: 2,
    links: [
      [
        'REQUEST_FILENAME',
        r`@rx /oa_html/bne(?:uploaderservice|viewerxmlservice|downloadservice|offlinelovservice)`,
        asPath,
      ],
      ['ARGS_NAMES', '@streq bne:uueupload', 'urlDecodeUni,lowercase'],
    ],
    attack: [['encoded archive', 'POST /OA_HTML/BneViewerXMLService?bne:uueupload=TRUE', {}, 'x=1']],
    benign: [
      ['a document', 'GET /OA_HTML/BneViewerXMLService?bne:page=a'],
      ['elsewhere', 'POST /x?bne:uueupload=TRUE'],
    ],
  }),
];
