// WordPress and plugins.
import { asPath, asSent, definePatch, type CatalogPatch } from './entry.js';

const json = { 'Content-Type': 'application/json' };
const r = String.raw;

export const wordpressPatches: readonly CatalogPatch[] = [
  definePatch({
    id: 1007251, cve: 'CVE-2017-1001000', title: 'WordPress REST edits posts without permission', product: 'WordPress', affected: '4.7.0, 4.7.1', cwe: 'CWE-284', severity: 'high', phase: 2,
    links: [['REQUEST_FILENAME|ARGS:rest_route', r`@rx /wp/v2/posts/\d+`, asPath], ['ARGS:id', r`!@rx ^\d*$`]],
    attack: [['letters behind the number', 'POST /wp-json/wp/v2/posts/1?id=1abc', json, '{"content":"x"}']],
    benign: [['an edit', 'POST /wp-json/wp/v2/posts/1', json, '{"id":1,"content":"x"}'], ['another path', 'GET /shop?id=1abc']],
  }),
  definePatch({
    id: 1007252, cve: 'CVE-2020-25213', title: 'WP File Manager connector without login', product: 'WordPress plugin File Manager', affected: '6.0 to 6.8', cwe: 'CWE-434', technique: 'T1505.003', severity: 'critical', phase: 1,
    links: [['REQUEST_FILENAME', r`@rx /wp-file-manager/lib/php/connector\.minimal\.php`, asPath]],
    attack: [['upload', 'POST /wp-content/plugins/wp-file-manager/lib/php/connector.minimal.php', {}, 'cmd=mkfile&target=l1_Lw&name=x.php']],
    benign: [['a style sheet', 'GET /wp-content/plugins/wp-file-manager/lib/css/elfinder.min.css'], ['a search', 'GET /?s=connector.minimal.php']],
  }),
  definePatch({
    id: 1007253, cve: 'CVE-2019-8942', title: 'WordPress attachment path from a form', product: 'WordPress', affected: 'before 4.9.9 and 5.0.1', cwe: 'CWE-434', severity: 'high', phase: 2,
    links: [['ARGS_NAMES', r`@rx ^meta_input\[_wp_attached_file\]`, 'urlDecodeUni,lowercase']],
    attack: [['changing the file', 'POST /wp-admin/post.php', {}, 'action=editpost&meta_input%5B_wp_attached_file%5D=2019/02/x.jpg%3F/../../themes/a/x.jpg']],
    benign: [['other meta data', 'POST /wp-admin/post.php', {}, 'action=editpost&meta_input%5Bcolour%5D=red'], ['the name as value', 'POST /wp-admin/post.php', {}, 'content=meta_input%5B_wp_attached_file%5D']],
  }),
  definePatch({
    id: 1007254, cve: 'CVE-2021-24762', title: 'Perfect Survey SQL injection', product: 'WordPress plugin Perfect Survey', affected: 'before 1.5.2', cwe: 'CWE-89', severity: 'critical', phase: 2,
    links: [['ARGS:action', '@streq get_question'], ['ARGS:question_id', r`!@rx ^\d*$`]],
    attack: [['union', 'GET /wp-admin/admin-ajax.php?action=get_question&question_id=1+union+select+1,2']],
    benign: [['a question', 'GET /wp-admin/admin-ajax.php?action=get_question&question_id=7'], ['another action', 'GET /wp-admin/admin-ajax.php?action=get_answer&question_id=a']],
  }),
  definePatch({
    id: 1007255, cve: 'CVE-2023-28121', title: 'WooCommerce Payments trusts a user header', product: 'WordPress plugin WooCommerce Payments', affected: '4.8.0 to 5.6.1', cwe: 'CWE-287', severity: 'critical', phase: 1,
    links: [['&REQUEST_HEADERS:X-WCPAY-PLATFORM-CHECKOUT-USER', '@gt 0']],
    attack: [['acting as user 1', 'POST /wp-json/wp/v2/users', { 'X-Wcpay-Platform-Checkout-User': '1', ...json }, '{"username":"x"}']],
    benign: [['without it', 'POST /wp-json/wp/v2/users', json, '{"username":"x"}'], ['another header', 'GET /', { 'X-Wcpay-Platform': '1' }]],
  }),
  definePatch({
    id: 1007256, cve: 'CVE-2024-27956', title: 'WP Automatic runs SQL from a form', product: 'WordPress plugin WP Automatic', affected: 'before 3.92.1', cwe: 'CWE-89', severity: 'critical', phase: 1,
    links: [['REQUEST_FILENAME', r`@rx /wp-automatic/inc/csv\.php`, asPath]],
    attack: [['a query', 'POST /wp-content/plugins/wp-automatic/inc/csv.php', {}, 'q=SELECT+1&auth=%00&integ=x']],
    benign: [['a script of it', 'GET /wp-content/plugins/wp-automatic/js/main.js'], ['a file', 'GET /downloads/inc/csv.php.txt']],
  }),
  definePatch({
    id: 1007257, cve: 'CVE-2023-6553', title: 'Backup Migration includes a path from a header', product: 'WordPress plugin Backup Migration', affected: '1.3.7 and older', cwe: 'CWE-94', severity: 'critical', phase: 1,
    links: [['REQUEST_FILENAME', r`@rx /backup-backup/includes/backup-heart\.php`, asPath], ['&REQUEST_HEADERS:Content-Dir', '@gt 0']],
    attack: [['filter chain', 'POST /wp-content/plugins/backup-backup/includes/backup-heart.php', { 'Content-Dir': 'php://filter/convert.base64-encode/resource=x' }]],
    benign: [['without the header', 'GET /wp-content/plugins/backup-backup/includes/backup-heart.php'], ['the header elsewhere', 'GET /', { 'Content-Dir': '/a' }]],
  }),
  definePatch({
    id: 1007258, cve: 'CVE-2018-7422', title: 'Site Editor includes any file', product: 'WordPress plugin Site Editor', affected: '1.1.1 and older', cwe: 'CWE-22', technique: 'T1083', severity: 'high', phase: 2,
    links: [['REQUEST_FILENAME', '@contains ajax_shortcode_pattern.php', asPath], ['ARGS:ajax_path', r`@rx ^/|\.\.|:`]],
    attack: [['absolute path', 'GET /wp-content/plugins/site-editor/editor/extensions/pagebuilder/includes/ajax_shortcode_pattern.php?ajax_path=/etc/passwd']],
    benign: [['a pattern', 'GET /wp-content/plugins/site-editor/editor/extensions/pagebuilder/includes/ajax_shortcode_pattern.php?ajax_path=row.php'], ['elsewhere', 'GET /x.php?ajax_path=/etc/x']],
  }),
  definePatch({
    id: 1007259, cve: 'CVE-2024-10924', title: 'Really Simple Security skips the second factor', product: 'WordPress plugin Really Simple Security', affected: '9.0.0 to 9.1.1.1', cwe: 'CWE-288', severity: 'critical', phase: 2,
    links: [['REQUEST_FILENAME|ARGS:rest_route', '@contains /reallysimplessl/v1/two_fa/skip_onboarding', asPath]],
    attack: [['skipping for another user', 'POST /?rest_route=/reallysimplessl/v1/two_fa/skip_onboarding', json, '{"user_id":1,"login_nonce":"x","redirect_to":"/wp-admin/"}'], ['by path', 'POST /wp-json/reallysimplessl/v1/two_fa/skip_onboarding', json, '{"user_id":1}']],
    benign: [['another route', 'GET /wp-json/reallysimplessl/v1/tests'], ['a page', 'GET /skip_onboarding']],
  }),
  definePatch({
    id: 1007260, cve: 'CVE-2024-25600', title: 'Bricks Builder runs code of a query', product: 'WordPress theme Bricks', affected: '1.9.6 and older', cwe: 'CWE-94', severity: 'critical', phase: 2,
    links: [['REQUEST_FILENAME|ARGS:rest_route', '@contains /bricks/v1/render_element', asPath], ['ARGS_NAMES', r`@rx queryeditor|(?:^|\.)code$`, 'lowercase']],
    attack: [['code in the query editor', 'POST /wp-json/bricks/v1/render_element', json, '{"postId":"1","nonce":"x","element":{"name":"container","settings":{"hasLoop":"true","query":{"useQueryEditor":true,"queryEditor":"throw new Exception(1);","objectType":"post"}}}}']],
    benign: [['a heading', 'POST /wp-json/bricks/v1/render_element', json, '{"postId":"1","element":{"name":"heading","settings":{"text":"Hi"}}}'], ['elsewhere', 'POST /wp-json/x', json, '{"queryEditor":"a"}']],
  }),
  definePatch({
    id: 1007261, cve: 'CVE-2014-9734', title: 'Slider Revolution serves any file', product: 'WordPress plugin Slider Revolution', affected: 'before 4.2', cwe: 'CWE-22', technique: 'T1083', severity: 'high', phase: 2,
    links: [['ARGS:action', '@streq revslider_show_image'], ['ARGS:img', r`@rx \.\.|\.php|^/`, 'urlDecodeUni,lowercase']],
    attack: [['configuration', 'GET /wp-admin/admin-ajax.php?action=revslider_show_image&img=../wp-config.php']],
    benign: [['a picture', 'GET /wp-admin/admin-ajax.php?action=revslider_show_image&img=slides/one.jpg'], ['another action', 'GET /wp-admin/admin-ajax.php?action=show&img=../x']],
  }),
  definePatch({
    id: 1007262, cve: 'CVE-2022-0739', title: 'BookingPress SQL injection', product: 'WordPress plugin BookingPress', affected: 'before 1.0.11', cwe: 'CWE-89', severity: 'critical', phase: 2,
    links: [['ARGS:action', '@streq bookingpress_front_get_category_services'], ['ARGS:total_service', r`@rx [()'\x22#]|--|\bunion\b|\bselect\b`, 'urlDecodeUni,lowercase']],
    attack: [['union', 'POST /wp-admin/admin-ajax.php', {}, 'action=bookingpress_front_get_category_services&_wpnonce=x&category_id=33&total_service=-7502)+UNION+ALL+SELECT+1,2--+-']],
    benign: [['a list', 'POST /wp-admin/admin-ajax.php', {}, 'action=bookingpress_front_get_category_services&category_id=1&total_service=1,2'], ['another action', 'POST /wp-admin/admin-ajax.php', {}, 'action=search&total_service=(a)']],
  }),
  definePatch({
    id: 1007263, cve: 'CVE-2023-3460', title: 'Ultimate Member grants roles from a form', product: 'WordPress plugin Ultimate Member', affected: '2.6.6 and older', cwe: 'CWE-269', technique: 'T1136', severity: 'critical', phase: 2,
    links: [['ARGS_NAMES', r`@rx wp_c.{1,3}pabilities`, 'urlDecodeUni,lowercase']],
    attack: [['accented name', 'POST /register/', {}, 'user_login=x&wp_c%C3%A0pabilities%5Badministrator%5D=1'], ['plain name', 'POST /register/', {}, 'wp_capabilities%5Badministrator%5D=1']],
    benign: [['a registration', 'POST /register/', {}, 'user_login=x&first_name=Capabilities'], ['the name as value', 'POST /posts', {}, 'text=wp_capabilities']],
  }),
  definePatch({
    id: 1007264, cve: 'CVE-2021-25003', title: 'WPCargo writes a file of any name', product: 'WordPress plugin WPCargo Track & Trace', affected: 'before 6.9.0', cwe: 'CWE-434', technique: 'T1505.003', severity: 'critical', phase: 2,
    links: [['REQUEST_FILENAME', r`@rx /wpcargo/includes/(?:[^/]+/)*barcode\.php`, asPath], ['ARGS:filepath', r`@rx \.ph|\.\.`, asSent]],
    attack: [['a script', 'GET /wp-content/plugins/wpcargo/includes/barcode.php?text=x&sizefactor=.09&size=1&filepath=../../../x.php']],
    benign: [['a bar code', 'GET /wp-content/plugins/wpcargo/includes/barcode.php?text=123&filepath=123.png'], ['elsewhere', 'GET /barcode.php?filepath=x.php']],
  }),
];
