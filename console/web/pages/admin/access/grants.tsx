// Roles that somebody has in the vulnerability manager: everywhere, in a project, in an application.
import { createMemo, createSignal, Index, Show, type JSX } from 'solid-js';
import { createAction } from '../../../client/action.js';
import { call } from '../../../client/http.js';
import { createQuery } from '../../../client/query.js';
import { createVmAccess } from '../../../client/vm-access.js';
import { Button, Notice } from '../../../kit/basics.js';
import type { Choices } from '../../../kit/fields/choices.js';
import { SelectField, Switch } from '../../../kit/form.js';
import { tell } from '../../../kit/overlays.js';
import { Read } from '../../../kit/page-state.js';
import { rolesText as text } from '../../../texts/resources/roles.js';
import { createApplications, createProjectOptions } from '../../vulnerabilities/words.js';
import { areWhole, newGrant, toGrants, withPart, type GrantRow, type Scope } from './grant-rows.js';
import type { User } from './user-drawer.js';

type Options = Choices;

/** As many as one answer holds. */
const listMax = 500;
const scopes = Object.entries(text.scopes) as readonly (readonly [Scope, string])[];

/** What can be chosen: roles, built in and made here, and what they are given for. */
function createGrantOptions() {
  const query = { limit: listMax, sort: 'name' as const };
  const permissions = createQuery('GET /api/v1/rbac/permissions');
  const own = createQuery('GET /api/v1/rbac/roles', () => ({ query }));
  const projects = createProjectOptions();
  const applications = createApplications();
  const roles = createMemo((): Options => {
    const builtIn = (permissions.data()?.items ?? []).flatMap((permission) => permission.roles);
    const made = (own.data()?.items ?? []).flatMap(({ name }) => (name === null ? [] : [name]));
    return [...new Set([...builtIn, ...made])].map((name) => [name, name] as const);
  });
  return {
    /** A role that is not listed (it is gone) is still shown where somebody has it. */
    roles: (given: string): Options =>
      roles().some(([name]) => name === given) ? roles() : [[given, given], ...roles()],
    within: (scope: Scope): Options =>
      scope === 'project' ? projects(text.chooseProject) : applications.options(text.chooseApplication),
  };
}

function OneGrant(props: {
  readonly of: GrantRow;
  readonly number: number;
  readonly options: ReturnType<typeof createGrantOptions>;
  readonly mayEdit: boolean;
  readonly onChange: (part: Partial<GrantRow>) => void;
  readonly onRemove: () => void;
}): JSX.Element {
  return (
    <div class="grant-row">
      <SelectField
        label={text.role}
        value={props.of.role}
        options={props.options.roles(props.of.role)}
        onChange={(role) => props.onChange({ role })}
        isDisabled={!props.mayEdit}
      />
      <SelectField
        label={text.where}
        value={props.of.scope}
        options={scopes}
        onChange={(scope) => props.onChange({ scope })}
        isDisabled={!props.mayEdit}
      />
      <Show when={props.of.scope !== 'org'} fallback={<span />}>
        <SelectField
          label={text.which}
          value={props.of.scope_id ?? ''}
          options={props.options.within(props.of.scope)}
          onChange={(id) => props.onChange({ scope_id: id })}
          isDisabled={!props.mayEdit}
        />
      </Show>
      <Show when={props.mayEdit}>
        <Button look="plain" icon="close" aria-label={text.removeGrant(props.number)} onClick={props.onRemove} />
      </Show>
    </div>
  );
}

/** What the grants of this user mean. */
function explanation(user: User, isConfined: boolean): string {
  if (user.role === 'admin') return text.grantsAdmin;
  return isConfined ? text.grantsConfined : text.grantsNone(user.role);
}

export function Grants(props: { readonly user: User }): JSX.Element {
  const stored = createQuery('GET /api/v1/rbac/grants/{user_id}', () => ({ params: { user_id: props.user.id } }));
  const access = createVmAccess();
  const options = createGrantOptions();
  const [changed, setChanged] = createSignal<readonly GrantRow[] | null>(null);
  const action = createAction();
  const [confined, setConfined] = createSignal<boolean | null>(null);
  const isConfined = (): boolean => confined() ?? stored.data()?.confined ?? false;
  const rows = (): readonly GrantRow[] => changed() ?? stored.data()?.items ?? [];
  const mayEdit = (): boolean => access.may('manage_roles');
  const save = async (): Promise<void> => {
    const given = { params: { user_id: props.user.id }, body: { items: toGrants(rows()), confined: isConfined() } };
    if (!(await action.run(() => call('PUT /api/v1/rbac/grants/{user_id}', given)))) return;
    tell(text.grantsSaved);
    await stored.reload();
    setChanged(null);
    setConfined(null);
  };
  return (
    <section class="stack">
      <h3>{text.grants}</h3>
      <Read of={stored}>
        {() => (
          <div class="stack">
            <p class="muted">{explanation(props.user, isConfined())}</p>
            <Show when={props.user.role !== 'admin'}>
              <Switch label={text.confined} isOn={isConfined()} isDisabled={!mayEdit()} onChange={setConfined} />
            </Show>
            <Index each={rows()}>
              {(row, at) => (
                <OneGrant
                  of={row()}
                  number={at + 1}
                  options={options}
                  mayEdit={mayEdit()}
                  onChange={(part) =>
                    setChanged(rows().map((one, index) => (index === at ? withPart(one, part) : one)))
                  }
                  onRemove={() => setChanged(rows().filter((_, index) => index !== at))}
                />
              )}
            </Index>
            <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
            <Show when={mayEdit()}>
              <div class="row wrap">
                <Show when={props.user.role !== 'admin'}>
                  <Button icon="plus" onClick={() => setChanged([...rows(), newGrant])}>
                    {text.addGrant}
                  </Button>
                </Show>
                <Show when={changed() !== null || confined() !== null}>
                  <Button
                    look="primary"
                    isBusy={action.isBusy()}
                    disabled={!areWhole(rows())}
                    onClick={() => void save()}
                  >
                    {text.saveGrants}
                  </Button>
                </Show>
              </div>
            </Show>
          </div>
        )}
      </Read>
    </section>
  );
}
