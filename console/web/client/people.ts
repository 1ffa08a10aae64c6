// Who has an account here, to be chosen by name. Who may assign findings is told whom to; whoever is logged in knows
// themselves.
import { createMemo, type Accessor } from 'solid-js';
import { foundMax, withFinder, type Choice, type Choices } from '../kit/fields/choices.js';
import { call, type Item } from './http.js';
import { createQuery } from './query.js';
import { account } from './session.js';
import { createVmAccess } from './vm-access.js';

export type Person = Item<'GET /api/v1/people'>;

/** As many as one answer holds; others are found by words. */
const peopleMax = 500;

/** In the order of their addresses; whoever is logged in alone where reading all is not allowed. */
export function createPeople(): Accessor<readonly Person[]> {
  const { may } = createVmAccess();
  const { data } = createQuery('GET /api/v1/people', () =>
    may('triage_findings') ? { query: { limit: peopleMax } } : null,
  );
  return createMemo((): readonly Person[] => {
    const me = account();
    return data()?.items ?? (me == null ? [] : [{ id: me.id, email: me.email, name: me.name }]);
  });
}

/** `Noor Haddad, noor@shop.example` */
export const titleOfPerson = ({ name, email }: Person): string => (name === '' ? email : `${name}, ${email}`);

/** `by`: what of a person is stored. `around`: choices before and behind the people. */
export function choicesOf(
  people: readonly Person[],
  by: 'id' | 'email',
  [before, behind = []]: readonly [readonly Choice[], (readonly Choice[])?],
): Choices {
  const choiceOf = (person: Person): Choice => [person[by], titleOfPerson(person)];
  const here = [...before, ...people.map(choiceOf), ...behind];
  if (people.length < peopleMax) return here;
  const ask = async (q: string): Promise<readonly Person[]> =>
    (await call('GET /api/v1/people', { query: { q, limit: foundMax } })).items;
  return withFinder(here, {
    find: async (words) => [...(await ask(words)).map(choiceOf), ...behind],
    titleOf: async (value) => {
      if (by === 'id') return null; // people are found by words, and a number is none of theirs
      const found = (await ask(value)).find(({ email }) => email === value);
      return found === undefined ? null : titleOfPerson(found);
    },
  });
}
