// A token for /api: settings, rules, events and statistics of the firewall.
import { createSignal, For, type JSX } from 'solid-js';
import { call, type Body } from '../../../client/http.js';
import type { Role } from '../../../client/session.js';
import { SelectField, TextField } from '../../../kit/form.js';
import { EntryForm } from '../../../kit/resource/entry-form.js';
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
  const toggle = (scope: Scope): void =>
    void setChosen((all) => (all.includes(scope) ? all.filter((one) => one !== scope) : [...all, scope]));
  const make = async (): Promise<void> => {
    const expires = days().trim() === '' ? {} : { expires_in_days: Number(days()) };
    const body = { name: name(), role: role(), scopes: [...chosen()], ...expires };
    props.onMade((await call('POST /api/tokens', { body })).token);
  };
  return (
    <EntryForm label={text.make} isWhole={name().trim() !== '' && chosen().length > 0} send={make}>
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
    </EntryForm>
  );
}
