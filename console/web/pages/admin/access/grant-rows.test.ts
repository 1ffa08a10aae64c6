import t from 'tap';
import { areWhole, newGrant, toGrants, withPart, type GrantRow } from './grant-rows.js';

const inProject: GrantRow = { scope: 'project', scope_id: '7', role: 'auditor' };

t.test('a row keeps what it names while its scope is the same', async (t) => {
  for (const [part, expected] of [
    [{ role: 'viewer' }, { ...inProject, role: 'viewer' }],
    [{ scope: 'project' }, inProject],
    [{ scope: 'application' }, { scope: 'application', role: 'auditor' }],
    [{ scope: 'org' }, { scope: 'org', role: 'auditor' }],
    [{ scope_id: '9' }, { ...inProject, scope_id: '9' }],
  ] as const)
    t.same(withPart(inProject, part), expected, JSON.stringify(part));
});

t.test('rows can be stored when each says what it is for, and each is stored once', async (t) => {
  for (const [rows, expected] of [
    [[], true],
    [[newGrant, inProject], true],
    [[withPart(inProject, { scope: 'application' })], false],
    [[{ ...newGrant, role: '' }], false],
  ] as const)
    t.equal(areWhole(rows), expected, JSON.stringify(rows));
  t.same(toGrants([inProject, newGrant, { ...inProject }]), [inProject, newGrant]);
});
