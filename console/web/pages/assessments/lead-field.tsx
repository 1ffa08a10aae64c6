// Who leads an assessment: chosen among accounts, or named where somebody has none here.
import { createSignal, Show, type JSX } from 'solid-js';
import { choicesOf, type Person } from '../../client/people.js';
import { SelectField, TextField } from '../../kit/form.js';
import { assessmentsText as text } from '../../texts/resources/assessments.js';

/** No address: what stands for somebody else among the choices. */
const another = '*';

/** `value` is an e-mail address of an account, a name, or empty. */
export function LeadField(props: {
  readonly people: readonly Person[];
  readonly value: string;
  readonly onChange: (lead: string) => void;
}): JSX.Element {
  const [isAnother, setAnother] = createSignal(false);
  const isListed = (): boolean => props.value === '' || props.people.some(({ email }) => email === props.value);
  const chosen = (): string => (isAnother() || !isListed() ? another : props.value);
  return (
    <>
      <SelectField
        label={text.lead}
        help={text.leadHelp}
        value={chosen()}
        options={choicesOf(props.people, 'email', [[['', text.nobody]], [[another, text.somebodyElse]]])}
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
