// Who leads an assessment: chosen among accounts, or named where somebody has none here.
import { createSignal, Show, type JSX } from 'solid-js';
import type { People } from '../../client/people.js';
import { SelectField, TextField } from '../../kit/form.js';
import { assessmentsText as text } from '../../texts/resources/assessments.js';

/** No address: what stands for somebody else among the choices. */
const another = '*';

/** `value` is an e-mail address of an account, a name, or empty. */
export function LeadField(props: {
  readonly people: People;
  readonly value: string;
  readonly onChange: (lead: string) => void;
}): JSX.Element {
  const [isAnother, setAnother] = createSignal(false);
  /** Of the many accounts that one answer does not hold each has an address. */
  const isListed = (): boolean =>
    props.value === '' ||
    props.people.rows().some(({ email }) => email === props.value) ||
    (!props.people.isWhole() && props.value.includes('@'));
  const chosen = (): string => (isAnother() || !isListed() ? another : props.value);
  return (
    <>
      <SelectField
        label={text.lead}
        help={text.leadHelp}
        value={chosen()}
        options={props.people.choices('email', [['', text.nobody]], [[another, text.somebodyElse]])}
        onChange={(value) => {
          setAnother(value === another);
          props.onChange(value === another ? '' : value);
        }}
      />
      <Show when={chosen() === another}>
        <TextField label={text.leadName} value={props.value} onInput={props.onChange} />
      </Show>
    </>
  );
}
