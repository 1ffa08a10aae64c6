import fc from 'fast-check';
import t from 'tap';
import { Roster } from './active-list.js';

fc.configureGlobal({ seed: Number(process.env['SEED'] ?? 20_261_121) });

t.test('property: a roster holds what a Set would hold', async (t) => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.constantFrom('add', 'delete'), fc.nat(9)), { maxLength: 100 }), (steps) => {
      const people = Array.from({ length: 10 }, () => ({ place: -1 }));
      const roster = new Roster<{ place: number }>();
      const set = new Set<{ place: number }>();
      for (const [what, who] of steps) {
        const member = people[who] as { place: number };
        if (what === 'add') {
          roster.add(member);
          set.add(member);
        } else {
          roster.delete(member);
          set.delete(member);
        }
        t.equal(roster.size, set.size);
      }
      return (
        new Set(roster.all()).size === set.size &&
        roster.all().every((member) => set.has(member)) &&
        people.every((member) => (member.place === -1) === !set.has(member))
      );
    }),
  );
});

t.test('members may leave while all of them are walked', async (t) => {
  const roster = new Roster<{ place: number }>();
  const people = Array.from({ length: 5 }, () => ({ place: -1 }));
  for (const member of people) roster.add(member);
  for (const member of roster.all()) roster.delete(member);
  t.equal(roster.size, 0);
});
