// /repositories: code as snapshots, which are uploads that are kept, and scans of them.
import { ApiError, OneOf } from '#http-kit';
import { Type, type Static } from '@sinclair/typebox';
import { requireApplication } from '../assets/resources.js';
import { allOf } from '../database.js';
import { endpoint, notFound, toId, unfit, type Call, type Endpoint } from '../kit/endpoint.js';
import { List, ListQuery, readPage } from '../kit/list.js';
import { requireWhole } from '../kit/caller.js';
import { requireRow, resourceEndpoints, type Row } from '../kit/resource.js';
import { textOf } from '../kit/values/text.js';
import { receive, type Upload } from '../kit/upload/receive.js';
import { scannerOf } from '../scanners/catalogue.js';
import { extents, fileKinds, type Scanner } from '../scanners/contract.js';
import { beginScan, ScanView, viewScan } from '../scanners/hub/run-scan.js';
import { fetchContent, shared, storeContent, sumOf } from './content.js';
import { fetchRepository } from './fetching.js';
import { branchPattern } from './git/fetch.js';
import { examine, isPackersRoot, within, withoutRoot, type Examined } from './examine.js';
import { repositories } from './resource.js';
import { dropOlder, limits, requireRoom, scansOf, SnapshotView, viewSnapshot, type Snapshot } from './store.js';

const closed = { additionalProperties: false } as const;
const Short = Type.String({ maxLength: 200 });

const upload = {
  bytesMax: limits.archiveBytesMax,
  fields: Type.Object(
    {
      branch: Type.Optional(Short),
      commit: Type.Optional(Short),
      root: Type.Optional(
        Type.Union([Type.Literal('auto'), Type.Literal('keep'), Type.Literal('strip')], {
          description:
            'the directory around everything: auto, the default, leaves it out where a packer put it there (it has ' +
            'the name of the repository, or ends with that of a commit); strip always does, keep never',
        }),
      ),
    },
    closed,
  ),
};
type ArchiveFields = Static<typeof upload.fields>;

function rootOf({ root }: Examined, wanted: ArchiveFields['root'], repository: Row): string {
  if (wanted === 'keep') return '';
  return wanted === 'strip' || isPackersRoot(root, String(repository['name'])) ? root : '';
}

/** The same bytes again, of the same branch and commit, are the same snapshot. */
async function findSame({ sql }: Call, wanted: Omit<Snapshot, 'id' | 'created_by' | 'created_at'>) {
  const { repository_id: repository, sha256, branch, commit, root } = wanted;
  const [row] = await sql<Snapshot[]>`
    select * from vm_snapshots where repository_id = ${repository} and state = 'ready' and sha256 = ${sha256}
      and branch = ${branch} and commit = ${commit} and root = ${root} order by id desc limit 1`;
  return row ?? null;
}

async function keep(call: Call, repository: Row, sent: Upload<ArchiveFields>): Promise<Snapshot> {
  const { sql, now } = call;
  const found = await examine(sent.file);
  const { branch = String(repository['default_branch']), commit = '', root } = sent.fields;
  const row = {
    ...{ repository_id: repository.id, state: 'incoming' as const, sha256: await sumOf(sent.file), bytes: sent.bytes },
    ...{ form: found.form, root: rootOf(found, root, repository), files: found.files, branch, commit },
    unpacked_bytes: found.unpackedBytes,
  };
  const same = await findSame(call, row);
  if (same !== null) return same;
  await requireRoom(sql, sent.bytes, now);
  const [made] = await sql<Snapshot[]>`
    insert into vm_snapshots ${sql({ ...row, created_by: call.caller.actor.name, created_at: now } as never)}
    returning *`;
  if (made === undefined) throw new Error('the snapshot was not stored');
  try {
    await storeContent(sql, made.id, sent.file);
    return await call.audited(
      'vm.create',
      `kept the snapshot ${made.id} of the repository ${repository.id}`,
      async (tx) => {
        const [ready] = await tx<Snapshot[]>`
          update vm_snapshots set state = 'ready' where id = ${made.id} returning *`;
        if (ready === undefined) throw notFound('repository', String(repository.id));
        await dropOlder(tx, repository.id);
        return ready;
      },
      ({ sha256, bytes, files }) => ({ sha256, bytes, files, branch, commit }),
    );
  } catch (error) {
    await sql`delete from vm_snapshots where id = ${made.id}`;
    throw error;
  }
}

