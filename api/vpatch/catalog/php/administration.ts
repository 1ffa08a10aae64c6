// Administration in PHP: phpMyAdmin, Cacti, Zabbix.
import { asPath, type CatalogPatch, definePatch } from '../entry.js';

const r = String.raw;

export const phpAdministrationPatches: readonly CatalogPatch[] = [
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
        'GET /jsrpc.php?type=9&method=screen.get&timestamp=1&profileIdx=web.item.graph&' +
          'profileIdx2=updatexml(0,concat(0xa,user()),0)',
      ],
    ],
    benign: [
      ['a screen', 'GET /jsrpc.php?type=9&method=screen.get&profileIdx=web.item.graph&profileIdx2=200'],
      ['elsewhere', 'GET /x.php?profileIdx2=a'],
    ],
  }),
];
