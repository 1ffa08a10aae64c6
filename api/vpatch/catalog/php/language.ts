// PHP itself, and PHPUnit where it was left in production.
import { asPath, type CatalogPatch, definePatch } from '../entry.js';

const r = String.raw;

export const phpLanguagePatches: readonly CatalogPatch[] = [
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
];