const addArchive = endpoint({
  method: 'POST',
  path: '/repositories/:id/archives',
  permission: 'run_code_scans',
  kind: 'I',
  summary:
    'Keep an archive of the checkout (tar, tar.gz, tar.zst, zip) as a snapshot: multipart with the part "file"; the ' +
    `newest ${limits.kept} of a repository are kept`,
  upload,
  status: 201,
  answer: SnapshotView,
  handle: async (call) => {
    // an unknown repository is refused before anything is read
    const repository = await requireRow(call.sql, repositories, call.reach, call.params['id'] ?? '');
    const sent = await receive<ArchiveFields>(call.request, upload);
    try {
      return viewSnapshot(await keep(call, repository, sent));
    } finally {
      await sent.discard();
    }
  },
});

const fetchBranch = endpoint({
  method: 'POST',
  path: '/repositories/:id/fetch',
  permission: 'run_code_scans',
  kind: 'I',
  summary:
    'Fetch a branch from the address of the repository with Git and keep it as a snapshot; of hosts in vm_git_hosts ' +
    `alone, within ${limits.fetchMsMax / 1000} s`,
  body: Type.Object(
    {
      branch: Type.Optional(
        Type.String({ pattern: branchPattern, maxLength: 200, description: 'the default branch by default' }),
      ),
    },
    { ...closed, examples: [{}] },
  ),
  status: 201,
  answer: SnapshotView,
  handle: async (call) => {
    const repository = await requireRow(call.sql, repositories, call.reach, call.params['id'] ?? '');
    const branch = call.body.branch ?? String(repository['default_branch']);
    if (!new RegExp(branchPattern).test(branch))
      throw unfit('/branch', 'is no name of a branch', 'give one, or fix the default branch of the repository');
    const { file, bytes, commit, discard } = await fetchRepository(call, repository, branch);
    try {
      const sent = { fields: { branch, commit, root: 'keep' as const }, fileName: `${branch}.tar` };
      return viewSnapshot(await keep(call, repository, { ...sent, file, bytes, discard }));
    } finally {
      await discard();
    }
  },
});

const listSnapshots = endpoint({
  method: 'GET',
  path: '/repositories/:id/snapshots',
  permission: 'view_code',
  kind: 'A',
  summary: 'Snapshots of a repository, newest first, each with its newest scans',
  query: Type.Object({ ...ListQuery, branch: Type.Optional(Short) }, closed),
  answer: List(SnapshotView),
  handle: async ({ sql, reach, params, query }) => {
    const repository = await requireRow(sql, repositories, reach, params['id'] ?? '');
    const where = allOf(sql, [
      sql`repository_id = ${repository.id} and state <> 'incoming'`,
      query.branch === undefined ? sql`true` : sql`branch = ${query.branch}`,
    ]);
    const sorts = { id: { column: 'id', type: 'number' } } as const;
    const page = await readPage<Snapshot>(sql, { table: 'vm_snapshots', where, sorts, sort: '-id' }, query);
    const scans = await scansOf(sql, page.items);
    return { ...page, items: page.items.map((row) => viewSnapshot(row, scans.get(row.id))) };
  },
});

const ScanBody = Type.Object(
  {
    engines: Type.Optional(
      Type.Array(OneOf(fileKinds), {
        minItems: 1,
        maxItems: fileKinds.length,
        uniqueItems: true,
        description: 'secrets, sast, sca and iac by default; k8s needs the permission edit_k8s, too',
      }),
    ),
    snapshot_id: Type.Optional(Type.String({ maxLength: 20, description: 'the newest by default' })),
    covers: Type.Optional(
      OneOf(extents, 'whole, the default: findings in files that the snapshot has not any more are closed, too'),
    ),
    confirm_close: Type.Optional(
      Type.Boolean({ description: 'close also more than vm_import_close_percent of what is open' }),
    ),
  },
  { ...closed, examples: [{ engines: ['secrets', 'sast'] }] },
);

