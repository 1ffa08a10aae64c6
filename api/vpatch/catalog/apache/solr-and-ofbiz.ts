// Apache Solr and OFBiz.
import { asPath, type CatalogPatch, definePatch, json, xml } from '../entry.js';

const r = String.raw;

export const solrAndOfbizPatches: readonly CatalogPatch[] = [
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
        '{"update-queryresponsewriter":{"name":"velocity","class":"solr.VelocityResponseWriter",' +
          '"params.resource.loader.enabled":"true"}}',
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
        '{"add-listener":{"event":"postCommit","name":"x","class":"solr.RunExecutableListener","exe":"sh",' +
          '"dir":"/bin/","args":["-c","id"]}}',
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
        r`@rx /control/(?:forgotpassword|main|login|view|showdatetime|testservice|` +
          r`getjsonuilabelarray)/(?:programexport|entitysqlprocessor|xmldsdump|viewdatafile)`,
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
        '<?xml version="1.0"?><methodCall><methodName>x</methodName><params><param><value><struct><member>' +
          '<name>t</name><value><serializable xmlns="http://ws.apache.org/xmlrpc/namespaces/extensions">rO0AB</' +
          'serializable></value></member></struct></value></param></params></methodCall>',
      ],
    ],
    benign: [
      [
        'a call',
        'POST /webtools/control/xmlrpc',
        xml,
        '<methodCall><methodName>ping</methodName><params><param><value><string>serializable</string></value>' +
          '</param></params></methodCall>',
      ],
      ['the element elsewhere', 'POST /feeds', xml, '<serializable/>'],
    ],
  }),
];
