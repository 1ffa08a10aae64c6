import { For, type JSX } from 'solid-js';
import { AreaField, SelectField, TextField } from '../../kit/form.js';
import { actions, operators, phases, variables, type CustomRule } from './rule.js';

/** A rule from a form: where to look, for what, and what then. */
export function VisualBuilder(props: {
  readonly rule: CustomRule;
  readonly isDisabled: boolean;
  readonly onChange: (part: Partial<CustomRule>) => void;
}): JSX.Element {
  return (
    <div class="grid-2">
      <div class="stack">
        <TextField
          label="Look in"
          value={props.rule.variable}
          isDisabled={props.isDisabled}
          help="Variables of seclang, with | between several; ARGS:name is one of them."
          onInput={(variable) => props.onChange({ variable })}
        />
        <div class="row wrap">
          <For each={variables.slice(0, 8)}>
            {(variable) => (
              <button
                type="button"
                class="button small"
                disabled={props.isDisabled}
                onClick={() => props.onChange({ variable })}
              >
                {variable}
              </button>
            )}
          </For>
        </div>
        <SelectField
          label="For what"
          value={props.rule.operator}
          options={[...new Set([props.rule.operator, ...operators])].map((name) => [name, `@${name}`] as const)}
          isDisabled={props.isDisabled}
          onChange={(operator) => props.onChange({ operator })}
        />
        <TextField
          label="Value"
          value={props.rule.value}
          isDisabled={props.isDisabled}
          onInput={(value) => props.onChange({ value })}
        />
      </div>
      <div class="stack">
        <SelectField
          label="Then"
          value={props.rule.action}
          options={actions.map((name) => [name, name] as const)}
          isDisabled={props.isDisabled}
          help="block follows the mode; deny always refuses; log only writes it down."
          onChange={(action) => props.onChange({ action })}
        />
        <SelectField
          label="When"
          value={String(props.rule.phase)}
          options={phases}
          isDisabled={props.isDisabled}
          onChange={(phase) => props.onChange({ phase: Number(phase) })}
        />
        <AreaField
          label="Transformations"
          rows={3}
          value={props.rule.transformations.join('\n')}
          placeholder={'urlDecodeUni\nlowercase'}
          isDisabled={props.isDisabled}
          help="Names of seclang, one a line, in order."
          onInput={(text) => props.onChange({ transformations: text.split(/\s+/).filter(Boolean) })}
        />
        <TextField
          label="Redirect to"
          value={props.rule.redirect_url}
          isDisabled={props.isDisabled || props.rule.action !== 'redirect'}
          onInput={(redirect_url) => props.onChange({ redirect_url })}
        />
      </div>
    </div>
  );
}
