// The local file: same names, same check, old names with a note; and nothing in it is dropped silently.
import t from 'tap';
import { readLocalFile } from './index.js';

t.test('what a local settings file says, in the settings of the control plane', async (t) => {
  const file = JSON.stringify({
    mode: 'DetectionOnly',
    paranoia_level: 2,
    inbound_threshold: 7,
    outbound_threshold: 4,
    sites: [{ name: 'shop', prefix: '/', upstream: 'http://127.0.0.1:3000', protected: true }],
    categories: { sqli: { enabled: true, excluded_paths: ['/editor'] }, php: { enabled: false } },
    custom_rules: [
      { id: 1000001, name: '', kind: 'raw', text: 'SecAction "id:1000001,phase:1,pass,nolog"' },
      {
        id: 1000002,
        name: 'v',
        variable: 'ARGS:x',
        operator: 'contains',
        value: 'y',
        action: 'block',
        phase: 2,
        transformations: [],
        redirect_url: '',
      },
    ],
    limits: { request_body_bytes_max: 1_000_000, request_body_over_limit: 'partial' },
    timeouts: { drain_ms: 2000 },
    accept_request_id: true,
    audit_request_body_bytes_max: 100,
    replay_sampling: { every: 10 },
    privacy_mode: true,
  });
  const taken = readLocalFile(file);
  t.equal(taken.kind, 'fine', JSON.stringify(taken));
  if (taken.kind !== 'fine') return;
  const { settings } = taken;
  t.match(settings, {
    mode: 'DetectionOnly',
    paranoia_level: 2,
    inbound_threshold: 7,
    sites: [{ name: 'shop', host: null }],
    custom_rules: [
      { id: 1000001, name: 'rule 1000001', seclang: /SecAction/ },
      { id: 1000002, kind: 'visual' },
    ],
  });
  t.same(settings.categories.sqli, { enabled: true, path_exclusions: ['/editor'] });
  t.equal(settings.categories.php.enabled, false);
  t.equal(settings.categories.xss.enabled, true);
  t.match(settings, {
    limits: { request_body_bytes_max: 1_000_000, request_body_over_limit: 'partial', uri_bytes_max: 8192 },
    timeouts: { drain_ms: 2000, upstream_head_ms: 60_000 },
  });
  t.same(
    taken.notes.map(({ path }) => path),
    ['/categories/sqli/excluded_paths', '/custom_rules/0/text'],
    'old names are read with a note',
  );
});

t.test('defaults are those of the control plane, and what that changes is said', async (t) => {
  const rules = [
    { id: 1000001, text: 'SecAction "id:1000001,phase:1,pass,nolog"' },
    { id: 1000002, variable: 'ARGS:x', operator: 'contains', value: 'y' },
    {
      id: 1000003,
      name: 'n',
      variable: 'ARGS:x',
      operator: 'contains',
      value: 'y',
      action: 'log',
      transformations: ['lowercase'],
    },
  ];
  const taken = readLocalFile(JSON.stringify({ custom_rules: rules, rl_trusted_proxies: '10.0.0.0/8, 192.0.2.1' }));
  t.match(taken, {
    kind: 'fine',
    settings: {
      custom_rules: [
        { name: 'rule 1000001', kind: 'raw', seclang: /SecAction/ },
        { kind: 'visual', action: 'block', phase: 2 },
        { name: 'n', action: 'log', transformations: ['lowercase'] },
      ],
      rl_trusted_proxies: ['10.0.0.0/8', '192.0.2.1'],
    },
    notes: [
      { path: '/custom_rules/0/text', note: /seclang/ },
      { path: '/rl_trusted_proxies', note: /list/ },
      { path: '/custom_rules/1', note: /"action": "log"/ },
    ],
  });
});

t.test('what cannot be is named, never dropped', async (t) => {
  const rows: [string, string, string, RegExp][] = [
    ['no JSON', '{', '', /not JSON/],
    ['no object', '[]', '', /not an object/],
    ['a limit out of range', '{"limits":{"request_body_bytes_max":1}}', '/limits/request_body_bytes_max', /1024/],
    ['an unknown limit', '{"limits":{"body":1}}', '/limits/body', /uri_bytes_max/],
    ['a waiting time', '{"mode":"On","timeouts":{"drain_ms":1}}', '/timeouts/drain_ms', /10/],
    ['a field that never was', '{"log_level":"info"}', '/log_level', /not a known field/],
    ['a typing error', '{"paranoia_levl":2}', '/paranoia_levl', /paranoia_level/],
    ['a wrong value', '{"mode":"Maybe"}', '/mode', /On, DetectionOnly/],
    ['a site without a name', '{"sites":[{"upstream":"http://a:1"}]}', '/sites/0/name', /missing/],
    ['what the control plane does', '{"mrf_enabled":true}', '/mrf_enabled', /without the control plane/],
    [
      'both names',
      '{"categories":{"xss":{"excluded_paths":[],"path_exclusions":[]}}}',
      '/categories/xss/excluded_paths',
      /known/,
    ],
    [
      'a patch without its rule',
      '{"virtual_patches":[{"id":1007001,"cve":"CVE-2021-44228"}]}',
      '/virtual_patches/0/seclang',
      /catalogue/,
    ],
  ];
  for (const [what, text, path, words] of rows) {
    const taken = readLocalFile(text);
    const found = taken.kind === 'refused' ? taken.problems.find((one) => one.path === path) : undefined;
    t.match(`${found?.reason} ${found?.fix}`, words, `${what}: ${JSON.stringify(taken).slice(0, 200)}`);
  }
});
