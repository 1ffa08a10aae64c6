import fc from 'fast-check';
import t from 'tap';
import { ActiveList } from './active-list.js';

fc.configureGlobal({ seed: Number(process.env['SEED'] ?? 20_261_121) });

t.test('property: an active list holds what a Set would hold', async (t) => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.constantFrom('add', 'delete'), fc.nat(9)), { maxLength: 100 }), (steps) => {
      const members = Array.from({ length: 10 }, () => ({ place: -1 }));
      const list = new ActiveList<{ place: number }>();
      const set = new Set<{ place: number }>();
      for (const [what, who] of steps) {
        const member = members[who] as { place: number };
        if (what === 'add') {
          list.add(member);
          set.add(member);
        } else {
          list.delete(member);
          set.delete(member);
        }
        t.equal(list.size, set.size);
      }
      return (
        new Set(list.all()).size === set.size &&
        list.all().every((member) => set.has(member)) &&
        members.every((member) => (member.place === -1) === !set.has(member))
      );
    }),
  );
});

t.test('members may leave while all of them are walked', async (t) => {
  const list = new ActiveList<{ place: number }>();
  const members = Array.from({ length: 5 }, () => ({ place: -1 }));
  for (const member of members) list.add(member);
  for (const member of list.all()) list.delete(member);
  t.equal(list.size, 0);
});
