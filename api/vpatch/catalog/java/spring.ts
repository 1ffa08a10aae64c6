// Spring.
import { asPath, type CatalogPatch, definePatch, json } from '../entry.js';

const r = String.raw;

export const springPatches: readonly CatalogPatch[] = [
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
        '{"id":"new","filters":[{"name":"AddResponseHeader","args":' +
          '{"name":"R","value":"#{T(java.lang.Runtime).getRuntime().exec(\'id\')}"}}],' +
          '"uri":"http://example.org"}',
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
];
