// A token for /api: settings, rules, events and statistics of the firewall.
import { createSignal, For, Show, type JSX } from 'solid-js';
import { createAction } from '../../../client/action.js';
import { call, type Body } from '../../../client/http.js';
import type { Role } from '../../../client/session.js';
import { Button, Notice } from '../../../kit/basics.js';
import { SelectField, TextField } from '../../../kit/form.js';
import { adminText as words } from '../../../texts/admin.js';
import { tokensText as text } from '../../../texts/vm/tokens.js';

type Scope = Body<'POST /api/tokens'>['scopes'][number];

const scopes: readonly Scope[] = [
  'settings:read',
  'settings:write',
  'apply',
  'versions:read',
  'rollback',
  'rules:read',
  'rules:write',
  'events:read',
  'threat-intel:read',
  'threat-intel:write',
  'stats:read',
  'jobs:read',
  'licence:read',
  'audit:read',
];

export function NewFirewallToken(props: { readonly onMade: (token: string) => void }): JSX.Element {
  const [name, setName] = createSignal('');
  const [role, setRole] = createSignal<Role>('viewer');
  const [days, setDays] = createSignal('365');
  const [chosen, setChosen] = createSignal<readonly Scope[]>([]);
  const action = createAction();
  const toggle = (scope: Scope): void =>
    void setChosen((all) => (all.includes(scope) ? all.filter((one) => one !== scope) : [...all, scope]));
  const make = (): Promise<boolean> =>
    action.run(async () => {
      const expires = days().trim() === '' ? {} : { expires_in_days: Number(days()) };
      const body = { name: name(), role: role(), scopes: [...chosen()], ...expires };
      props.onMade((await call('POST /api/tokens', { body })).token);
    });
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void make();
      }}
    >
      <TextField label={words.name} value={name()} onInput={setName} placeholder={words.ciPipeline} />
      <SelectField
        label={words.role}
        value={role()}
        options={[
          ['viewer', 'viewer'],
          ['operator', 'operator'],
          ['admin', 'admin'],
        ]}
        onChange={setRole}
      />
      <TextField label={words.ends2} value={days()} onInput={setDays} unit={words.days} help={words.emptyNever} />
      <fieldset class="stack tight boxed">
        <legend>{words.whatMayDo}</legend>
        <For each={scopes}>
          {(scope) => (
            <label class="row">
              <input type="checkbox" checked={chosen().includes(scope)} onChange={() => toggle(scope)} />
              <code>{scope}</code>
            </label>
          )}
        </For>
      </fieldset>
      <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      <div>
        <Button
          look="primary"
          type="submit"
          isBusy={action.isBusy()}
          disabled={name().trim() === '' || chosen().length === 0}
        >
          {text.make}
        </Button>
      </div>
    </form>
  );
}
