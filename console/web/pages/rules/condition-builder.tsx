// Groups of conditions: all of one group have to hold.
import { Index, Show, type JSX } from 'solid-js';
import { Button } from '../../kit/basics.js';
import { Field, SelectField, TextField } from '../../kit/form.js';
import { conditionsText as text } from '../../texts/rules/conditions.js';
import {
  blankCondition,
  blankGroup,
  fieldChoices,
  fields,
  operatorChoices,
  operatorOf,
  readValues,
  withField,
  withOperator,
} from './conditions.js';
import { ruleActions, type Condition, type CustomRule, type Group } from './rule.js';

const groupsMax = 8;
const conditionsMax = 10;

/** A problem that the server found, by JSON pointer into the rule. */
type ProblemAt = (path: string) => string | null;

function helpOf({ field, operator }: Condition): string {
  if (operator === 'matches') return text.expressionHelp;
  if (field === 'operation') return text.operationHelp;
  return field === 'address' ? text.addressHelp : text.valuesHelp;
}

/** What is typed stays as it is typed; the values are its lines. */
function Values(props: {
  readonly of: Condition;
  readonly problem: string | null;
  readonly isDisabled: boolean;
  readonly onChange: (values: string[]) => void;
}): JSX.Element {
  const isNumber = (): boolean => props.of.field === 'body_size';
  return (
    <Show
      when={!isNumber()}
      fallback={
        <TextField
          label={text.number}
          value={props.of.values[0] ?? ''}
          problem={props.problem}
          isDisabled={props.isDisabled}
          onInput={(typed) => props.onChange(typed.trim() === '' ? [] : [typed.trim()])}
        />
      }
    >
      <Field label={text.values} help={helpOf(props.of)} problem={props.problem}>
        {({ id, describedBy }) => (
          <textarea
            id={id}
            class="textarea mono"
            rows={Math.min(6, Math.max(1, props.of.values.length))}
            aria-describedby={describedBy}
            aria-invalid={props.problem !== null}
            disabled={props.isDisabled}
            spellcheck={false}
            onInput={(event) => props.onChange(readValues(event.currentTarget.value))}
          >
            {props.of.values.join('\n')}
          </textarea>
        )}
      </Field>
    </Show>
  );
}

interface RowProps {
  readonly of: Condition;
  readonly label: string;
  readonly isOnly: boolean;
  readonly isDisabled: boolean;
  readonly problemAt: ProblemAt;
  readonly onChange: (condition: Condition) => void;
  readonly onRemove: () => void;
}

function ConditionRow(props: RowProps): JSX.Element {
  return (
    <div class="rule-condition">
      <SelectField
        label={text.lookAt}
        value={props.of.field}
        options={fieldChoices}
        isDisabled={props.isDisabled}
        onChange={(field) => props.onChange(withField(props.of, field))}
      />
      <Show when={fields[props.of.field].hasName}>
        <TextField
          label={text.which}
          value={props.of.name}
          placeholder={text.any}
          problem={props.problemAt('name')}
          isDisabled={props.isDisabled}
          onInput={(name) => props.onChange({ ...props.of, name: name.trim() })}
        />
      </Show>
      <SelectField
        label={text.comparison}
        value={operatorOf(props.of)}
        options={operatorChoices(props.of.field)}
        problem={props.problemAt('operator')}
        isDisabled={props.isDisabled}
        onChange={(chosen) => props.onChange(withOperator(props.of, chosen))}
      />
      <Show when={props.of.operator !== 'exists'}>
        <Values
          of={props.of}
          problem={props.problemAt('values')}
          isDisabled={props.isDisabled}
          onChange={(values) => props.onChange({ ...props.of, values })}
        />
      </Show>
      <Button
        look="plain"
        icon="close"
        aria-label={props.label}
        disabled={props.isDisabled || props.isOnly}
        onClick={props.onRemove}
      />
    </div>
  );
}

function GroupBox(props: {
  readonly of: Group;
  readonly number: number;
  readonly isOnly: boolean;
  readonly isDisabled: boolean;
  readonly problemAt: ProblemAt;
  /** null: the group goes. */
  readonly onChange: (group: Group | null) => void;
}): JSX.Element {
  const change = (all: readonly Condition[]): void => props.onChange(all.length === 0 ? null : { all: [...all] });
  return (
    <fieldset class="boxed stack" disabled={props.isDisabled}>
      <legend class="small muted">{text.group(props.number)}</legend>
      <Index each={props.of.all}>
        {(condition, at) => (
          <ConditionRow
            of={condition()}
            label={text.removeCondition(at + 1, props.number)}
            isOnly={props.isOnly && props.of.all.length === 1}
            isDisabled={props.isDisabled}
            problemAt={(member) => props.problemAt(`/all/${at}/${member}`)}
            onChange={(changed) => change(props.of.all.map((one, index) => (index === at ? changed : one)))}
            onRemove={() => change(props.of.all.filter((_, index) => index !== at))}
          />
        )}
      </Index>
      <div>
        <Button
          isSmall
          icon="plus"
          disabled={props.isDisabled || props.of.all.length >= conditionsMax}
          onClick={() => change([...props.of.all, blankCondition])}
        >
          {text.addCondition}
        </Button>
      </div>
    </fieldset>
  );
}

/** A rule of conditions: groups with "or" between them, what a match does. */
export function ConditionBuilder(props: {
  readonly rule: CustomRule;
  readonly isDisabled: boolean;
  readonly problemAt: ProblemAt;
  readonly onChange: (part: Partial<CustomRule>) => void;
}): JSX.Element {
  const groups = (): readonly Group[] => (props.rule.any.length === 0 ? [blankGroup] : props.rule.any);
  const change = (at: number, group: Group | null): void =>
    props.onChange({ any: groups().flatMap((one, index) => (index === at ? (group ?? []) : one)) });
  return (
    <div class="stack">
      <p class="muted small">{text.about}</p>
      <Index each={groups()}>
        {(group, at) => (
          <>
            <Show when={at > 0}>
              <div class="small muted">{text.orGroup}</div>
            </Show>
            <GroupBox
              of={group()}
              number={at + 1}
              isOnly={groups().length === 1}
              isDisabled={props.isDisabled}
              problemAt={(path) => props.problemAt(`/any/${at}${path}`)}
              onChange={(changed) => change(at, changed)}
            />
          </>
        )}
      </Index>
      <div>
        <Button
          isSmall
          icon="plus"
          disabled={props.isDisabled || groups().length >= groupsMax}
          onClick={() => props.onChange({ any: [...groups(), blankGroup] })}
        >
          {text.addGroup}
        </Button>
      </div>
      <div class="grid-2">
        <SelectField
          label={text.action}
          value={props.rule.action}
          options={ruleActions(props.rule.action).map((name) => [name, text.actions[name]] as const)}
          help={text.recordFirst}
          isDisabled={props.isDisabled}
          onChange={(action) => props.onChange({ action })}
        />
        <Show when={props.rule.action === 'redirect'}>
          <TextField
            label={text.redirect}
            value={props.rule.redirect_url}
            problem={props.problemAt('/redirect_url')}
            isDisabled={props.isDisabled}
            onInput={(redirect_url) => props.onChange({ redirect_url })}
          />
        </Show>
      </div>
    </div>
  );
}
