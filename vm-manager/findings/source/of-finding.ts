// Which repository, commit and line a finding is of, by what its last report and the repositories of its application
// say.
import type { Queryable } from '../../database.js';
import type { DetailsRow, FindingRow } from '../fields.js';
import { hostKinds, sourceLink, type HostKind } from './link.js';

interface Origin {
  readonly commit: string | null;
  readonly branch: string | null;
  readonly repository_id: string | null;
  readonly snapshot_commit: string | null;
  readonly snapshot_branch: string | null;
}

interface Repository {
  readonly id: number;
  readonly url: string;
  readonly default_branch: string;
}

/** Of several repositories the one that was scanned; else the only one that has an address. */
async function repositoryOf(sql: Queryable, applicationId: number, wanted: string | null): Promise<Repository | null> {
  const rows = await sql<Repository[]>`
    select id, url, default_branch from vm_repositories
    where application_id = ${applicationId} and url is not null order by id limit 50`;
  if (wanted !== null) return rows.find(({ id }) => String(id) === wanted) ?? null;
  return rows.length === 1 ? (rows[0] ?? null) : null;
}

/** A host of one's own may have any name: the webhook of the repository says what it is. */
async function kindOfHook(sql: Queryable, applicationId: number, url: string): Promise<HostKind | null> {
  const rows = await sql<{ provider: string; repository: string }[]>`
    select provider, repository from vm_scm_hooks where application_id = ${applicationId} order by id limit 50`;
  const plain = url
    .toLowerCase()
    .replace(/\/+$/, '')
    .replace(/\.git$/, '');
  const hook = rows.find(({ repository }) => plain.endsWith(`/${repository}`) || plain.endsWith(`:${repository}`));
  return hostKinds.find((kind) => kind === hook?.provider) ?? null;
}

/** The address of the line at the host of the repository; null: it is not known. */
export async function sourceUrlOf(
  sql: Queryable,
  { id, application_id: app }: Pick<FindingRow, 'id' | 'application_id'>,
  details: DetailsRow | null,
): Promise<string | null> {
  const { path, line } = details?.location ?? {};
  if (typeof path !== 'string' || path === '') return null;
  const [origin] = await sql<Origin[]>`
    select r.input ->> 'commit' as commit, r.input ->> 'branch' as branch,
      r.input ->> 'repository_id' as repository_id, s.commit as snapshot_commit, s.branch as snapshot_branch
    from vm_occurrences o join vm_runs r on r.id = o.last_run
      left join vm_snapshots s on s.id::text = r.input ->> 'snapshot_id'
    where o.finding_id = ${id} order by o.last_run desc limit 1`;
  const repository = await repositoryOf(sql, app, origin?.repository_id ?? null);
  if (repository === null) return null;
  return sourceLink({
    repository: repository.url,
    kind: await kindOfHook(sql, app, repository.url),
    commit: origin?.snapshot_commit || origin?.commit || '',
    branch: origin?.snapshot_branch || origin?.branch || repository.default_branch,
    path,
    line: typeof line === 'number' ? line : null,
  });
}
