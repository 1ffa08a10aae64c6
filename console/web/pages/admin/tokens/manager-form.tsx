// A token for /api/v1: findings, scans and gates, confined to an application where that is wanted.
import { createSignal, For, Show, type JSX } from 'solid-js';
import { createAction } from '../../../client/action.js';
import { call, type Body } from '../../../client/http.js';
import { endOfDay } from '../../../client/moments.js';
import { createQuery } from '../../../client/query.js';
import { Button, Notice } from '../../../kit/basics.js';
import { SelectField, TextField } from '../../../kit/form.js';
import { tokensText as text } from '../../../texts/vm/tokens.js';
import type { Applications } from '../../vulnerabilities/words.js';

type Scope = Body<'POST /api/v1/tokens'>['scopes'][number];

/** `read` lets everything through that changes nothing, `admin` everything: neither is read as a list. */
const helpOf = (scope: string, permissions: readonly string[]): string =>
  scope === 'read' || scope === 'admin' ? text.wholeScopes[scope] : permissions.join(', ').replaceAll('_', ' ');

export function NewManagerToken(props: {
  readonly applications: Applications;
  readonly onMade: (token: string) => void;
}): JSX.Element {
  const known = createQuery('GET /api/v1/tokens/scopes');
  const [name, setName] = createSignal('');
  const [application, setApplication] = createSignal('');
  const [end, setEnd] = createSignal('');
  const [scopes, setScopes] = createSignal<readonly Scope[]>(['read']);
  const action = createAction();
  const toggle = (scope: Scope, isIn: boolean): void =>
    void setScopes((all) => [...all.filter((one) => one !== scope), ...(isIn ? [scope] : [])]);
  const make = (): Promise<boolean> =>
    action.run(async () => {
      const expires = end() === '' ? undefined : endOfDay(end());
      const body = {
        name: name().trim(),
        scopes: [...scopes()],
        ...(application() === '' ? {} : { application_ids: [application()] }),
        ...(expires === undefined ? {} : { expires_at: expires }),
      };
      props.onMade((await call('POST /api/v1/tokens', { body })).token);
    });
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void make();
      }}
    >
      <TextField label={text.name} value={name()} onInput={setName} isRequired />
      <div class="narrow-grid">
        <SelectField
          label={text.application}
          value={application()}
          options={props.applications.options(text.anyApplication)}
          onChange={setApplication}
        />
        <TextField label={text.endsOn} type="date" value={end()} onInput={setEnd} help={text.endsHelp} />
      </div>
      <fieldset class="field bare">
        <legend class="label">{text.scopes}</legend>
        <div class="stack tight">
          <For each={known.data()?.items}>
            {({ name: scope, permissions }) => (
              <label class="choice">
                <input
                  type="checkbox"
                  checked={scopes().includes(scope as Scope)}
                  onChange={(event) => toggle(scope as Scope, event.currentTarget.checked)}
                />
                <span>
                  <code>{scope}</code>
                  <span class="help">{helpOf(scope, permissions)}</span>
                </span>
              </label>
            )}
          </For>
        </div>
      </fieldset>
      <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      <div>
        <Button
          look="primary"
          type="submit"
          isBusy={action.isBusy()}
          disabled={name().trim() === '' || scopes().length === 0}
        >
          {text.make}
        </Button>
      </div>
    </form>
  );
}
