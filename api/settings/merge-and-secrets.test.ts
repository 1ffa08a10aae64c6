import t from 'tap';
import fc from 'fast-check';
import { createSealing } from '../auth/sealing.js';
import { toCanonicalJson } from '../audit/canonical-json.js';
import { applyMergePatch } from './merge-patch.js';
import { diffSettings, summarizeChanges } from './diff.js';
import { findNotEnforced } from './not-enforced.js';
import {
  checkSettings,
  defaultSettings,
  enforcedNames,
  settingNames,
  type SettingName,
  type Settings,
} from '#settings';
import { hideSecrets, revealSecrets, sealSecrets, secretPlaces } from './secrets.js';

fc.configureGlobal({ seed: Number(process.env['SEED'] ?? 20_261_121) });

const sealing = createSealing('s'.repeat(32));

const signingKey = 'hunter2hunter2hunter2hunter2hunter2';

t.test('merge patch: the examples of RFC 7396 appendix A', async (t) => {
  const cases: [unknown, unknown, unknown][] = [
    [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
    [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
    [{ a: 'b' }, { a: null }, {}],
    [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
    [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
    [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
    [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
    [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
    [
      ['a', 'b'],
      ['c', 'd'],
      ['c', 'd'],
    ],
    [{ a: 'b' }, ['c'], ['c']],
    [{ a: 'foo' }, null, null],
    [{ a: 'foo' }, 'bar', 'bar'],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [[1, 2], { a: 'b', c: null }, { a: 'b' }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  ];
  for (const [target, patch, result] of cases) t.same(applyMergePatch(target, patch), result);
});

t.test('property: a patch changes only its own paths, and never its arguments', async () => {
  const json = fc.object({
    maxDepth: 3,
    key: fc.constantFrom('a', 'b', 'c', 'd'),
    values: [fc.integer(), fc.string(), fc.boolean()],
    withNullPrototype: false,
  });
  fc.assert(
    fc.property(json, json, (target, patch) => {
      const before = toCanonicalJson(target);
      const result = applyMergePatch(target, patch) as Record<string, unknown>;
      for (const key of Object.keys(target))
        if (!(key in patch) && toCanonicalJson(result[key]) !== toCanonicalJson(target[key])) return false;
      return (
        toCanonicalJson(target) === before &&
        toCanonicalJson(applyMergePatch(result, patch)) === toCanonicalJson(result)
      );
    }),
  );
});

t.test('differences name list elements', async (t) => {
  const from = {
    sites: [
      { name: 'a', u: 1 },
      { name: 'b', u: 2 },
    ],
    mode: 'On',
    list: [1],
  };
  const to = {
    sites: [
      { name: 'b', u: 3 },
      { name: 'c', u: 1 },
    ],
    mode: 'DetectionOnly',
    list: [1, 2],
  };
  t.same(diffSettings(from, to), [
    { path: '/sites/a', kind: 'removed', from: { name: 'a', u: 1 } },
    { path: '/sites/b/u', kind: 'changed', from: 2, to: 3 },
    { path: '/sites/c', kind: 'added', to: { name: 'c', u: 1 } },
    { path: '/mode', kind: 'changed', from: 'On', to: 'DetectionOnly' },
    { path: '/list', kind: 'changed', from: [1], to: [1, 2] },
  ]);
  t.equal(
    summarizeChanges(diffSettings(from, to)),
    'sites/a removed; sites/b/u: 2 → 3; sites/c added; mode: On → DetectionOnly; and 1 more',
  );
  t.equal(
    diffSettings({ r: [{ id: 1 }, { id: 2 }] }, { r: [{ id: 2 }, { id: 1 }] }).length,
    1,
    'a new order is a change',
  );
  t.same(diffSettings(from, structuredClone(from)), []);
});

t.test('secrets go to the receiver that they were given for, and to no other', async (t) => {
  const given = (over: object): Settings => {
    const checked = checkSettings(over);
    if (checked.kind === 'refused') throw new Error(JSON.stringify(checked.problems));
    return checked.settings;
  };
  const one = { name: 'one', kind: 'webhook', target: 'https://a.example/x', token: 'tok-1' };
  const model = { vm_model_url: 'https://m.example/v1', vm_model_name: 'm', vm_model_key: 'key-1' };
  const otel = { otel_endpoint: 'https://o.example', otel_headers: [{ name: 'authorization', value: 'v-1' }] };
  const stored = sealSecrets(given({ siem_connectors: [one], ...model, ...otel }), null, sealing);
  const shown = hideSecrets(stored);
  const elsewhere: readonly (readonly [object, string])[] = [
    [{ vm_model_url: 'https://thief.example/v1' }, '/vm_model_key'],
    [{ vm_model_url: 'http://m.example/v1' }, '/vm_model_key'],
    [{ siem_connectors: [{ ...shown.siem_connectors[0], target: 'https://thief.example/x' }] }, '/token'],
    [{ otel_endpoint: 'https://thief.example' }, '/value'],
    [{ siem_connectors: [{ ...shown.siem_connectors[0], options: { login_url: 'https://thief.example' } }] }, '/token'],
  ];
  for (const [change, place] of elsewhere)
    t.throws(
      () => sealSecrets({ ...shown, ...change }, stored, sealing),
      { message: /cannot be kept/ },
      `${place} ${JSON.stringify(change)}`,
    );
  const path = { ...shown, vm_model_url: 'https://m.example/v2' };
  t.equal(revealSecrets(sealSecrets(path, stored, sealing), sealing).vm_model_key, 'key-1', 'another path is no other');
  const again = { ...shown, vm_model_url: 'https://n.example/v1', vm_model_key: 'key-2' };
  t.equal(revealSecrets(sealSecrets(again, stored, sealing), sealing).vm_model_key, 'key-2');
  t.throws(() => sealSecrets({ ...shown, vm_model_key: 'a\nb' }, stored, sealing), Error, 'no header takes it');
});

t.test('secrets: sealed when stored, hidden when read, kept by asterisks, plain when used', async (t) => {
  t.same(
    secretPlaces.map((p) => `${p.list ?? ''}/${p.field}`).sort(),
    ['/auth_secret', '/sso_client_secret', '/vm_model_key', 'otel_headers/value', 'siem_connectors/token'].sort(),
  );
  const given = (over: object): Settings => {
    const checked = checkSettings(over);
    if (checked.kind === 'refused') throw new Error(JSON.stringify(checked.problems));
    return checked.settings;
  };
  const connectors = [
    { name: 'one', kind: 'webhook', target: 'https://a', token: 'tok-1' },
    { name: 'two', kind: 'webhook', target: 'https://b' },
  ];
  const stored = sealSecrets(given({ auth_secret: signingKey, siem_connectors: connectors }), null, sealing);
  t.notMatch(JSON.stringify(stored), /hunter2hunter2|tok-1/);
  const shown = hideSecrets(stored);
  t.equal(shown.auth_secret, '********');
  t.equal(shown.sso_client_secret, null);
  t.same(
    shown.siem_connectors.map((c) => c.token),
    ['********', null],
  );
  t.equal(toCanonicalJson(sealSecrets(shown, stored, sealing)), toCanonicalJson(stored), 'PUT(GET) changes no byte');
  const reordered = { ...shown, siem_connectors: [...shown.siem_connectors].reverse() };
  t.equal(
    revealSecrets(sealSecrets(reordered, stored, sealing), sealing).siem_connectors[1]?.token,
    'tok-1',
    'kept by name, not by position',
  );
  t.equal(revealSecrets(stored, sealing).auth_secret, signingKey);
  for (const short of ['short', 'x'.repeat(31), 'é'.repeat(15)])
    try {
      sealSecrets({ ...shown, auth_secret: short }, stored, sealing);
      t.fail('a key that is guessed from one token');
    } catch (error) {
      const errors = [{ path: '/auth_secret', reason: /shorter than 32 bytes/, fix: /openssl rand/ }];
      t.match(error, { code: 'settings_impossible', extras: { errors } });
    }
  const old = { ...stored, auth_secret: sealing.seal('sesame', '/auth_secret') };
  t.equal(
    sealSecrets({ ...hideSecrets(old), paranoia_level: 2 }, old, sealing).auth_secret,
    old.auth_secret,
    'an old one stays',
  );
  t.equal(sealSecrets({ ...shown, auth_secret: null }, stored, sealing).auth_secret, null, 'null clears');
  t.throws(() => sealSecrets(given({ sso_client_secret: '********' }), stored, sealing), {
    code: 'settings_impossible',
  });
  t.throws(
    () => sealSecrets({ ...shown, sso_client_secret: stored.auth_secret }, stored, sealing),
    { code: 'settings_impossible' },
    'a ciphertext cannot be planted elsewhere',
  );
});

t.test('U6: what asks for something that nothing enforces is named by the value in effect', async (t) => {
  const with_ = (changes: Partial<Settings>) => findNotEnforced({ ...defaultSettings(), ...changes });
  const enforced = new Set<SettingName>(settingNames.filter((name) => !/^(?:ai_|pii_)/.test(name)));
  t.same(findNotEnforced({ ...defaultSettings(), ai_enabled: true }, enforced), ['ai_enabled', 'pii_detect']);
  const others = (changes: Partial<Settings>) => findNotEnforced({ ...defaultSettings(), ...changes }, enforced);
  t.same(others({}), ['pii_detect'], 'a switch that is on by default looks like protection');
  t.same(others({ pii_detect: false }), [], 'switched off it asks for nothing');
  t.same(with_({}), [], 'everything that is on by default is enforced');
  t.same(with_({ pii_detect: false, mode: 'DetectionOnly', paranoia_level: 2 }), [], 'enforced ones are not named');
  for (const [changes, names] of [
    [{ rl_enabled: true }, ['rl_enabled']],
    [{ rl_events: 7 }, ['rl_events']],
    [{ graphql_protect: true }, ['graphql_protect']],
    [{ attack_mode: 'auto' }, ['attack_mode']],
    [{ schema_action: 'alert' }, ['schema_action']],
    [{ challenge_paths: ['/a'] }, ['challenge_paths']],
    [{ siem_webhook_url: 'https://example.org/' }, ['siem_webhook_url']],
    [{ bot_action: 'block' }, ['bot_action', 'bot_allow_verified', 'bot_verify_rdns', 'bot_check_headers']],
    [{ bot_action: 'block', bot_verify_rdns: false }, ['bot_action', 'bot_allow_verified', 'bot_check_headers']],
  ] as const satisfies readonly (readonly [object, readonly SettingName[]])[])
    t.same(
      with_({ pii_detect: false, ...(changes as Partial<Settings>) }).sort(),
      names.filter((name) => !enforcedNames.has(name)).sort(),
      JSON.stringify(changes),
    );
});
