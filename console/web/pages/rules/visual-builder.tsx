import { For, Show, type JSX } from 'solid-js';
import { AreaField, SelectField, TextField } from '../../kit/form.js';
import { actions, operators, phases, transformations, variables, type CustomRule } from './rule.js';
import { rulesText as words } from '../../texts/rules/rules.js';

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
          label={words.look}
          value={props.rule.variable}
          isDisabled={props.isDisabled}
          help={words.variablesSeclangBetweenSeveral}
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
          label={words.forWhat}
          value={props.rule.operator}
          options={[...new Set([props.rule.operator, ...operators])].map((name) => [name, `@${name}`] as const)}
          isDisabled={props.isDisabled}
          onChange={(operator) => props.onChange({ operator })}
        />
        <TextField
          label={words.value}
          value={props.rule.value}
          isDisabled={props.isDisabled}
          onInput={(value) => props.onChange({ value })}
        />
      </div>
      <div class="stack">
        <SelectField
          label={words.then}
          value={props.rule.action}
          options={actions.map((name) => [name, name] as const)}
          isDisabled={props.isDisabled}
          help={words.blockFollowsModeDeny}
          onChange={(action) => props.onChange({ action })}
        />
        <SelectField
          label={words.when}
          value={String(props.rule.phase)}
          options={phases}
          isDisabled={props.isDisabled}
          onChange={(phase) => props.onChange({ phase: Number(phase) })}
        />
        <AreaField
          label={words.transformations}
          rows={3}
          value={props.rule.transformations.join('\n')}
          placeholder={words.urldecodeuniLowercase}
          isDisabled={props.isDisabled}
          help={words.namesSeclangOneLine}
          onInput={(text) => props.onChange({ transformations: text.split(/\s+/).filter(Boolean) })}
        />
        <div class="row wrap" role="group" aria-label={words.commonTransformations}>
          <For each={transformations.filter((name) => !props.rule.transformations.includes(name))}>
            {(name) => (
              <button
                type="button"
                class="button small"
                disabled={props.isDisabled}
                onClick={() => props.onChange({ transformations: [...props.rule.transformations, name] })}
              >
                {name}
              </button>
            )}
          </For>
        </div>
        <Show when={props.rule.action === 'redirect'}>
          <TextField
            label={words.redirect}
            value={props.rule.redirect_url}
            isDisabled={props.isDisabled}
            onInput={(redirect_url) => props.onChange({ redirect_url })}
          />
        </Show>
      </div>
    </div>
  );
}
