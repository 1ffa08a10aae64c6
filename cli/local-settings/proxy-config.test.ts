import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { upstreamDefaults } from '#proxy/contract';
import { variables, type Values } from '#settings/environment';
import { root } from '../environment/directories.js';
import { resolveProxy, selfTestOf, upstreamsOf, type Upstreams } from './proxy-config.js';

const values = Object.fromEntries(variables.map((row) => [row.name, row.default])) as Values;

t.test('everybody has the same default upstreams', async (t) => {
  const { upstreamsOf: ofBin } = (await import(pathToFileURL(join(root, 'bin/proxy-config.mjs')).href)) as {
    upstreamsOf(values: Values): { readonly UPSTREAM_CUSTOMER: string; readonly UPSTREAM_PAYMENT: string };
  };
  const expected: Upstreams = { customer: 'http://127.0.0.1:8000', payment: 'http://127.0.0.1:8000/payment' };
  t.same(upstreamsOf(values), expected);
  t.same(upstreamDefaults({}), expected);
  t.same(ofBin(values), { UPSTREAM_CUSTOMER: expected.customer, UPSTREAM_PAYMENT: expected.payment });
  t.same(upstreamsOf({ ...values, UPSTREAM_PAYMENT: 'http://a', DEMO_PORT: '9' }), {
    customer: 'http://127.0.0.1:9',
    payment: 'http://a',
  });
});

t.test('settings for the data plane, or a refusal with every place', async (t) => {
  const config = await resolveProxy({}, values, 'the file');
  t.same(
    config.sites.map(({ prefix, upstream }) => [prefix, upstream]),
    [
      ['/', 'http://127.0.0.1:8000'],
      ['/payment', 'http://127.0.0.1:8000/payment'],
    ],
  );
  await t.rejects(resolveProxy({ mode: 'Maybe', paranoia: 1 }, values, 'the file'), {
    message: /^the file cannot be used; nothing was changed:\n {2}mode/,
    exitCode: 1,
  });
  t.equal(await selfTestOf({}), 'inspect');
  t.equal(await selfTestOf({ categories: { sqli: { enabled: false } } }), 'skip');
});
