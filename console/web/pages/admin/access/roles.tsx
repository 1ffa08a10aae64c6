import type { JSX } from 'solid-js';
import { call, type Body, type Item } from '../../../client/http.js';
import { showMoment } from '../../../client/moments.js';
import { createPagedList } from '../../../client/pages.js';
import { createQuery } from '../../../client/query.js';
import { createVmAccess } from '../../../client/vm-access.js';
import { Foreign } from '../../../kit/basics.js';
import { CheckList } from '../../../kit/fields/check-list.js';
import type { Choice } from '../../../kit/fields/matching.js';
import { matchOf, ResourceList, type ResourceRow } from '../../../kit/resource/resource-list.js';
import { RowForm, type RowField } from '../../../kit/resource/row-form.js';
import type { TableColumn } from '../../../kit/table/table.js';
import { rolesText as text } from '../../../texts/resources/roles.js';

type Role = Item<'GET /api/v1/rbac/roles'>;
type NewRole = Body<'POST /api/v1/rbac/roles'>;

/** `view_findings` → `view findings` */
const plain = (permission: string): string => permission.replaceAll('_', ' ');

const columns: readonly TableColumn<Role>[] = [
  { title: text.name, sortBy: ({ name }) => name, cell: ({ name }) => <Foreign text={name} max={80} /> },
  {
    title: text.permissions,
    cell: ({ permissions }) => (
      <div class="stack tight">
        <span>{text.permissionsOf((permissions ?? []).length)}</span>
        <span class="small faint">{(permissions ?? []).map(plain).join(', ')}</span>
      </div>
    ),
  },
  { title: text.made, class: 'nums', cell: ({ created_at: at }) => showMoment(at, true) },
];

const fieldsOf = (choices: () => readonly Choice[]): readonly RowField<NewRole>[] => [
  { name: 'name', kind: 'text', label: text.name, help: text.nameHelp, isRequired: true, isOnce: true },
  {
    name: 'permissions',
    kind: 'own',
    label: text.permissions,
    isRequired: true,
    draw: (value, set) => (
      <CheckList
        label={text.permissions}
        help={text.permissionsHelp}
        choices={choices()}
        chosen={value()}
        onChange={(chosen) => set([...chosen] as NewRole['permissions'])}
      />
    ),
  },
];

function RoleForm(props: { readonly of: Role | null; readonly onSaved: (saved: ResourceRow) => void }): JSX.Element {
  const { of } = props;
  const known = createQuery('GET /api/v1/rbac/permissions');
  const choices = (): readonly Choice[] =>
    (known.data()?.items ?? []).map(({ name, description }) => ({
      value: name,
      title: plain(name),
      note: description,
    }));
  return (
    <RowForm
      fields={fieldsOf(choices)}
      start={{ name: of?.name ?? '', permissions: of?.permissions ?? [] }}
      isNew={of === null}
      save={(body) =>
        of === null
          ? call('POST /api/v1/rbac/roles', { body })
          : call('PATCH /api/v1/rbac/roles/{id}', { params: { id: of.id }, body, ifMatch: matchOf(of) })
      }
      onSaved={props.onSaved}
    />
  );
}

/** Roles that an organisation makes for the vulnerability manager. */
export function Roles(): JSX.Element {
  const access = createVmAccess();
  const list = createPagedList('GET /api/v1/rbac/roles', () => ({ sort: 'name' as const, built_in: false }));
  return (
    <ResourceList
      text={{
        list: text.own,
        one: text.role,
        add: text.newRole,
        none: text.noRoles,
        noneAbout: text.noRolesAbout,
        deleteTitle: text.deleteRole,
        deleteAbout: text.deleteRoleAbout,
      }}
      param="role"
      mayEdit={access.may('manage_roles')}
      list={list}
      columns={columns}
      nameOf={({ name }) => name}
      facts={(row) => [
        [text.name, <Foreign text={row.name} />],
        [text.permissions, (row.permissions ?? []).map(plain).join(', ')],
        [text.made, showMoment(row.created_at)],
      ]}
      form={(of, onSaved) => <RoleForm of={of} onSaved={onSaved} />}
      read={(id) => createQuery('GET /api/v1/rbac/roles/{id}', () => ({ params: { id } }))}
      remove={({ id }) => call('DELETE /api/v1/rbac/roles/{id}', { params: { id } })}
    />
  );
}
