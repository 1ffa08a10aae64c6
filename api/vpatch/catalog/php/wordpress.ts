// WordPress and its themes.
import { asPath, type CatalogPatch, definePatch, json } from '../entry.js';

const r = String.raw;

export const wordpressPatches: readonly CatalogPatch[] = [
  definePatch({
    id: 1007251,
    cve: 'CVE-2017-1001000',
    title: 'WordPress REST edits posts without permission',
    product: 'WordPress',
    affected: '4.7.0, 4.7.1',
    cwe: 'CWE-284',
    severity: 'high',
    phase: 2,
    links: [
      ['REQUEST_FILENAME|ARGS:rest_route', r`@rx /wp/v2/posts/\d+`, asPath],
      ['ARGS:id', r`!@rx ^\d*$`],
    ],
    attack: [['letters behind the number', 'POST /wp-json/wp/v2/posts/1?id=1abc', json, '{"content":"x"}']],
    benign: [
      ['an edit', 'POST /wp-json/wp/v2/posts/1', json, '{"id":1,"content":"x"}'],
      ['another path', 'GET /shop?id=1abc'],
    ],
  }),
  definePatch({
    id: 1007253,
    cve: 'CVE-2019-8942',
    title: 'WordPress attachment path from a form',
    product: 'WordPress',
    affected: 'before 4.9.9 and 5.0.1',
    cwe: 'CWE-434',
    severity: 'high',
    phase: 2,
    links: [['ARGS_NAMES', r`@rx ^meta_input\[_wp_attached_file\]`, 'urlDecodeUni,lowercase']],
    attack: [
      [
        'changing the file',
        'POST /wp-admin/post.php',
        {},
        'action=editpost&meta_input%5B_wp_attached_file%5D=2019/02/x.jpg%3F/../../themes/a/x.jpg',
      ],
    ],
    benign: [
      ['other meta data', 'POST /wp-admin/post.php', {}, 'action=editpost&meta_input%5Bcolour%5D=red'],
      ['the name as value', 'POST /wp-admin/post.php', {}, 'content=meta_input%5B_wp_attached_file%5D'],
    ],
  }),
  definePatch({
    id: 1007260,
    cve: 'CVE-2024-25600',
    title: 'Bricks Builder runs code of a query',
    product: 'WordPress theme Bricks',
    affected: '1.9.6 and older',
    cwe: 'CWE-94',
    severity: 'critical',
    phase: 2,
    links: [
      ['REQUEST_FILENAME|ARGS:rest_route', '@contains /bricks/v1/render_element', asPath],
      ['ARGS_NAMES', r`@rx queryeditor|(?:^|\.)code$`, 'lowercase'],
    ],
    attack: [
      [
        'code in the query editor',
        'POST /wp-json/bricks/v1/render_element',
        json,
        '{"postId":"1","nonce":"x","element":{"name":"container","settings":{"hasLoop":"true","query":' +
          '{"useQueryEditor":true,"queryEditor":"throw new Exception(1);","objectType":"post"}}}}',
      ],
    ],
    benign: [
      [
        'a heading',
        'POST /wp-json/bricks/v1/render_element',
        json,
        '{"postId":"1","element":{"name":"heading","settings":{"text":"Hi"}}}',
      ],
      ['elsewhere', 'POST /wp-json/x', json, '{"queryEditor":"a"}'],
    ],
  }),
];
