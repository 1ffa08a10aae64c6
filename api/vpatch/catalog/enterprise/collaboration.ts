// Mail, chat and wikis: Openfire, Zimbra, XWiki.
import { asPath, type CatalogPatch, definePatch, xml } from '../entry.js';

const r = String.raw;

export const collaborationPatches: readonly CatalogPatch[] = [
  definePatch({
    id: 1007425,
    cve: 'CVE-2023-32315',
    title: 'Openfire console path traversal',
    product: 'Ignite Realtime Openfire',
    affected: '3.10.0 to 4.7.4',
    cwe: 'CWE-22',
    severity: 'high',
    phase: 1,
    links: [['REQUEST_URI_RAW', r`@rx ^/setup/setup-[^?]*(?:%u002e|\.\.|%2e%2e)`, 'lowercase']],
    attack: [['wide encoding', 'GET /setup/setup-s/%u002e%u002e/%u002e%u002e/log.jsp']],
    benign: [
      ['set-up', 'GET /setup/setup-host-settings.jsp'],
      ['in the query', 'GET /setup/setup-s/a?x=%u002e%u002e'],
    ],
  }),
  definePatch({
    id: 1007427,
    cve: 'CVE-2022-27925',
    title: 'Zimbra mail box import',
    product: 'Zimbra Collaboration',
    affected: '8.8.15, 9.0',
    cwe: 'CWE-22',
    technique: 'T1505.003',
    severity: 'high',
    phase: 1,
    links: [['REQUEST_FILENAME', '@contains /service/extension/backup/mboximport', asPath]],
    attack: [
      [
        'archive',
        'POST /service/extension/backup/mboximport?account-name=admin&ow=2&no-switch=1&append=1',
        { 'Content-Type': 'application/octet-stream' },
        'PK',
      ],
    ],
    benign: [
      ['web mail', 'GET /service/home/~/?fmt=zip'],
      ['a page', 'GET /mboximport'],
    ],
  }),
  definePatch({
    id: 1007428,
    cve: 'CVE-2019-9670',
    title: 'Zimbra autodiscover resolves entities',
    product: 'Zimbra Collaboration',
    affected: '8.7 before 8.7.11p10',
    cwe: 'CWE-611',
    severity: 'critical',
    phase: 2,
    links: [
      ['REQUEST_FILENAME', r`@rx /autodiscover/autodiscover\.xml`, asPath],
      ['FULL_REQUEST', r`@rx <!\s*(?:doctype|entity)`, 'lowercase'],
    ],
    attack: [
      [
        'entity',
        'POST /Autodiscover/Autodiscover.xml',
        xml,
        '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><Autodiscover><Request>' +
          '<EMailAddress>a</EMailAddress></Request></Autodiscover>',
      ],
    ],
    benign: [
      [
        'discovery',
        'POST /Autodiscover/Autodiscover.xml',
        xml,
        '<Autodiscover><Request><EMailAddress>anna@example.org</EMailAddress></Request></Autodiscover>',
      ],
      ['elsewhere', 'POST /feed', xml, '<!DOCTYPE rss><rss/>'],
    ],
  }),
  definePatch({
    id: 1007442,
    cve: 'CVE-2025-24893',
    title: 'XWiki search runs macros',
    product: 'XWiki',
    affected: '5.3 to 15.10.10, 16.0 to 16.4.0',
    cwe: 'CWE-95',
    severity: 'critical',
    phase: 2,
    links: [
      ['REQUEST_FILENAME', '@contains /solrsearch', asPath],
      ['ARGS:text', r`@rx \{\{/?\s*(?:async|groovy|python|velocity|ruby|script)`, 'urlDecodeUni,lowercase'],
    ],
    attack: [
      [
        'groovy',
        'GET /xwiki/bin/get/Main/SolrSearch?media=rss&text=%7D%7D%7D%7B%7Basync%20async=false%7D%7D%7B%7Bgroo' +
          'vy%7D%7Dprintln(1)%7B%7B/groovy%7D%7D%7B%7B/async%7D%7D',
      ],
    ],
    benign: [
      ['a search', 'GET /xwiki/bin/view/Main/SolrSearch?text=groovy+macro'],
      ['a macro in a page', 'POST /xwiki/bin/save/Sandbox/A', {}, 'content=%7B%7Bvelocity%7D%7D'],
    ],
  }),
];
