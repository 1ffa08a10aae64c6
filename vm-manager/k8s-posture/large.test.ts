// A cluster as large as is kept, whose parts are as alike as parts can be: others have their turn all the while.
import t from 'tap';
import type { ClusterObject } from '../scanners/contract.js';
import { accessOf } from './access.js';
import { pathsOf } from './paths.js';
import { mappedTo, mapper, type MapRule } from './store.js';

const count = 20_000;
const many = (make: (index: number) => Omit<ClusterObject, 'name'>): ClusterObject[] =>
  Array.from({ length: count }, (_, index) => ({ name: `n${index}`, ...make(index) }));
const rule = { verbs: ['get'], resources: ['pods'], groups: [''], names: [] };

/** The longest time that nobody else had, in milliseconds. */
async function held(work: () => Promise<unknown>): Promise<number> {
  let [last, longest] = [performance.now(), 0];
  const look = (): void => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  };
  const timer = setInterval(look, 5);
  await work();
  look();
  clearInterval(timer);
  return longest;
}

/** Of three times: whatever else the machine does meanwhile is no turn of ours. */
async function leastHeld(work: () => Promise<unknown>): Promise<number> {
  const all: number[] = [];
  for (let round = 0; round < 3; round += 1) all.push(await held(work));
  return Math.min(...all);
}

t.test('one account in twenty thousand bindings, roles that are summed up of all others', async (t) => {
  const detail = { rules: [rule], labels: { a: 'b' }, sums: [] };
  const objects = [
    ...many(() => ({ kind: 'role', type: 'ClusterRole', namespace: '', detail })),
    ...many((index) => ({
      ...{ kind: 'binding', type: 'ClusterRoleBinding', namespace: '' },
      detail: {
        ...{ role_kind: 'ClusterRole', role: `n${index}` },
        subjects: [{ kind: 'ServiceAccount', namespace: 'x', name: 'default' }],
      },
    })),
  ];
  const summed: ClusterObject = {
    ...{ kind: 'role', type: 'ClusterRole', namespace: '', name: 'all' },
    detail: { rules: [], labels: {}, sums: [{ a: 'b' }, { a: 'c' }] },
  };
  const bound: ClusterObject = {
    ...{ kind: 'binding', type: 'ClusterRoleBinding', namespace: '', name: 'sums' },
    detail: { role_kind: 'ClusterRole', role: 'all', subjects: [{ kind: 'User', namespace: '', name: 'u' }] },
  };
  const access = await accessOf([...objects, summed, bound]);
  t.equal(access.held.get('account:x/default')?.rules.get(null)?.length, count);
  t.equal(access.held.get('user:/u')?.rules.get(null)?.length, count, 'each once');
  const longest = await leastHeld(async () => accessOf([...objects, summed, bound]));
  t.ok(longest < 500, `nobody waits for ${Math.round(longest)} ms`);
});

t.test('a default account in each of twenty thousand namespaces', async (t) => {
  const objects = many((index) => ({
    ...{ kind: 'workload', type: 'Deployment', namespace: `n${index}`, detail: { account: 'default' } },
  }));
  const longest = await leastHeld(async () => pathsOf(objects));
  t.ok(longest < 500, `nobody waits for ${Math.round(longest)} ms`);
});

t.test('the rules of a map, for many workloads as for one', async (t) => {
  const rules: MapRule[] = [
    { namespace: 'shop', workload: 'web*', application_id: '1' },
    { namespace: 's*', application_id: '2' },
    { namespace: '*', workload: 'x', application_id: '3' },
  ];
  const of = mapper(rules);
  for (const namespace of ['shop', 'ship', 'other'])
    for (const workload of ['web', 'webs', 'x', 'y'])
      t.equal(of(namespace, workload), mappedTo(rules, namespace, workload), `${namespace}/${workload}`);
});
