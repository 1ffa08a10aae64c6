// /repositories: where the code of applications is kept.
import { ApiError, Nullable } from '#http-kit';
import { Type } from '@sinclair/typebox';
import { Id, inApplication, Name, visibleByApplication } from '../assets/resources.js';
import { unfit, type Call } from '../kit/endpoint.js';
import type { Resource, Row } from '../kit/resource.js';
import { originOf, placeOfCredential } from './fetching.js';

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
          description: 'without a password; from https of a host in vm_git_hosts it is fetched',
        }),
      ),
      as: 'plain',
      write: 'always',
      searched: true,
    },
    credential_user: {
      schema: Type.String({
        maxLength: 200,
        pattern: '^[^\\s:]*$',
        description: 'of the credential; hosts that take tokens mostly want none, or any',
      }),
      as: 'plain',
      write: 'always',
    },
    credential: {
      schema: Nullable(
        Type.String({
          minLength: 1,
          maxLength: 1000,
          pattern: '^[\\x21-\\x7e]+$',
          description:
            'token or password to fetch with: sealed, never shown, sent to the origin of url alone; null: none',
        }),
      ),
      as: 'secret',
      write: 'always',
    },
    default_branch: {
      schema: Type.String({ minLength: 1, maxLength: 200 }),
      as: 'plain',
      write: 'always',
    },
    directory: {
      schema: Type.String({
        maxLength: 500,
        pattern: '^([^/\\\\\\x00-\\x1f]+(/[^/\\\\\\x00-\\x1f]+)*)?$',
        description: 'the part that is fetched and scanned, such as services/shop; empty: all of it',
      }),
      as: 'plain',
      write: 'always',
    },
    description: { schema: Type.String({ maxLength: 2000 }), as: 'plain', write: 'always' },
  },
  check: async (tx, call, values, before) => {
    await inApplication.check?.(tx, call, values, before);
    sealCredential(call, values, before);
    requireInside(values['directory']);
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

/** Throws 422 for a way out of the repository. */
function requireInside(directory: unknown): void {
  if (typeof directory !== 'string') return;
  if (directory.split('/').some((part) => part === '.' || part === '..'))
    throw unfit(
      '/directory',
      'leads out of the repository',
      'write it from the top of the repository, without . and ..',
    );
}

/** Throws 422 where the address leads to another origin and the credential would follow it there. */
function sealCredential({ host }: Call, values: Record<string, unknown>, before: Row | null): void {
  const origin = originOf(values['url'] === undefined ? before?.['url'] : values['url']);
  const given = values['credential'];
  if (typeof given === 'string') {
    if (origin === null) throw unfit('/credential', 'is for no address', 'give the repository an https address');
    values['credential'] = host.secrets.seal(given, placeOfCredential(origin));
    return;
  }
  const had = originOf(before?.['url']);
  if (given === undefined && typeof before?.['credential'] === 'string' && origin !== had)
    throw unfit(
      '/credential',
      `is needed again: it was given for ${had ?? 'another address'} and is sent nowhere else`,
      'give it together with the new address, or null',
    );
}
