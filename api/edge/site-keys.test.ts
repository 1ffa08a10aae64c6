// Key sets: fetched beside the road, sooner when a key is missing, never more often than once a minute, kept when the
// source is away.
import t from 'tap';
import { defaultSettings, type Settings } from '#settings';
import type { OutboundReply } from '../outbound/outbound.js';
import { createNodeGates } from './node-gates.js';
import { createSiteKeyJob, readKeys } from './site-keys.js';

const key = { kty: 'OKP', crv: 'Ed25519', x: 'AAAA', kid: 'one' };

t.test('3: what is a key set, and what is taken of it', async (t) => {
  t.strictSame(readKeys(JSON.stringify({ keys: [{ ...key, d: 'private', n: 'x' }, { kty: 'oct', k: 'secret' }, 7] })), [
    { kty: 'OKP', crv: 'Ed25519', x: 'AAAA', n: 'x', kid: 'one' },
  ]);
  for (const text of ['', '[]', '{}', '{"keys":{}}', '{"keys":[]}', '{"keys":[{"kty":"oct","k":"x"}]}', 'null'])
    t.throws(() => readKeys(text), Error, text);
  t.throws(() => readKeys(JSON.stringify({ keys: Array.from({ length: 101 }, () => key) })), /at most 100/);
});

t.test('3: when it is fetched, and which nodes get it', async (t) => {
  const settings: Settings = {
    ...defaultSettings(),
    auth_enabled: true,
    auth_alg: 'EdDSA',
    auth_jwks_url: 'https://id/keys',
  };
  const state = { url: '', fetchedAtMs: 0, wantedAtMs: 0 };
  let asked = 0;
  let isAway = false;
  const nodeGates = createNodeGates(['http://node'], {
    ask: async (_url, method, path, body) => {
      if (method === 'PUT' && path === '/site-keys') Object.assign(state, body);
      return {
        decisions: [],
        zones: [],
        heavy: [],
        crawlers: [],
        rateKeys: { keys: 0, keysMax: 1, evicted: 0 },
        siteKeys: { ...state },
      };
    },
  });
  const outbound = {
    send: async () => {
      asked += 1;
      if (isAway) throw new Error('away');
      return { status: 200, headers: {}, url: '', body: Buffer.from(JSON.stringify({ keys: [key] })) } as OutboundReply;
    },
  };
  const job = createSiteKeyJob({ outbound: outbound as never, currentSettings: async () => settings, nodeGates });
  const run = (nowMs: number) => job.run({ nowMs, signal: new AbortController().signal });
  const minute = 60_000;
  t.equal(await run(100 * minute), '1 keys for 1 nodes');
  t.match(state, { url: 'https://id/keys', fetchedAtMs: 100 * minute });
  t.equal(await run(101 * minute), 'nodes have the key set');
  t.equal(asked, 1);
  state.wantedAtMs = 100 * minute + 10;
  await run(100 * minute + 20_000);
  t.equal(asked, 1, 'not more than once a minute');
  await run(101 * minute);
  await run(101 * minute + 15_000);
  t.equal(asked, 2, 'a missing key, once');
  await run(112 * minute);
  t.equal(asked, 3, 'ten minutes are over');
  isAway = true;
  await t.rejects(run(123 * minute), /away/);
  t.equal(await run(123 * minute + 15_000), 'nodes have the key set', 'the keys of before stay');
  t.equal(asked, 4);
  state.fetchedAtMs = 0;
  t.equal(await run(123 * minute + 30_000), '1 keys for 1 nodes', 'a node that came back empty gets them');
  await t.rejects(run(125 * minute), /away/, 'tried again after a minute');
  settings.auth_enabled = false;
  t.equal(await run(200 * minute), 'no key set is needed');
});
