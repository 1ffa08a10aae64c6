// Apache APISIX and Shiro.
import { asPath, asSent, type CatalogPatch, definePatch, json } from '../entry.js';

const r = String.raw;

export const gatewayPatches: readonly CatalogPatch[] = [
  definePatch({
    id: 1007161,
    cve: 'CVE-2022-24112',
    title: 'APISIX batch requests reach the admin API',
    product: 'Apache APISIX',
    affected: 'before 2.10.4 and 2.12.1',
    cwe: 'CWE-290',
    severity: 'critical',
    phase: 2,
    links: [
      ['REQUEST_FILENAME', '@contains /apisix/batch-requests', asPath],
      ['ARGS', '@contains /apisix/admin', 'urlDecodeUni,lowercase'],
    ],
    attack: [
      [
        'admin call in a batch',
        'POST /apisix/batch-requests',
        json,
        '{"headers":{"X-Real-IP":"127.0.0.1"},"timeout":1500,"pipeline":[{"method":"PUT",' +
          '"path":"/apisix/admin/routes/index?api_key=x","body":"{}"}]}',
      ],
    ],
    benign: [
      ['a batch', 'POST /apisix/batch-requests', json, '{"timeout":500,"pipeline":[{"path":"/b"},{"path":"/c"}]}'],
      ['the text elsewhere', 'POST /notes', json, '{"t":"/apisix/admin"}'],
    ],
  }),
  definePatch({
    id: 1007163,
    cve: 'CVE-2020-1957',
    title: 'Shiro path bypass with ..;',
    product: 'Apache Shiro with Spring',
    affected: 'before 1.5.2',
    cwe: 'CWE-287',
    severity: 'critical',
    phase: 1,
    links: [['REQUEST_FILENAME', r`@rx /\.\.;[^/]*/`, asSent]],
    attack: [
      ['semicolon behind dots', 'GET /open/..;/admin/index'],
      ['encoded', 'GET /open/%2e%2e%3bx/admin'],
    ],
    benign: [
      ['matrix parameters', 'GET /cars;color=red/list'],
      ['in the query', 'GET /x?p=/..;/'],
      ['dots in a name', 'GET /v1..;2/list'],
    ],
  }),
];
