// Application servers and portals: WebLogic, Tomcat, JBoss, Liferay.
import { asPath, asSent, type CatalogPatch, definePatch, json, xml } from '../entry.js';

const r = String.raw;

export const applicationServerPatches: readonly CatalogPatch[] = [
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
        '<soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/"><soapenv:Header>' +
          '<work:WorkContext xmlns:work="http://bea.com/2004/06/soap/workarea/"><java>' +
          '<void class="java.lang.ProcessBuilder"/></java></work:WorkContext></soapenv:Header>' +
          '</soapenv:Envelope>',
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
        '<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"><e:Header><class>' +
          '<string>oracle.toplink.internal.sessions.UnitOfWorkChangeSet</string></class></e:Header>' +
          '</e:Envelope>',
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
        'columnId=1&name=2&type=3&%2BdefaultData%3Acom.mchange.v2.c3p0.WrapperConnectionPoolDataSource=1&' +
          'defaultData.userOverridesAsString=HexAsciiSerializedMap%3Aaced00%3B',
      ],
    ],
    benign: [
      ['an ordinary call', 'POST /api/jsonws/user/get-user-by-id', {}, 'userId=7'],
      ['a default value', 'POST /api/jsonws/expandocolumn/update-column', {}, 'columnId=1&defaultData=x'],
    ],
  }),
];