async function requireSnapshot({ sql }: Call, repository: Row, id: string | undefined): Promise<Snapshot> {
  const [row] = await sql<Snapshot[]>`
    select * from vm_snapshots where repository_id = ${repository.id} and state <> 'incoming'
      and ${id === undefined ? sql`state = 'ready'` : sql`id = ${toId(id, 'snapshot')}`} order by id desc limit 1`;
  if (row === undefined && id !== undefined) throw notFound('snapshot', id);
  if (row === undefined)
    throw new ApiError('conflict', 'The repository has no snapshot: send an archive of the checkout first.');
  if (row.state === 'dropped')
    throw new ApiError('conflict', `The bytes of the snapshot ${row.id} made room for newer ones: send it again.`);
  return row;
}

/** One scan of each kind at a time: two would close what the other one finds. */
async function refuseTwice({ sql }: Call, repository: Row, engines: readonly string[]): Promise<void> {
  const [open] = await sql<{ id: number; kind: string }[]>`
    select id, kind from vm_runs where input ->> 'repository_id' = ${String(repository.id)}
      and kind in ${sql(engines)} and status in ('queued', 'running') limit 1`;
  if (open !== undefined)
    throw new ApiError('conflict', `The scan ${open.id} (${open.kind}) of this repository has not ended yet.`);
}

const scanSnapshot = endpoint({
  method: 'POST',
  path: '/repositories/:id/scan',
  permission: 'run_code_scans',
  kind: 'R',
  summary: 'Scan a snapshot: one run each scanner, in turn, each to be followed and canceled by its id',
  body: ScanBody,
  status: 202,
  answer: Type.Object({ snapshot_id: Type.String(), items: Type.Array(ScanView) }),
  handle: async (call) => {
    const { sql, reach, body } = call;
    const repository = await requireRow(sql, repositories, reach, call.params['id'] ?? '');
    const application = String(repository['application_id']);
    const scanners = (body.engines ?? ['secrets', 'sast', 'sca', 'iac']).map(scannerOf);
    if (scanners.some(({ kind }) => kind === 'k8s')) await requireKubernetes(call, application);
    const snapshot = await requireSnapshot(call, repository, body.snapshot_id);
    await refuseTwice(
      call,
      repository,
      scanners.map(({ kind }) => kind),
    );
    const runs = await begin(call, repository, snapshot, scanners);
    return { snapshot_id: String(snapshot.id), items: runs.map(viewScan) };
  },
});

/** Throws 403 or 404 for who may not scan manifests of this application. */
async function requireKubernetes({ sql, caller }: Call, application: string): Promise<void> {
  const reach = caller.reach('edit_k8s', true);
  if (reach === null) requireWhole(reach, 'Scans of manifests');
  else await requireApplication(sql, reach, application);
}

async function begin(
  call: Call<Record<string, string>, unknown, Static<typeof ScanBody>>,
  repository: Row,
  snapshot: Snapshot,
  scanners: readonly Scanner[],
) {
  const fetched = await fetchContent(call.sql, snapshot.id, snapshot.sha256);
  if (fetched === null)
    throw new ApiError('conflict', `The bytes of the snapshot ${snapshot.id} are not whole: send the archive again.`);
  const { file, discard } = shared(fetched, scanners.length);
  const { covers = 'whole', confirm_close } = call.body;
  const runs = [];
  let begun = 0;
  try {
    for (const scanner of scanners) {
      begun++;
      const sent = {
        fields: {
          application_id: String(repository['application_id']),
          ...{ branch: snapshot.branch, commit: snapshot.commit, scope_key: `repository ${repository.id}`, covers },
          ...(confirm_close === undefined ? {} : { confirm_close }),
        },
        ...{ file, bytes: snapshot.bytes, fileName: `snapshot ${snapshot.id}`, discard },
      };
      runs.push(
        await beginScan(call, scanner, sent, {
          input: { repository_id: String(repository.id), snapshot_id: String(snapshot.id) },
          source: (source) => within(withoutRoot(source, snapshot.root), textOf(repository['directory'])),
        }),
      );
    }
  } catch (error) {
    // those that were never begun use it no more; of one that failed `beginScan` has said so
    for (let left = begun; left < scanners.length; left++) await discard();
    throw error;
  }
  return runs;
}

export const repositoryEndpoints: readonly Endpoint[] = [
  ...resourceEndpoints(repositories),
  addArchive,
  fetchBranch,
  listSnapshots,
  scanSnapshot,
];
