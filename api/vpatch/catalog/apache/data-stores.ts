// Apache ActiveMQ, Druid, HugeGraph, CouchDB: services with a web door of their own.
import { asPath, type CatalogPatch, definePatch, json } from '../entry.js';

const r = String.raw;

export const dataStorePatches: readonly CatalogPatch[] = [
  definePatch({
    id: 1007159,
    cve: 'CVE-2016-3088',
    title: 'ActiveMQ file server accepts uploads',
    product: 'Apache ActiveMQ 5',
    affected: '5.0.0 to 5.13.x',
    cwe: 'CWE-20',
    technique: 'T1505.003',
    severity: 'critical',
    phase: 1,
    links: [
      ['REQUEST_FILENAME', r`@rx ^/fileserver/`, asPath],
      ['REQUEST_METHOD', r`@rx ^(?:PUT|MOVE|COPY|DELETE)$`],
    ],
    attack: [
      ['storing', 'PUT /fileserver/x.txt', {}, 'x'],
      ['moving', 'MOVE /fileserver/x.txt', { Destination: 'file:///opt/activemq/webapps/admin/x.jsp' }],
    ],
    benign: [
      ['reading', 'GET /fileserver/x.txt'],
      ['another store', 'PUT /files/fileserver/x.txt', {}, 'x'],
    ],
  }),
  definePatch({
    id: 1007160,
    cve: 'CVE-2021-25646',
    title: 'Druid runs JavaScript of a sampler',
    product: 'Apache Druid',
    affected: '0.20.0 and older',
    cwe: 'CWE-732',
    severity: 'high',
    phase: 2,
    links: [
      ['REQUEST_FILENAME', '@contains /druid/indexer/v1/sampler', asPath],
      ['ARGS', r`@rx java\.(?:lang|io|util)\.|getruntime|processbuilder`, 'lowercase'],
    ],
    attack: [
      [
        'function in a filter',
        'POST /druid/indexer/v1/sampler',
        json,
        '{"type":"index","spec":{"dataSchema":{"transformSpec":{"filter":' +
          '{"type":"javascript","dimension":"added","function":"function(v){java.lang.Runtime.getRuntime()' +
          '.exec(\'id\')}","":{"enabled":true}}}}}}',
      ],
    ],
    benign: [
      [
        'an ordinary sample',
        'POST /druid/indexer/v1/sampler',
        json,
        '{"type":"index","spec":{"ioConfig":{"type":"index","inputSource":{"type":"inline","data":"a,b"}}}}',
      ],
      ['the text elsewhere', 'POST /druid/v2/sql', json, '{"query":"select \'java.lang.String\'"}'],
    ],
  }),
  definePatch({
    id: 1007162,
    cve: 'CVE-2024-27348',
    title: 'HugeGraph Gremlin escapes its sandbox',
    product: 'Apache HugeGraph Server',
    affected: '1.0.0 to 1.2.x',
    cwe: 'CWE-284',
    severity: 'critical',
    phase: 2,
    links: [
      ['REQUEST_FILENAME', r`@rx /gremlin$`, asPath],
      ['ARGS', r`@rx thread\.currentthread|java\.lang\.(?:runtime|processbuilder|reflect)|class\.forname`, 'lowercase'],
    ],
    attack: [
      [
        'reflection',
        'POST /gremlin',
        json,
        '{"gremlin":"Thread thread = Thread.currentThread();Class clz = ' +
          'Class.forName(\\"java.lang.Thread\\");","bindings":{},"language":"gremlin-groovy","aliases":{}}',
      ],
    ],
    benign: [
      ['a traversal', 'POST /gremlin', json, '{"gremlin":"hugegraph.traversal().V().limit(3)"}'],
      ['the text elsewhere', 'POST /posts', json, '{"t":"Class.forName"}'],
    ],
  }),
  definePatch({
    id: 1007164,
    cve: 'CVE-2017-12635',
    title: 'CouchDB takes roles that are named twice',
    product: 'Apache CouchDB',
    affected: 'before 1.7.0 and 2.1.1',
    cwe: 'CWE-269',
    technique: 'T1068',
    severity: 'critical',
    phase: 2,
    links: [
      ['REQUEST_FILENAME', '@contains /_users/', asPath],
      ['FULL_REQUEST', r`@rx (?s)\x22roles\x22\s*:.*\x22roles\x22\s*:`],
    ],
    attack: [
      [
        'two lists of roles',
        'PUT /_users/org.couchdb.user:x',
        json,
        '{"type":"user","name":"x","roles":["_admin"],"roles":[],"password":"x"}',
      ],
    ],
    benign: [
      [
        'a new user',
        'PUT /_users/org.couchdb.user:x',
        json,
        '{"type":"user","name":"x","roles":[],"password":"roles"}',
      ],
      ['elsewhere', 'PUT /db/doc', json, '{"roles":[],"x":{"roles":[]}}'],
    ],
  }),
];
