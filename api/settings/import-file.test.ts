import t from 'tap';
import { readSettingsFile } from './import-file.js';

t.test('what a local settings file says, in the settings of the control plane', async (t) => {
  const taken = readSettingsFile(JSON.stringify({
    mode: 'DetectionOnly', paranoia_level: 2, inbound_threshold: 7, outbound_threshold: 4, sites: [{ name: 'shop', prefix: '/', upstream: 'http://127.0.0.1:3000', protected: true }],
    categories: { sqli: { enabled: true, excluded_paths: ['/editor'] }, php: { enabled: false } },
    custom_rules: [{ id: 1000001, name: '', kind: 'raw', text: 'SecAction "id:1000001,phase:1,pass,nolog"' }, { id: 1000002, name: 'v', variable: 'ARGS:x', operator: 'contains', value: 'y', action: 'block', phase: 2, transformations: [], redirect_url: '' }],
    limits: {},
  }));
  t.equal(taken.kind, 'fine', JSON.stringify(taken));
  if (taken.kind !== 'fine') return;
  const { settings } = taken;
  t.match(settings, { mode: 'DetectionOnly', paranoia_level: 2, inbound_threshold: 7, sites: [{ name: 'shop', host: null }], custom_rules: [{ id: 1000001, name: 'rule 1000001', seclang: /SecAction/ }, { id: 1000002, kind: 'visual' }] });
  t.same(settings.categories.sqli, { enabled: true, path_exclusions: ['/editor'] });
  t.equal(settings.categories.php.enabled, false);
  t.equal(settings.categories.xss.enabled, true);
});

t.test('what cannot be taken over is named, never dropped', async (t) => {
  const rows: [string, string, string][] = [
    ['no JSON', '{', ''], ['no object', '[]', ''], ['limits', '{"limits":{"request_body_bytes_max":1}}', '/limits'], ['timeouts', '{"mode":"On","timeouts":{"drain_ms":1}}', '/timeouts'], ['a typing error', '{"paranoia":2}', '/paranoia'],
    ['a wrong value', '{"mode":"Maybe"}', '/mode'], ['a transformation', '{"custom_rules":[{"id":1000001,"name":"x","transformations":["lowercase"]}]}', '/custom_rules/0/transformations'],
  ];
  for (const [what, text, path] of rows) {
    const checked = readSettingsFile(text);
    t.equal(checked.kind === 'refused' ? checked.problems[0]?.path : 'fine', path, what);
  }
});
