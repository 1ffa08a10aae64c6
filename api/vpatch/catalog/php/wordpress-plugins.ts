// Plugins of WordPress.
import { asPath, asSent, type CatalogPatch, definePatch } from '../entry.js';

const r = String.raw;

export const wordpressPluginPatches: readonly CatalogPatch[] = [
  definePatch({
    id: 1007252,
    cve: 'CVE-2020-25213',
    title: 'WP File Manager connector without login',
    product: 'WordPress plugin File Manager',
    affected: '6.0 to 6.8',
    cwe: 'CWE-434',
    technique: 'T1505.003',
    severity: 'critical',
    phase: 1,
    links: [['REQUEST_FILENAME', r`@rx /wp-file-manager/lib/php/connector\.minimal\.php`, asPath]],
    attack: [
      [
        'upload',
        'POST /wp-content/plugins/wp-file-manager/lib/php/connector.minimal.php',
        {},
        'cmd=mkfile&target=l1_Lw&name=x.php',
      ],
    ],
    benign: [
      ['a style sheet', 'GET /wp-content/plugins/wp-file-manager/lib/css/elfinder.min.css'],
      ['a search', 'GET /?s=connector.minimal.php'],
    ],
  }),
  definePatch({
    id: 1007254,
    cve: 'CVE-2021-24762',
    title: 'Perfect Survey SQL injection',
    product: 'WordPress plugin Perfect Survey',
    affected: 'before 1.5.2',
    cwe: 'CWE-89',
    severity: 'critical',
    phase: 2,
    links: [
      ['ARGS:action', '@streq get_question'],
      ['ARGS:question_id', r`!@rx ^\d*$`],
    ],
    attack: [['union', 'GET /wp-admin/admin-ajax.php?action=get_question&question_id=1+union+select+1,2']],
    benign: [
      ['a question', 'GET /wp-admin/admin-ajax.php?action=get_question&question_id=7'],
      ['another action', 'GET /wp-admin/admin-ajax.php?action=get_answer&question_id=a'],
    ],
  }),
  definePatch({
    id: 1007256,
    cve: 'CVE-2024-27956',
    title: 'WP Automatic runs SQL from a form',
    product: 'WordPress plugin WP Automatic',
    affected: 'before 3.92.1',
    cwe: 'CWE-89',
    severity: 'critical',
    phase: 1,
    links: [['REQUEST_FILENAME', r`@rx /wp-automatic/inc/csv\.php`, asPath]],
    attack: [['a query', 'POST /wp-content/plugins/wp-automatic/inc/csv.php', {}, 'q=SELECT+1&auth=%00&integ=x']],
    benign: [
      ['a script of it', 'GET /wp-content/plugins/wp-automatic/js/main.js'],
      ['a file', 'GET /downloads/inc/csv.php.txt'],
    ],
  }),
  definePatch({
    id: 1007257,
    cve: 'CVE-2023-6553',
    title: 'Backup Migration includes a path from a header',
    product: 'WordPress plugin Backup Migration',
    affected: '1.3.7 and older',
    cwe: 'CWE-94',
    severity: 'critical',
    phase: 1,
    links: [
      ['REQUEST_FILENAME', r`@rx /backup-backup/includes/backup-heart\.php`, asPath],
      ['&REQUEST_HEADERS:Content-Dir', '@gt 0'],
    ],
    attack: [
      [
        'filter chain',
        'POST /wp-content/plugins/backup-backup/includes/backup-heart.php',
        { 'Content-Dir': 'php://filter/convert.base64-encode/resource=x' },
      ],
    ],
    benign: [
      ['without the header', 'GET /wp-content/plugins/backup-backup/includes/backup-heart.php'],
      ['the header elsewhere', 'GET /', { 'Content-Dir': '/a' }],
    ],
  }),
  definePatch({
    id: 1007258,
    cve: 'CVE-2018-7422',
    title: 'Site Editor includes any file',
    product: 'WordPress plugin Site Editor',
    affected: '1.1.1 and older',
    cwe: 'CWE-22',
    technique: 'T1083',
    severity: 'high',
    phase: 2,
    links: [
      ['REQUEST_FILENAME', '@contains ajax_shortcode_pattern.php', asPath],
      ['ARGS:ajax_path', r`@rx ^/|\.\.|:`],
    ],
    attack: [
      [
        'absolute path',
        'GET /wp-content/plugins/site-editor/editor/extensions/pagebuilder/includes/' +
          'ajax_shortcode_pattern.php?ajax_path=/etc/passwd',
      ],
    ],
    benign: [
      [
        'a pattern',
        'GET /wp-content/plugins/site-editor/editor/extensions/pagebuilder/includes/' +
          'ajax_shortcode_pattern.php?ajax_path=row.php',
      ],
      ['elsewhere', 'GET /x.php?ajax_path=/etc/x'],
    ],
  }),
  definePatch({
    id: 1007261,
    cve: 'CVE-2014-9734',
    title: 'Slider Revolution serves any file',
    product: 'WordPress plugin Slider Revolution',
    affected: 'before 4.2',
    cwe: 'CWE-22',
    technique: 'T1083',
    severity: 'high',
    phase: 2,
    links: [
      ['ARGS:action', '@streq revslider_show_image'],
      ['ARGS:img', r`@rx \.\.|\.php|^/`, 'urlDecodeUni,lowercase'],
    ],
    attack: [['configuration', 'GET /wp-admin/admin-ajax.php?action=revslider_show_image&img=../wp-config.php']],
    benign: [
      ['a picture', 'GET /wp-admin/admin-ajax.php?action=revslider_show_image&img=slides/one.jpg'],
      ['another action', 'GET /wp-admin/admin-ajax.php?action=show&img=../x'],
    ],
  }),
  definePatch({
    id: 1007262,
    cve: 'CVE-2022-0739',
    title: 'BookingPress SQL injection',
    product: 'WordPress plugin BookingPress',
    affected: 'before 1.0.11',
    cwe: 'CWE-89',
    severity: 'critical',
    phase: 2,
    links: [
      ['ARGS:action', '@streq bookingpress_front_get_category_services'],
      ['ARGS:total_service', r`@rx [()'\x22#]|--|\bunion\b|\bselect\b`, 'urlDecodeUni,lowercase'],
    ],
    attack: [
      [
        'union',
        'POST /wp-admin/admin-ajax.php',
        {},
        'action=bookingpress_front_get_category_services&_wpnonce=x&category_id=33&' +
          'total_service=-7502)+UNION+ALL+SELECT+1,2--+-',
      ],
    ],
    benign: [
      [
        'a list',
        'POST /wp-admin/admin-ajax.php',
        {},
        'action=bookingpress_front_get_category_services&category_id=1&total_service=1,2',
      ],
      ['another action', 'POST /wp-admin/admin-ajax.php', {}, 'action=search&total_service=(a)'],
    ],
  }),
  definePatch({
    id: 1007264,
    cve: 'CVE-2021-25003',
    title: 'WPCargo writes a file of any name',
    product: 'WordPress plugin WPCargo Track & Trace',
    affected: 'before 6.9.0',
    cwe: 'CWE-434',
    technique: 'T1505.003',
    severity: 'critical',
    phase: 2,
    links: [
      ['REQUEST_FILENAME', r`@rx /wpcargo/includes/(?:[^/]+/)*barcode\.php`, asPath],
      ['ARGS:filepath', r`@rx \.ph|\.\.`, asSent],
    ],
    attack: [
      [
        'a script',
        'GET /wp-content/plugins/wpcargo/includes/barcode.php?text=x&sizefactor=.09&size=1&filepath=../../../x.php',
      ],
    ],
    benign: [
      ['a bar code', 'GET /wp-content/plugins/wpcargo/includes/barcode.php?text=123&filepath=123.png'],
      ['elsewhere', 'GET /barcode.php?filepath=x.php'],
    ],
  }),
];
