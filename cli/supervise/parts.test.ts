// What the parts of `gatehouse up` are told of each other.
import t from 'tap';
import { environmentFor, variables, type Values } from '#settings/environment';
import { upstreamsOf } from '../local-settings/proxy-config.js';
import { environmentOfParts } from './parts.js';

const defaults = Object.fromEntries(variables.map((row) => [row.name, row.default])) as Values;

t.test('the data plane finds the console at the address and port that it has', async (t) => {
  for (const [given, upstream] of [
    [{}, 'http://127.0.0.1:3010'],
    [{ UI_PORT: '9010' }, 'http://127.0.0.1:9010'],
    [{ UI_PORT: '9010', ADMIN_BIND: '10.0.0.5' }, 'http://10.0.0.5:9010'],
    [{ ADMIN_BIND: '::1' }, 'http://[::1]:3010'],
    [{ ADMIN_BIND: '::' }, 'http://[::1]:3010'],
    [{ ADMIN_BIND: '0.0.0.0' }, 'http://127.0.0.1:3010'],
    [{ UI_PORT: '9010', DASHBOARD_UPSTREAM: 'http://console:80' }, 'http://console:80'],
  ] as const) {
    const values: Values = { ...defaults, DASHBOARD_DOMAIN: 'waf.example.org', ...given };
    const all = environmentOfParts({ values, data: '/nowhere', hasApi: true });
    for (const process of ['data plane', 'control plane'] as const) {
      const own = { ...defaults, ...environmentFor(process, all) };
      t.equal(upstreamsOf(own).dashboard?.upstream, upstream, `${process}: ${JSON.stringify(given)}`);
    }
  }
});
