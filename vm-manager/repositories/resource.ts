// /repositories: where the code of applications is kept.
import { ApiError, Nullable } from '#http-kit';
import { Type } from '@sinclair/typebox';
import { Id, inApplication, Name, visibleByApplication } from '../assets/resources.js';
import type { Resource } from '../kit/resource.js';

const repositoriesMax = 200;

export const repositories: Resource = {
  path: '/repositories',
  noun: 'repository',
  table: 'vm_repositories',
  view: 'view_code',
  edit: 'run_code_scans',
  defaultSort: 'name',
  visible: visibleByApplication('vm_repositories'),
  columns: {
    application_id: { schema: Id, as: 'id', write: 'create', required: true, filter: 'equal' },
    name: { schema: Name, as: 'plain', write: 'always', required: true, searched: true, sort: 'text' },
    url: {
      schema: Nullable(
        Type.String({
          maxLength: 1000,
          pattern: '^(https?://[^\\s@]+|ssh://(git@)?[^\\s@]+|git@[^\\s@]+)$',
          description: 'to open in a browser; without a password. Nothing is fetched from it',
        }),
      ),
      as: 'plain',
      write: 'always',
      searched: true,
    },
    default_branch: {
      schema: Type.String({ minLength: 1, maxLength: 200 }),
      as: 'plain',
      write: 'always',
    },
    description: { schema: Type.String({ maxLength: 2000 }), as: 'plain', write: 'always' },
  },
  check: async (tx, call, values, before) => {
    await inApplication.check?.(tx, call, values, before);
    if (before !== null) return;
    const [row] = await tx<{ n: number }[]>`
      select count(*)::integer as n from vm_repositories where application_id = ${Number(values['application_id'])}`;
    if ((row?.n ?? 0) >= repositoriesMax)
      throw new ApiError('conflict', `${repositoriesMax} repositories are the most that an application has.`);
  },
  beforeDelete: async (tx, _call, row) => {
    const [open] = await tx`
      select 1 from vm_runs where input ->> 'repository_id' = ${String(row.id)}
        and status in ('queued', 'running') limit 1`;
    if (open !== undefined)
      throw new ApiError('conflict', 'A scan of the repository is running: wait for its end, or cancel it.');
  },
};
