// Who has an account here, to be chosen by name. Only administrators may read everybody; whoever is logged in knows
// themselves.
import { createMemo, type Accessor } from 'solid-js';
import type { Item } from './http.js';
import { createQuery } from './query.js';
import { account, mayAs } from './session.js';

export type Person = Pick<Item<'GET /api/users'>, 'id' | 'email' | 'name'>;

/** As many as one answer holds. */
const peopleMax = 200;

/** In the order of their addresses; whoever is logged in alone where reading all is not allowed. */
export function createPeople(): Accessor<readonly Person[]> {
  const { data } = createQuery('GET /api/users', () => (mayAs('admin') ? { query: { limit: peopleMax } } : null));
  return createMemo((): readonly Person[] => {
    const me = account();
    return data()?.items ?? (me == null ? [] : [{ id: me.id, email: me.email, name: me.name }]);
  });
}

/** `Noor Haddad, noor@shop.example` */
export const titleOfPerson = ({ name, email }: Person): string => (name === '' ? email : `${name}, ${email}`);
