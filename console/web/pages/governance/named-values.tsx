// Values of predicates that name something by its number: a person chooses them by name, and reads the name.
import { createUniqueId, Show, type JSX } from 'solid-js';
import { createPeople } from '../../client/people.js';
import { Chooser } from '../../kit/fields/chooser.js';
import { isSearched, type Choices } from '../../kit/fields/choices.js';
import { Options } from '../../kit/form.js';
import { governanceText as text } from '../../texts/vm/governance.js';
import { createApplications, plain, stateNames, type Applications } from '../vulnerabilities/words.js';
import type { NameOf } from './predicate.js';

/** Names of applications in sentences. */
export const namesIn =
  (applications: Applications): NameOf =>
  (field, value) =>
    field === 'application_id' && typeof value === 'string' ? applications.nameOf(value) : null;

const sources: Readonly<Record<string, () => () => Choices>> = {
  application_id: () => {
    const applications = createApplications();
    return () => applications.options(text.choose);
  },
  assignee: () => {
    const people = createPeople();
    return () => people.choices('id', [['', text.choose]]);
  },
  status: () => () => [['', text.choose], ...stateNames.map((state) => [state, plain(state)] as const)],
};

/** Whether a value of this field is chosen among what there is. */
export const isNamed = (field: string): boolean => Object.hasOwn(sources, field);

export function NamedValue(props: {
  readonly field: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
}): JSX.Element {
  const options = sources[props.field]?.() ?? ((): Choices => []);
  const id = createUniqueId();
  // what is not listed (a person that only administrators see, say) stays what it is
  const isListed = (): boolean => options().some(([value]) => value === props.value);
  return (
    <Show
      when={!isSearched(options())}
      fallback={<Chooser id={id} label={text.value} value={props.value} choices={options()} onChange={props.onInput} />}
    >
      <select class="select" aria-label={text.value} onChange={(event) => props.onInput(event.currentTarget.value)}>
        <Show when={!isListed()}>
          <option value={props.value} selected>
            {props.value}
          </option>
        </Show>
        <Options of={options()} value={props.value} />
      </select>
    </Show>
  );
}
