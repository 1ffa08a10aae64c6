// Dashboards and search: Grafana, Kibana, Elasticsearch, Metabase.
import { asPath, asSent, type CatalogPatch, definePatch, json } from '../entry.js';

const r = String.raw;

export const dashboardPatches: readonly CatalogPatch[] = [
  definePatch({
    id: 1007421,
    cve: 'CVE-2021-43798',
    title: 'Grafana serves files outside of plug-ins',
    product: 'Grafana',
    affected: '8.0.0-beta1 to 8.3.0',
    cwe: 'CWE-22',
    technique: 'T1083',
    severity: 'high',
    phase: 1,
    links: [['REQUEST_FILENAME', r`@rx /public/plugins/[^/]+/+\.\./`, asSent]],
    attack: [
      ['password file', 'GET /public/plugins/alertlist/../../../../../../../../etc/passwd'],
      ['encoded', 'GET /public/plugins/text/%2e%2e/%2e%2e/conf/defaults.ini'],
    ],
    benign: [
      ['a module', 'GET /public/plugins/alertlist/module.js'],
      ['in the query', 'GET /public/plugins/text/module.js?x=/../'],
    ],
  }),
  definePatch({
    id: 1007422,
    cve: 'CVE-2019-7609',
    title: 'Kibana Timelion pollutes prototypes',
    product: 'Kibana',
    affected: 'before 5.6.15 and 6.6.1',
    cwe: 'CWE-94',
    severity: 'critical',
    phase: 2,
    links: [
      ['REQUEST_FILENAME', '@contains /api/timelion/run', asPath],
      ['ARGS', r`@rx __proto__|constructor\.prototype`, 'lowercase'],
    ],
    attack: [
      [
        'environment',
        'POST /api/timelion/run',
        json,
        '{"sheet":[".es(*).props(label.__proto__.env.AAAA=\'x\')"],"time":{"from":"now-15m"}}',
      ],
    ],
    benign: [
      ['a chart', 'POST /api/timelion/run', json, '{"sheet":[".es(*).label(\'proto\')"],"time":{"from":"now-15m"}}'],
      ['elsewhere', 'POST /posts', json, '{"t":"__proto__"}'],
    ],
  }),
  definePatch({
    id: 1007423,
    cve: 'CVE-2015-1427',
    title: 'Elasticsearch Groovy scripts escape',
    product: 'Elasticsearch',
    affected: 'before 1.3.8 and 1.4.3',
    cwe: 'CWE-94',
    severity: 'critical',
    phase: 2,
    links: [
      ['REQUEST_FILENAME', r`@rx /_(?:search|update)`, asPath],
      ['ARGS:/script/', r`@rx java\.lang\.|getruntime|class\.forname`, 'lowercase'],
    ],
    attack: [
      [
        'runtime',
        'POST /_search?pretty',
        json,
        '{"size":1,"script_fields":{"x":{"script":"java.lang.Math.class.forName(\\"java.lang.Runtime\\")' +
          '.getRuntime().exec(\\"id\\").getText()"}}}',
      ],
    ],
    benign: [
      ['a script', 'POST /_search', json, '{"script_fields":{"x":{"script":"doc[\'price\'].value * 2"}}}'],
      ['a search for it', 'POST /_search', json, '{"query":{"match":{"text":"java.lang.Runtime"}}}'],
    ],
  }),
  definePatch({
    id: 1007424,
    cve: 'CVE-2023-38646',
    title: 'Metabase set-up runs SQL',
    product: 'Metabase',
    affected: 'before 0.46.6.1',
    cwe: 'CWE-862',
    severity: 'critical',
    phase: 2,
    links: [
      ['REQUEST_FILENAME', '@contains /api/setup/validate', asPath],
      ['ARGS', r`@rx ;\s*(?:init|trace_level_system_out)\s*=|runscript|create\s+trigger`, 'urlDecodeUni,lowercase'],
    ],
    attack: [
      [
        'trigger',
        'POST /api/setup/validate',
        json,
        '{"token":"x","details":{"engine":"h2","details":{"db":"zip:/app/metabase.jar!/sample-database.db;' +
          'MODE=MSSQLServer;TRACE_LEVEL_SYSTEM_OUT=1\\\\;CREATE TRIGGER x"}}}',
      ],
    ],
    benign: [
      [
        'a database',
        'POST /api/setup/validate',
        json,
        '{"token":"x","details":{"engine":"postgres","details":{"host":"db","port":5432}}}',
      ],
      ['elsewhere', 'POST /notes', json, '{"t":"; init = 1"}'],
    ],
  }),
];
