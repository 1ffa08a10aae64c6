// The effects of a rule: one row each, with the fields that its kind needs.
import { createSignal, Index, Match, Show, Switch, type JSX } from 'solid-js';
import { dayAfter } from '../../client/moments.js';
import type { People } from '../../client/people.js';
import { Button } from '../../kit/basics.js';
import { SelectField, TextField } from '../../kit/form.js';
import { triageText as text } from '../../texts/resources/triage.js';
import { plain, severities } from '../vulnerabilities/words.js';
import { draftOf, kinds, states, toDraft, toEffect, type Draft, type Effect, type Kind } from './effects.js';

const effectsMax = 10;
const usualDays = 90;
const justifications = [
  'vulnerable_code_not_in_execute_path',
  'vulnerable_code_not_present',
  'vulnerable_code_cannot_be_controlled_by_adversary',
  'inline_mitigations_already_exist',
  'component_not_present',
] as const;

function Value(props: {
  readonly of: Draft;
  readonly people: People;
  readonly set: (change: Partial<Draft>) => void;
}): JSX.Element {
  const value = (of: string): void => props.set({ value: of });
  return (
    <Switch>
      <Match when={props.of.set === 'tag'}>
        <TextField label={text.tag} value={props.of.value} onInput={value} isRequired />
      </Match>
      <Match when={props.of.set === 'assignee'}>
        <SelectField
          label={text.person}
          value={props.of.value}
          options={props.people.choices('id', [['', text.noPerson]])}
          onChange={value}
        />
      </Match>
      <Match when={props.of.set === 'severity'}>
        <SelectField
          label={text.severity}
          value={props.of.value}
          options={severities.map((name) => [name, name] as const)}
          onChange={value}
        />
      </Match>
      <Match when={props.of.set === 'status'}>
        <SelectField
          label={text.state}
          value={props.of.value}
          options={states.map((name) => [name, text.states[name]] as const)}
          onChange={value}
        />
      </Match>
      <Match when={props.of.set === 'mute'}>
        <TextField label={text.until} type="date" value={props.of.day} onInput={(day) => props.set({ day })} />
      </Match>
    </Switch>
  );
}

/** `start` is read once. */
export function EffectFields(props: {
  readonly start: readonly Effect[];
  readonly people: People;
  readonly onChange: (effects: Effect[]) => void;
}): JSX.Element {
  const day = dayAfter(Date.now(), usualDays);
  const [drafts, setDrafts] = createSignal<readonly Draft[]>(props.start.map((one) => toDraft(one, day)));
  const store = (next: readonly Draft[]): void => {
    setDrafts(next);
    props.onChange(next.map(toEffect));
  };
  const change = (at: number, what: Partial<Draft>): void =>
    store(drafts().map((one, index) => (index === at ? { ...one, ...what } : one)));
  return (
    <fieldset class="stack">
      <legend>{text.effects}</legend>
      <Index each={drafts()}>
        {(draft, at) => (
          <div class="row wrap" role="group" aria-label={text.effect(at + 1)}>
            <SelectField<Kind>
              label={text.does}
              value={draft().set}
              options={kinds.map((kind) => [kind, text.kinds[kind]] as const)}
              onChange={(kind) => change(at, draftOf(kind, day))}
            />
            <Value of={draft()} people={props.people} set={(what) => change(at, what)} />
            <Show when={draft().set === 'status' && draft().value === 'false_positive'}>
              <SelectField
                label={text.justification}
                value={draft().justification}
                options={justifications.map((one) => [one, plain(one)] as const)}
                onChange={(justification) => change(at, { justification })}
              />
            </Show>
            <Show when={['severity', 'status', 'mute'].includes(draft().set)}>
              <TextField
                label={text.reason}
                value={draft().reason}
                onInput={(reason) => change(at, { reason })}
                isRequired
              />
            </Show>
            <Show when={drafts().length > 1}>
              <Button
                isSmall
                aria-label={text.removeEffect(at + 1)}
                onClick={() => store(drafts().filter((_, index) => index !== at))}
              >
                ×
              </Button>
            </Show>
          </div>
        )}
      </Index>
      <Show when={drafts().length < effectsMax}>
        <div>
          <Button isSmall onClick={() => store([...drafts(), draftOf('tag', day)])}>
            {text.addEffect}
          </Button>
        </div>
      </Show>
    </fieldset>
  );
}
