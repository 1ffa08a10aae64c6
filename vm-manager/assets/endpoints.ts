// Endpoints of assets beside plain reading and writing.
import { ApiError, Nullable } from '#http-kit';
import { Type } from '@sinclair/typebox';
import { endpoint, toId, unfit, type Endpoint } from '../kit/endpoint.js';
import { checkVersion, requireRow, resourceEndpoints, toView, viewSchema, type Row } from '../kit/resource.js';
import { severityNames } from '../findings/words.js';
import { checkSite, sitesOfOrganisation } from './site.js';
import { importApplications } from './import.js';
import { applications, projects, targetGroups, targets, visibleByApplication } from './resources.js';

const closed = { additionalProperties: false } as const;

const Summary = Type.Object({
  application_id: Type.String(),
  open: Type.Record(Type.String(), Type.Integer()),
  by_source: Type.Record(Type.String(), Type.Integer()),
  overdue: Type.Integer(),
  max_risk: Type.Integer(),
});

const applicationExtras: readonly Endpoint[] = [
  endpoint({
    method: 'DELETE',
    path: '/applications/:id',
    permission: 'edit_assets',
    kind: 'C',
    summary: 'Delete an application; 409 while it has findings, unless purge=true deletes them, too',
    query: Type.Object({ purge: Type.Optional(Type.Boolean()) }, closed),
    status: 204,
    handle: async (call) => {
      const id = call.params['id'] ?? '';
      await call.audited(
        'vm.delete',
        `deleted the application ${id}${call.query.purge === true ? ' with all that it had' : ''}`,
        async (tx) => {
          const row = await requireRow(tx, applications, call.reach, id, true);
          checkVersion(call.request.headers['if-match'], row.version);
          const [used] =
            call.query.purge === true
              ? []
              : await tx`
          select 1 from vm_findings where application_id = ${row.id} limit 1`;
          if (used !== undefined)
            throw new ApiError('conflict', 'The application has findings. Archive it, or delete it with purge=true.');
          await tx`delete from vm_grants where scope = 'application' and scope_id = ${row.id}`;
          await tx`delete from vm_applications where id = ${row.id}`;
        },
      );
    },
  }),
  endpoint({
    method: 'PUT',
    path: '/applications/:id/site',
    permission: 'edit_assets',
    ofOrganisation: sitesOfOrganisation,
    kind: 'B',
    summary: 'Link an application to a site of the firewall: its virtual patches hold there; null ends the link',
    body: Type.Object({ site: Nullable(Type.String({ minLength: 1, maxLength: 200 })) }, closed),
    answer: viewSchema(applications),
    handle: async (call) => {
      const { site } = call.body;
      const id = call.params['id'] ?? '';
      const { site: before } = await requireRow(call.sql, applications, call.reach, id);
      checkSite(call.reach, site, before as string | null);
      const sites = (await call.host.firewall?.sites()) ?? null;
      if (site !== null && sites?.includes(site) === false)
        throw unfit('/site', `names no site of the firewall`, `it has ${sites.slice(0, 20).join(', ') || 'none'}`);
      const made = await call.audited(
        'vm.update',
        site === null ? `unlinked the application ${id} from its site` : `linked the application ${id} to ${site}`,
        async (tx) => {
          const row = await requireRow(tx, applications, call.reach, id, true);
          checkVersion(call.request.headers['if-match'], row.version);
          const [after] = await tx<Row[]>`
            update vm_applications set site = ${site}, site_confirmed = true, updated_at = ${call.now},
              version = version + 1
            where id = ${row.id} returning *`;
          return after ?? row;
        },
      );
      call.reply.header('etag', `"${made.version}"`);
      return toView(applications, made);
    },
  }),
  endpoint({
    method: 'GET',
    path: '/applications/:id/summary',
    permission: 'view_findings',
    kind: 'A',
    summary: 'Open findings of an application by severity and source',
    answer: Summary,
    handle: async ({ sql, reach, params, now }) => {
      const { id } = await requireRow(sql, applications, reach, params['id'] ?? '');
      const rows = await sql<{ severity: number; source: string; n: number; overdue: number; worst: number }[]>`
        select severity, source, count(*) as n, count(*) filter (where due_at < ${now}) as overdue,
          max(effective_risk)::int as worst
        from vm_findings where application_id = ${id} and is_open group by severity, source`;
      const open: Record<string, number> = Object.fromEntries(severityNames.map((name) => [name, 0]));
      const bySource: Record<string, number> = {};
      for (const { severity, source, n } of rows) {
        const name = severityNames[severity] ?? 'info';
        open[name] = (open[name] ?? 0) + n;
        bySource[source] = (bySource[source] ?? 0) + n;
      }
      return {
        application_id: String(id),
        open,
        by_source: bySource,
        overdue: rows.reduce((sum, row) => sum + row.overdue, 0),
        max_risk: Math.max(0, ...rows.map(({ worst }) => worst)),
      };
    },
  }),
];

