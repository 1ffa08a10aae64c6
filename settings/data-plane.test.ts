// What a node gets is made from the table: by name, with defaults, and the door's schema fits it.
import t from 'tap';
import { createDoorCheck, dataPlaneDefaults, dataPlaneProperties, defaultSettings, toDataPlane } from './index.js';
import { checkSettings } from './index.js';

t.test('names of the settings in the style of the code, members too', async (t) => {
  const checked = checkSettings({
    audit_request_body_bytes_max: 7,
    limits: { uri_bytes_max: 4096 },
    sites: [{ name: 'a', upstream: 'https://a', fail_mode: 'open', verify_upstream_certificate: false }],
  });
  if (checked.kind === 'refused') return t.fail(JSON.stringify(checked));
  const sent = toDataPlane(checked.settings);
  t.match(sent, {
    auditRequestBodyBytesMax: 7,
    limits: { uriBytesMax: 4096, heldBodyBytesMax: 268_435_456 },
    sites: [{ name: 'a', prefix: '/', host: null, failMode: 'open', verifyUpstreamCertificate: false }],
  });
  for (const name of ['paranoiaLevel', 'customRules', 'rlTrustProxy', 'floodReadBody', 'ssoEnabled', 'aiAction'])
    t.notOk(name in sent, `${name} is nothing a node gets by name`);
});

t.test('defaults are those of the table', async (t) => {
  t.strictSame(dataPlaneDefaults(), toDataPlane(defaultSettings()));
});

t.test('the door takes what is sent, fills in what is left out, and names what is wrong', async (t) => {
  const check = createDoorCheck({ type: 'object', properties: dataPlaneProperties() });
  t.strictSame(check(structuredClone(dataPlaneDefaults())), []);
  const partial = { limits: { uriBytesMax: 300 } };
  t.strictSame(check(partial), []);
  t.match(partial, { mode: 'On', limits: { uriBytesMax: 300, headerFieldsMax: 128 }, timeouts: { drainMs: 8000 } });
  t.strictSame(check({ limits: { uriBytesMax: 300, fromTheFuture: 1 } }), [], 'more is not refused');
  t.match(check({ limits: { uriBytesMax: 1 }, mode: 'Off' }), [{ path: '/mode' }, { path: '/limits/uriBytesMax' }]);
});
