// Who has an account here, to be chosen by name. Who may assign findings is told whom to; whoever is logged in knows
// themselves, and who reads a finding may read the name of whom it is assigned to.
import { createMemo, type Accessor } from 'solid-js';
import { foundMax, withFinder, type Choice, type Choices } from '../kit/fields/choices.js';
import { call, type Item } from './http.js';
import { createOtherNames } from './other-names.js';
import { createQuery } from './query.js';
import { account } from './session.js';
import { createVmAccess, type VmAccess } from './vm-access.js';

export type Person = Item<'GET /api/v1/people'>;
/** What of a person is stored. */
export type PersonKey = 'id' | 'email';

/** As many as one answer holds; others are found by words, and their names asked for one by one. */
const peopleMax = 500;

export interface People {
  /** In the order of their addresses; whoever is logged in alone where reading all is not allowed. */
  readonly rows: Accessor<readonly Person[]>;
  /** Nobody is missing among the rows. */
  readonly isWhole: Accessor<boolean>;
  /** As people read it; null: not known, or not to be known. */
  nameOf(by: PersonKey, value: string): string | null;
  /** `before`, `behind`: choices around the people. */
  choices(by: PersonKey, before: readonly Choice[], behind?: readonly Choice[]): Choices;
}

/** `Noor Haddad, noor@shop.example` */
const titleOf = ({ name, email }: Person): string => (name === '' ? email : `${name}, ${email}`);

const ask = async (q: string): Promise<readonly Person[]> =>
  (await call('GET /api/v1/people', { query: { q, limit: foundMax } })).items;

/** The name of who is stored as `value`, by the server. Throws Refused. */
async function askName(by: PersonKey, value: string): Promise<string | null> {
  const { items } =
    by === 'id' ? await call('GET /api/v1/people', { query: { id: value } }) : { items: await ask(value) };
  const found = items.find((person) => person[by] === value);
  return found === undefined ? null : titleOf(found);
}

export function createPeople(access: VmAccess = createVmAccess()): People {
  const isAllowed = (): boolean => access.may('triage_findings');
  const { data } = createQuery('GET /api/v1/people', () => (isAllowed() ? { query: { limit: peopleMax } } : null));
  const rows = createMemo((): readonly Person[] => {
    const me = account();
    return data()?.items ?? (me == null ? [] : [{ id: me.id, email: me.email, name: me.name }]);
  });
  const mayReadNames = (): boolean => access.may('view_findings');
  const others = {
    id: createOtherNames((id) => askName('id', id)),
    email: createOtherNames((email) => askName('email', email)),
  };
  const here = {
    id: createMemo(() => new Map(rows().map((person) => [person.id, titleOf(person)]))),
    email: createMemo(() => new Map(rows().map((person) => [person.email, titleOf(person)]))),
  };
  return {
    rows,
    isWhole: () => rows().length < peopleMax,
    // who is suspended is not listed, and may be the one who was assigned
    nameOf: (by, value) => {
      const name = here[by]().get(value);
      if (name !== undefined) return name;
      const isAsked = data() !== undefined || (by === 'id' && !isAllowed() && mayReadNames());
      return isAsked ? (others[by](value) ?? null) : null;
    },
    choices: (by, before, behind = []) => {
      const choiceOf = (person: Person): Choice => [person[by], titleOf(person)];
      const all = [...before, ...rows().map(choiceOf), ...behind];
      if (rows().length < peopleMax) return all;
      return withFinder(all, {
        find: async (words) => [...(await ask(words)).map(choiceOf), ...behind],
        titleOf: (value) => askName(by, value),
      });
    },
  };
}
