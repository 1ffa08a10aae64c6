import t from 'tap';
import { resolveProxyConfig } from '#proxy/contract';
import { toProxyConfig } from '../change/steps/proxy-config.js';
import { enforcedNames } from './enforced.js';
import { readSettingsFile } from './import-file.js';
import { findNotEnforced } from './not-enforced.js';

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
  const taken = readSettingsFile(file);
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
  const upstreams = { customer: 'http://127.0.0.1:1', payment: 'http://127.0.0.1:2' };
  const local = resolveProxyConfig(JSON.parse(file), upstreams).config;
  t.ok(local);
  t.same(
    toProxyConfig(settings, upstreams),
    { config: local, problems: [] },
    'the data plane gets from the control plane what it had from the file',
  );
  t.same(findNotEnforced(settings, enforcedNames), []);
});

t.test('a rule means there what it meant in the file, also by what it leaves out', async (t) => {
  const taken = readSettingsFile(
    JSON.stringify({
      custom_rules: [
        { id: 1000001, text: 'SecAction "id:1000001,phase:1,pass,nolog"' },
        { id: 1000002, variable: 'ARGS:x', operator: 'contains', value: 'y' },
      ],
    }),
  );
  t.match(taken, {
    kind: 'fine',
    settings: {
      custom_rules: [
        { kind: 'raw', seclang: /SecAction/ },
        { kind: 'visual', action: 'log', phase: 2 },
      ],
    },
  });
});

t.test('what cannot be taken over is named, never dropped', async (t) => {
  const rows: [string, string, string][] = [
    ['no JSON', '{', ''],
    ['no object', '[]', ''],
    ['a limit out of range', '{"limits":{"request_body_bytes_max":1}}', '/limits/request_body_bytes_max'],
    ['an unknown limit', '{"limits":{"body":1}}', '/limits/body'],
    ['a waiting time', '{"mode":"On","timeouts":{"drain_ms":1}}', '/timeouts/drain_ms'],
    ['a field without a counterpart', '{"log_level":"info"}', '/log_level'],
    ['a typing error', '{"paranoia":2}', '/paranoia'],
    ['a wrong value', '{"mode":"Maybe"}', '/mode'],
    [
      'a transformation',
      '{"custom_rules":[{"id":1000001,"name":"x","transformations":["lowercase"]}]}',
      '/custom_rules/0/transformations',
    ],
  ];
  for (const [what, text, path] of rows) {
    const checked = readSettingsFile(text);
    t.equal(checked.kind === 'refused' ? checked.problems[0]?.path : 'fine', path, what);
  }
});
