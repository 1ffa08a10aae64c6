// Apache Struts.
import { type CatalogPatch, definePatch, xml } from '../entry.js';

const r = String.raw;

export const strutsPatches: readonly CatalogPatch[] = [
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
        r`@rx [%$]\{[^}]{0,300}(?:#(?:application|attr|context|_memberaccess|request|session|parameters|` +
          r`instancemanager)\b|@[a-z.]+@|\bnew\s+java\.)`,
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
        r`@rx <(?:java\.(?:lang\.processbuilder|beans\.|util\.priorityqueue)` +
          r`|javax\.|jdk\.|com\.sun\.|org\.apache\.commons\.|sorted-set|dynamic-proxy)`,
        'lowercase',
      ],
    ],
    attack: [
      [
        'process builder in a map',
        'POST /orders/3',
        xml,
        '<map><entry><jdk.nashorn.internal.objects.NativeString><x class="y"/>' +
          '</jdk.nashorn.internal.objects.NativeString></entry></map>',
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
];