/** Archived and active are the two states of an application; each call says which one it leads to. */
const move = (name: 'archive' | 'restore', to: 'archived' | 'active', summary: string): Endpoint =>
  endpoint({
    method: 'POST',
    path: `/applications/:id/${name}`,
    permission: 'edit_assets',
    kind: 'S',
    summary,
    answer: viewSchema(applications),
    handle: async (call) => {
      const id = call.params['id'] ?? '';
      const made = await call.audited('vm.update', `${name}d the application ${id}`, async (tx) => {
        const row = await requireRow(tx, applications, call.reach, id, true);
        checkVersion(call.request.headers['if-match'], row.version);
        if (row['status'] === to) throw new ApiError('conflict', `The application is ${to} already.`);
        const [after] = await tx<Row[]>`
          update vm_applications set status = ${to}, updated_at = ${call.now}, version = version + 1
          where id = ${row.id} returning *`;
        if (after !== undefined) await applications.after?.(tx, call, after, row);
        return after ?? row;
      });
      call.reply.header('etag', `"${made.version}"`);
      return toView(applications, made);
    },
  });

const archiving: readonly Endpoint[] = [
  move('archive', 'archived', 'Take an application out of chains and posture; its findings stay, and it can come back'),
  move('restore', 'active', 'Bring an archived application back'),
];

const groupMembers: readonly Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/target-groups/:id/targets',
    permission: 'view_assets',
    kind: 'A',
    summary: 'Targets of a group',
    answer: Type.Object({ target_ids: Type.Array(Type.String()) }),
    handle: async ({ sql, reach, params }) => {
      const { id } = await requireRow(sql, targetGroups, reach, params['id'] ?? '');
      const rows = await sql<{ target_id: number }[]>`
        select target_id from vm_target_group_members where group_id = ${id} order by target_id`;
      return { target_ids: rows.map(({ target_id }) => String(target_id)) };
    },
  }),
  endpoint({
    method: 'PUT',
    path: '/target-groups/:id/targets',
    permission: 'edit_assets',
    ofOrganisation: 'Target groups',
    kind: 'B',
    summary: 'Replace the targets of a group',
    body: Type.Object(
      { target_ids: Type.Array(Type.String({ maxLength: 20 }), { maxItems: 5000, uniqueItems: true }) },
      closed,
    ),
    answer: Type.Object({ target_ids: Type.Array(Type.String()) }),
    handle: async (call) => {
      const wanted = call.body.target_ids.map((id) => Number(toId(id, 'target')));
      await call.audited('vm.update', `set the targets of the group ${call.params['id']}`, async (tx) => {
        const { id } = await requireRow(tx, targetGroups, call.reach, call.params['id'] ?? '', true);
        await tx`delete from vm_target_group_members where group_id = ${id}`;
        if (wanted.length === 0) return;
        const there = await tx<{ id: number }[]>`
          select id from vm_targets
          where id in ${tx(wanted)} and ${visibleByApplication('vm_targets')(tx, call.reach)}`;
        const unknown = wanted.find((one) => !there.some((row) => row.id === one));
        if (unknown !== undefined) throw unfit('/target_ids', `names no target ${unknown}`);
        await tx`insert into vm_target_group_members ${tx(wanted.map((target_id) => ({ group_id: id, target_id })))}`;
      });
      return { target_ids: wanted.map(String) };
    },
  }),
];

export const assetEndpoints: readonly Endpoint[] = [
  ...resourceEndpoints(projects),
  importApplications,
  ...resourceEndpoints(applications),
  ...applicationExtras,
  ...archiving,
  ...resourceEndpoints(targets),
  ...resourceEndpoints(targetGroups),
  ...groupMembers,
];
