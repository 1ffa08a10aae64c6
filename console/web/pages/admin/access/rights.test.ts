import fc from 'fast-check';
import t from 'tap';
import { gatherRights, rightsWith, type Access } from './rights.js';

const seed = Number(process.env['SEED'] ?? 13);

const row = (route: string, permission: string | null, roles: string[], tokens = true): Access => ({
  route,
  permission,
  roles,
  tokens,
  public: permission === '',
});
const rows = [
  row('GET /api/rules', 'rules:read', ['viewer', 'admin']),
  row('GET /api/rules/:id', 'rules:read', ['admin', 'viewer']),
  row('POST /api/rules', 'rules:write', ['admin']),
  row('GET /api/v1/findings', null, [], false),
  row('POST /api/dataplane/hello', null, [], false),
  { ...row('GET /api/health', null, [], false), public: true },
];

t.test('operations are gathered by permission, and by who has it', async (t) => {
  t.same(
    gatherRights(rows).map(({ kind, permission, operations }) => [kind, permission, operations.length]),
    [
      ['guarded', 'rules:read', 2],
      ['guarded', 'rules:write', 1],
      ['public', null, 1],
      ['manager', null, 1],
      ['nodes', null, 1],
    ],
  );
  for (const [typed, found] of [
    ['', 5],
    ['rules', 2],
    ['POST rules', 1],
    ['health', 1],
    ['nothing', 0],
  ] as const)
    t.equal(rightsWith(gatherRights(rows), typed).length, found, typed);
});

t.test('no operation is lost, and none is told with roles that it has not', async (t) => {
  const some = fc.record({
    route: fc.string(),
    public: fc.boolean(),
    permission: fc.option(fc.constantFrom('a', 'b')),
    roles: fc.uniqueArray(fc.constantFrom('viewer', 'operator', 'admin')),
    tokens: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.uniqueArray(some, { selector: ({ route }) => route }), (all) => {
      const rights = gatherRights(all);
      const told = rights.flatMap(({ operations, roles }) =>
        operations.map((route) => `${route} ${[...roles].sort().join()}`),
      );
      const real = all.map(({ route, roles }) => `${route} ${[...roles].sort().join()}`);
      return told.sort().join('\n') === real.sort().join('\n');
    }),
    { seed },
  );
  t.pass();
});
