import t from 'tap';
import { blankLimit, changeFor, effectBody, formOf, removalOf, type StoredLimit } from './limit-values.js';

const zone = {
  name: 'api',
  match_path: '/api',
  key: 'header:X-Key',
  events: 5,
  window: '30s',
  dry_run: true,
  headers: false,
};
const endpoint = { path: '/login', method: 'POST', events: 3, window: '1m', dry_run: false, headers: true };
const stored = {
  ...{ rl_events: 600, rl_window: '1m', rl_dry_run: false, rl_headers: false },
  rl_zones: [zone],
  endpoint_limits: [endpoint],
};

t.test('a limit goes through its form unchanged', async (t) => {
  const limits: readonly (readonly [limit: StoredLimit, patch: object])[] = [
    [{ kind: 'zone', entry: zone }, { rl_zones: [zone] }],
    [{ kind: 'endpoint', entry: endpoint }, { endpoint_limits: [endpoint] }],
    [
      { kind: 'default', entry: null },
      { rl_events: 600, rl_window: '1m', rl_dry_run: false, rl_headers: false },
    ],
  ];
  for (const [limit, patch] of limits) t.same(changeFor(formOf(limit, stored), limit, stored).patch, patch, limit.kind);
});

t.test('new ones are added, gone ones are removed, changed ones are not overwritten', async (t) => {
  const added = changeFor({ ...blankLimit, path: ' /pay ' }, null, stored);
  t.match(added, { place: '/endpoint_limits/1', patch: { endpoint_limits: [endpoint, { path: '/pay', events: 10 }] } });
  const names = ['/api', '/Api/V2/', '/'].map((path) => {
    const { patch } = changeFor({ ...blankLimit, kind: 'zone', path }, null, stored);
    return (patch['rl_zones'] as { name: string }[]).at(-1)?.name;
  });
  t.same(names, ['api-2', 'api-v2', 'everything'], 'zones are named by their paths');
  t.same(removalOf({ kind: 'zone', entry: zone }, stored).patch, { rl_zones: [] });
  const gone: StoredLimit = { kind: 'endpoint', entry: { ...endpoint, events: 4 } };
  t.throws(() => changeFor(formOf(gone, stored), gone, stored), 'another user changed it meanwhile');
});

t.test('only what is whole is asked of the recorded requests', async (t) => {
  const asked: readonly (readonly [form: object, isAsked: boolean])[] = [
    [{ path: '/login' }, true],
    [{ path: 'login' }, false],
    [{ path: '/login?x' }, false],
    [{ path: '/login', events: '0' }, false],
    [{ path: '/login', events: '' }, false],
    [{ path: '/login', count: '' }, false],
    [{ kind: 'default' }, true],
    [{ kind: 'zone', path: '/', countedBy: 'header', header: 'X' }, false],
    [{ kind: 'zone', path: '/', countedBy: 'global' }, true],
  ];
  for (const [form, isAsked] of asked)
    t.equal(effectBody({ ...blankLimit, ...form }) !== null, isAsked, JSON.stringify(form));
});
