// Plugins of WordPress for accounts and payments.
import { asPath, type CatalogPatch, definePatch, json } from '../entry.js';

const r = String.raw;

export const wordpressAccountPatches: readonly CatalogPatch[] = [
  definePatch({
    id: 1007255,
    cve: 'CVE-2023-28121',
    title: 'WooCommerce Payments trusts a user header',
    product: 'WordPress plugin WooCommerce Payments',
    affected: '4.8.0 to 5.6.1',
    cwe: 'CWE-287',
    severity: 'critical',
    phase: 1,
    links: [['&REQUEST_HEADERS:X-WCPAY-PLATFORM-CHECKOUT-USER', '@gt 0']],
    attack: [
      [
        'acting as user 1',
        'POST /wp-json/wp/v2/users',
        { 'X-Wcpay-Platform-Checkout-User': '1', ...json },
        '{"username":"x"}',
      ],
    ],
    benign: [
      ['without it', 'POST /wp-json/wp/v2/users', json, '{"username":"x"}'],
      ['another header', 'GET /', { 'X-Wcpay-Platform': '1' }],
    ],
  }),
  definePatch({
    id: 1007259,
    cve: 'CVE-2024-10924',
    title: 'Really Simple Security skips the second factor',
    product: 'WordPress plugin Really Simple Security',
    affected: '9.0.0 to 9.1.1.1',
    cwe: 'CWE-288',
    severity: 'critical',
    phase: 2,
    links: [['REQUEST_FILENAME|ARGS:rest_route', '@contains /reallysimplessl/v1/two_fa/skip_onboarding', asPath]],
    attack: [
      [
        'skipping for another user',
        'POST /?rest_route=/reallysimplessl/v1/two_fa/skip_onboarding',
        json,
        '{"user_id":1,"login_nonce":"x","redirect_to":"/wp-admin/"}',
      ],
      ['by path', 'POST /wp-json/reallysimplessl/v1/two_fa/skip_onboarding', json, '{"user_id":1}'],
    ],
    benign: [
      ['another route', 'GET /wp-json/reallysimplessl/v1/tests'],
      ['a page', 'GET /skip_onboarding'],
    ],
  }),
  definePatch({
    id: 1007263,
    cve: 'CVE-2023-3460',
    title: 'Ultimate Member grants roles from a form',
    product: 'WordPress plugin Ultimate Member',
    affected: '2.6.6 and older',
    cwe: 'CWE-269',
    technique: 'T1136',
    severity: 'critical',
    phase: 2,
    links: [['ARGS_NAMES', r`@rx wp_c.{1,3}pabilities`, 'urlDecodeUni,lowercase']],
    attack: [
      ['accented name', 'POST /register/', {}, 'user_login=x&wp_c%C3%A0pabilities%5Badministrator%5D=1'],
      ['plain name', 'POST /register/', {}, 'wp_capabilities%5Badministrator%5D=1'],
    ],
    benign: [
      ['a registration', 'POST /register/', {}, 'user_login=x&first_name=Capabilities'],
      ['the name as value', 'POST /posts', {}, 'text=wp_capabilities'],
    ],
  }),
];
