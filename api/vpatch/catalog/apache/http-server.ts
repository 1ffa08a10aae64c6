// Apache HTTP Server.
import { asSent, type CatalogPatch, definePatch } from '../entry.js';

const r = String.raw;

export const httpServerPatches: readonly CatalogPatch[] = [
  definePatch({
    id: 1007151,
    cve: 'CVE-2021-41773',
    title: 'Apache httpd path traversal',
    product: 'Apache HTTP Server',
    affected: '2.4.49',
    cwe: 'CWE-22',
    severity: 'high',
    phase: 1,
    links: [['REQUEST_URI_RAW', r`@rx ^[^?]*/(?:\.%2e|%2e\.|%2e%2e)/`, 'lowercase']],
    attack: [
      ['through cgi-bin', 'POST /cgi-bin/.%2e/.%2e/.%2e/.%2e/bin/sh', {}, 'echo;id'],
      ['through icons', 'GET /icons/%2e%2e/%2e%2e/etc/passwd'],
    ],
    benign: [
      ['an encoded dot in a name', 'GET /files/report%2epdf'],
      ['in the query', 'GET /go?to=/a/%2e%2e/b'],
      ['a hidden folder', 'GET /%2ewell-known/x'],
    ],
  }),
  definePatch({
    id: 1007152,
    cve: 'CVE-2021-42013',
    title: 'Apache httpd path traversal, doubly encoded',
    product: 'Apache HTTP Server',
    affected: '2.4.49, 2.4.50',
    cwe: 'CWE-22',
    severity: 'critical',
    phase: 1,
    links: [['REQUEST_URI_RAW', r`@rx ^[^?]*(?:%%32(?:%65|e)|%2%65|%%32%%36)`, 'lowercase']],
    attack: [
      ['doubly encoded dots', 'GET /cgi-bin/.%%32%65/.%%32%65/.%%32%65/etc/passwd'],
      ['half encoded', 'GET /icons/.%2%65/etc/passwd'],
    ],
    benign: [
      ['an encoded percent sign', 'GET /sale/50%25-off'],
      ['digits behind it', 'GET /sale/%2532-items'],
      ['in the query', 'GET /x?q=%%32%65'],
    ],
  }),
  definePatch({
    id: 1007153,
    cve: 'CVE-2021-40438',
    title: 'Apache httpd mod_proxy forwards to any origin',
    product: 'Apache HTTP Server',
    affected: '2.4.17 to 2.4.48',
    cwe: 'CWE-918',
    severity: 'critical',
    phase: 1,
    links: [['REQUEST_URI_RAW', r`@rx unix:[^|]*\|(?:https?|ajp|fcgi|wss?|h2c?)://`, asSent]],
    attack: [['long socket name', `GET /?unix:${'A'.repeat(600)}|http://169.254.169.254/latest/meta-data/`]],
    benign: [
      ['a list', 'GET /search?os=unix:all|linux'],
      ['an address', 'GET /go?to=http://unix.example/a'],
    ],
  }),
];
