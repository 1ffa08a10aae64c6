// Content management in PHP: Drupal, Joomla, Craft.
import { asPath, type CatalogPatch, definePatch, json } from '../entry.js';

const r = String.raw;

export const contentManagementPatches: readonly CatalogPatch[] = [
  definePatch({
    id: 1007204,
    cve: 'CVE-2018-7600',
    title: 'Drupal renders arrays from requests',
    product: 'Drupal',
    affected: '6, 7 before 7.58, 8 before 8.5.1',
    cwe: 'CWE-20',
    severity: 'critical',
    phase: 2,
    links: [['ARGS_NAMES', r`@rx (?:^|\[)\s*(?:#|%23)`, 'urlDecodeUni']],
    attack: [
      [
        'post_render in a form',
        'POST /user/register?element_parents=account/mail/%23value&ajax_form=1',
        {},
        'form_id=user_register_form&mail%5B%23post_render%5D%5B%5D=exec&mail%5B%23markup%5D=id',
      ],
    ],
    benign: [
      ['a colour', 'POST /user/register', {}, 'colour=%23fff&mail=a%40example.org'],
      ['brackets', 'POST /node/1', {}, 'field%5Bund%5D%5B0%5D%5Bvalue%5D=%23post_render'],
    ],
  }),
  definePatch({
    id: 1007205,
    cve: 'CVE-2019-6340',
    title: 'Drupal REST unserialises field properties',
    product: 'Drupal',
    affected: '8.5 before 8.5.11, 8.6 before 8.6.10',
    cwe: 'CWE-502',
    severity: 'high',
    phase: 2,
    links: [
      ['ARGS_GET:_format', '@streq hal_json'],
      ['ARGS|REQUEST_BODY', r`@rx [oc]:\d+:\x5c{0,4}\x22[^\x22]+\x22:\d+:`, 'lowercase'],
    ],
    attack: [
      [
        'object in options',
        'POST /node/?_format=hal_json',
        json,
        '{"link":[{"value":"link","options":"O:24:\\"GuzzleHttp\\\\Psr7\\\\FnStream\\":2:{s:1:\\"a\\";i:1;}"}]}',
      ],
    ],
    benign: [
      ['a node', 'POST /node/?_format=hal_json', json, '{"title":[{"value":"O:24 is a bus"}]}'],
      ['another format', 'POST /x?_format=json', json, '{"t":"O:1:\\"A\\":0:{}"}'],
    ],
  }),
  definePatch({
    id: 1007206,
    cve: 'CVE-2014-3704',
    title: 'Drupal SQL injection through array keys',
    product: 'Drupal',
    affected: '7 before 7.32',
    cwe: 'CWE-89',
    severity: 'high',
    phase: 2,
    links: [['ARGS_NAMES', r`@rx ^(?:name|ids?)\[[^\]]*[\s;'(#-]`, 'urlDecodeUni']],
    attack: [
      [
        'a statement in the key',
        'POST /?q=node&destination=node',
        {},
        'name%5B0%20;update+users+set+pass%3D1;%23%5D=a&name%5B0%5D=b&pass=x&form_id=user_login_block',
      ],
    ],
    benign: [
      ['numbered names', 'POST /?q=node', {}, 'name%5B0%5D=a&name%5B1%5D=b'],
      ['a plain name', 'POST /?q=node', {}, "name=O'Neil;+x"],
    ],
  }),
  definePatch({
    id: 1007211,
    cve: 'CVE-2023-23752',
    title: 'Joomla API shows what is not public',
    product: 'Joomla',
    affected: '4.0.0 to 4.2.7',
    cwe: 'CWE-284',
    technique: 'T1552',
    severity: 'medium',
    phase: 1,
    links: [
      ['REQUEST_FILENAME', r`@rx /api/(?:index\.php/)?v1/`, asPath],
      ['ARGS_GET_NAMES', '@streq public'],
    ],
    attack: [
      ['configuration', 'GET /api/index.php/v1/config/application?public=true'],
      ['users', 'GET /api/v1/users?public=true'],
    ],
    benign: [
      ['with a token', 'GET /api/index.php/v1/content/articles?page%5Blimit%5D=5'],
      ['another parameter', 'GET /api/v1/users?publicised=true'],
    ],
  }),
  definePatch({
    id: 1007212,
    cve: 'CVE-2015-8562',
    title: 'Joomla unserialises client headers',
    product: 'Joomla',
    affected: '1.5 to 3.4.5',
    cwe: 'CWE-20',
    severity: 'critical',
    phase: 1,
    links: [
      [
        'REQUEST_HEADERS:User-Agent|REQUEST_HEADERS:X-Forwarded-For',
        r`@rx \}__|[oc]:\d+:\x22[a-z\x5c]+\x22:\d+:\{`,
        'lowercase',
      ],
    ],
    attack: [
      [
        'session object',
        'GET /',
        { 'User-Agent': '}__test|O:21:"JDatabaseDriverMysqli":3:{s:2:"fc";O:17:"JSimplepieFactory":0:{}}' },
      ],
    ],
    benign: [
      [
        'a browser',
        'GET /',
        { 'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0' },
      ],
      ['braces', 'GET /', { 'User-Agent': 'app/1.0 {build:12}' }],
    ],
  }),
  definePatch({
    id: 1007213,
    cve: 'CVE-2017-8917',
    title: 'Joomla SQL injection in the field list',
    product: 'Joomla',
    affected: '3.7.0',
    cwe: 'CWE-89',
    severity: 'critical',
    phase: 2,
    links: [
      ['ARGS:option', '@streq com_fields'],
      ['ARGS:list[fullordering]', r`@rx [(']`],
    ],
    attack: [
      [
        'error-based',
        'GET /index.php?option=com_fields&view=fields&layout=modal&list%5Bfullordering%5D=updatexml(0x3a,' +
          'concat(1,user()),1)',
      ],
    ],
    benign: [
      ['an order', 'GET /index.php?option=com_fields&view=fields&list%5Bfullordering%5D=a.title+ASC'],
      ['another component', 'GET /index.php?option=com_content&list%5Bfullordering%5D=f(x)'],
    ],
  }),
  definePatch({
    id: 1007218,
    cve: 'CVE-2023-41892',
    title: 'Craft CMS creates objects from requests',
    product: 'Craft CMS',
    affected: '4.0.0-RC1 to 4.4.14',
    cwe: 'CWE-94',
    severity: 'critical',
    phase: 2,
    links: [
      ['ARGS:action|REQUEST_FILENAME', r`@rx conditions/render`, 'urlDecodeUni,lowercase'],
      ['ARGS_NAMES|ARGS', r`@rx configobject|\x22as\s`, 'lowercase'],
    ],
    attack: [
      [
        'configuration object',
        'POST /index.php',
        {},
        'action=conditions/render&configObject%5Bclass%5D=craft%5Celements%5Cconditions%5CElementCondition&' +
          'config=%7B%22name%22:%22configObject%22%7D',
      ],
    ],
    benign: [
      ['another action', 'POST /index.php', {}, 'action=users/login&loginName=a'],
      ['a filter', 'POST /index.php', {}, 'action=conditions/render&config=%7B%7D'],
    ],
  }),
];
