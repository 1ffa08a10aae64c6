// Apache projects with a web door of their own, and the HTTP server.
import { asPath, asSent, definePatch, type CatalogPatch } from './entry.js';

const json = { 'Content-Type': 'application/json' };
const xml = { 'Content-Type': 'text/xml' };
const r = String.raw;

export const apachePatches: readonly CatalogPatch[] = [
  definePatch({
    id: 1007151,
    cve: 'CVE-2021-41773',
    title: 'Apache httpd path traversal',
    product: 'Apache HTTP Server',
    affected: '2.4.49',
    cwe: 'CWE-22',
    severity: 'high',
    phase: 1,
    links: [['REQUEST_URI_RAW', r`@rx ^[^?]*/(?:\.%2e|%2e\.|%2e%2e)/`, 'lowercase']],
    attack: [
      ['through cgi-bin', 'POST /cgi-bin/.%2e/.%2e/.%2e/.%2e/bin/sh', {}, 'echo;id'],
      ['through icons', 'GET /icons/%2e%2e/%2e%2e/etc/passwd'],
    ],
    benign: [
      ['an encoded dot in a name', 'GET /files/report%2epdf'],
      ['in the query', 'GET /go?to=/a/%2e%2e/b'],
      ['a hidden folder', 'GET /%2ewell-known/x'],
    ],
  }),
  definePatch({
    id: 1007152,
    cve: 'CVE-2021-42013',
    title: 'Apache httpd path traversal, doubly encoded',
    product: 'Apache HTTP Server',
    affected: '2.4.49, 2.4.50',
    cwe: 'CWE-22',
    severity: 'critical',
    phase: 1,
    links: [['REQUEST_URI_RAW', r`@rx ^[^?]*(?:%%32(?:%65|e)|%2%65|%%32%%36)`, 'lowercase']],
    attack: [
      ['doubly encoded dots', 'GET /cgi-bin/.%%32%65/.%%32%65/.%%32%65/etc/passwd'],
      ['half encoded', 'GET /icons/.%2%65/etc/passwd'],
    ],
    benign: [
      ['an encoded percent sign', 'GET /sale/50%25-off'],
      ['digits behind it', 'GET /sale/%2532-items'],
      ['in the query', 'GET /x?q=%%32%65'],
    ],
  }),
  definePatch({
    id: 1007153,
    cve: 'CVE-2021-40438',
    title: 'Apache httpd mod_proxy forwards to any origin',
    product: 'Apache HTTP Server',
    affected: '2.4.17 to 2.4.48',
    cwe: 'CWE-918',
    severity: 'critical',
    phase: 1,
    links: [['REQUEST_URI_RAW', r`@rx unix:[^|]*\|(?:https?|ajp|fcgi|wss?|h2c?)://`, asSent]],
    attack: [['long socket name', `GET /?unix:${'A'.repeat(600)}|http://169.254.169.254/latest/meta-data/`]],
    benign: [
      ['a list', 'GET /search?os=unix:all|linux'],
      ['an address', 'GET /go?to=http://unix.example/a'],
    ],
  }),
  definePatch({
    id: 1007154,
    cve: 'CVE-2019-17558',
    title: 'Solr Velocity template from parameters',
    product: 'Apache Solr',
    affected: '5.0.0 to 8.3.1',
    cwe: 'CWE-74',
    severity: 'high',
    phase: 2,
    links: [
      [
        'ARGS_NAMES',
        r`@rx ^(?:v\.template\.[a-z0-9_]+|params\.resource\.loader\.enabled)$|params\.resource\.loader\.enabled$`,
        'lowercase',
      ],
    ],
    attack: [
      [
        'template in the query',
        'GET /solr/core/select?q=1&wt=velocity&v.template=custom&v.template.custom=%23set(%24x=%27%27)',
      ],
      [
        'enabling it',
        'POST /solr/core/config',
        json,
        '{"update-queryresponsewriter":{"name":"velocity","class":"solr.VelocityResponseWriter","params.resource.loader.enabled":"true"}}',
      ],
    ],
    benign: [
      ['a query', 'GET /solr/core/select?q=*:*&wt=json'],
      ['a stored template', 'GET /solr/core/browse?wt=velocity&v.template=browse'],
    ],
  }),
  definePatch({
    id: 1007155,
    cve: 'CVE-2017-12629',
    title: 'Solr listener runs programs',
    product: 'Apache Solr',
    affected: 'before 7.1',
    cwe: 'CWE-611',
    severity: 'critical',
    phase: 2,
    links: [
      ['REQUEST_FILENAME', '@contains /config', asPath],
      ['ARGS|REQUEST_BODY', '@contains runexecutablelistener', 'lowercase'],
    ],
    attack: [
      [
        'adding a listener',
        'POST /solr/core/config',
        json,
        '{"add-listener":{"event":"postCommit","name":"x","class":"solr.RunExecutableListener","exe":"sh","dir":"/bin/","args":["-c","id"]}}',
      ],
    ],
    benign: [
      [
        'changing a property',
        'POST /solr/core/config',
        json,
        '{"set-property":{"updateHandler.autoCommit.maxTime":15000}}',
      ],
      ['a search for it', 'GET /solr/core/select?q=RunExecutableListener'],
    ],
  }),
  definePatch({
    id: 1007156,
    cve: 'CVE-2023-51467',
    title: 'OFBiz login bypass',
    product: 'Apache OFBiz',
    affected: 'before 18.12.11',
    cwe: 'CWE-918',
    severity: 'critical',
    phase: 2,
    links: [
      ['REQUEST_FILENAME', '@contains /control/', 'urlDecodeUni,lowercase'],
      ['ARGS:requirePasswordChange', '@streq y', 'trim,lowercase'],
    ],
    attack: [
      [
        'empty credentials',
        'POST /webtools/control/ProgramExport/?USERNAME=&PASSWORD=&requirePasswordChange=Y',
        {},
        'groovyProgram=x',
      ],
      ['the older way', 'POST /webtools/control/xmlrpc/?USERNAME=&PASSWORD=s&requirePasswordChange=Y', xml, '<a/>'],
    ],
    benign: [
      ['a login', 'POST /webtools/control/login', {}, 'USERNAME=admin&PASSWORD=x'],
      ['no change needed', 'POST /webtools/control/login', {}, 'USERNAME=a&requirePasswordChange=N'],
      ['elsewhere', 'POST /account', {}, 'requirePasswordChange=Y'],
    ],
  }),
  definePatch({
    id: 1007157,
    cve: 'CVE-2024-38856',
    title: 'OFBiz view override without login',
    product: 'Apache OFBiz',
    affected: 'before 18.12.15',
    cwe: 'CWE-863',
    severity: 'critical',
    phase: 1,
    links: [
      [
        'REQUEST_FILENAME',
        r`@rx /control/(?:forgotpassword|main|login|view|showdatetime|testservice|getjsonuilabelarray)/(?:programexport|entitysqlprocessor|xmldsdump|viewdatafile)`,
        asPath,
      ],
    ],
    attack: [
      [
        'through forgotPassword',
        'POST /webtools/control/forgotPassword/ProgramExport',
        {},
        'groovyProgram=throw+new+Exception()',
      ],
      ['through main', 'POST /webtools/control/main/ProgramExport', {}, 'groovyProgram=1'],
    ],
    benign: [
      ['forgotten password', 'GET /webtools/control/forgotPassword'],
      ['the page itself', 'GET /webtools/control/ProgramExport'],
    ],
  }),
  definePatch({
    id: 1007158,
    cve: 'CVE-2020-9496',
    title: 'OFBiz XML-RPC deserialises objects',
    product: 'Apache OFBiz',
    affected: '17.12.03',
    cwe: 'CWE-502',
    severity: 'critical',
    phase: 2,
    links: [
      ['REQUEST_FILENAME', '@contains /control/xmlrpc', asPath],
      ['FULL_REQUEST', r`@rx <(?:[a-z0-9]+:)?serializable\b`, 'lowercase'],
    ],
    attack: [
      [
        'serialised member',
        'POST /webtools/control/xmlrpc',
        xml,
        '<?xml version="1.0"?><methodCall><methodName>x</methodName><params><param><value><struct><member><name>t</name><value><serializable xmlns="http://ws.apache.org/xmlrpc/namespaces/extensions">rO0AB</serializable></value></member></struct></value></param></params></methodCall>',
      ],
    ],
    benign: [
      [
        'a call',
        'POST /webtools/control/xmlrpc',
        xml,
        '<methodCall><methodName>ping</methodName><params><param><value><string>serializable</string></value></param></params></methodCall>',
      ],
      ['the element elsewhere', 'POST /feeds', xml, '<serializable/>'],
    ],
  }),
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
        '{"type":"index","spec":{"dataSchema":{"transformSpec":{"filter":{"type":"javascript","dimension":"added","function":"function(v){java.lang.Runtime.getRuntime().exec(\'id\')}","":{"enabled":true}}}}}}',
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
        '{"headers":{"X-Real-IP":"127.0.0.1"},"timeout":1500,"pipeline":[{"method":"PUT","path":"/apisix/admin/routes/index?api_key=x","body":"{}"}]}',
      ],
    ],
    benign: [
      ['a batch', 'POST /apisix/batch-requests', json, '{"timeout":500,"pipeline":[{"path":"/b"},{"path":"/c"}]}'],
      ['the text elsewhere', 'POST /notes', json, '{"t":"/apisix/admin"}'],
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
        '{"gremlin":"Thread thread = Thread.currentThread();Class clz = Class.forName(\\"java.lang.Thread\\");","bindings":{},"language":"gremlin-groovy","aliases":{}}',
      ],
    ],
    benign: [
      ['a traversal', 'POST /gremlin', json, '{"gremlin":"hugegraph.traversal().V().limit(3)"}'],
      ['the text elsewhere', 'POST /posts', json, '{"t":"Class.forName"}'],
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
