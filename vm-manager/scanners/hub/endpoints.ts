// /secrets, /sca, /iac, /k8s-posture: scans of uploads, by the same scanners as the command line's.
import { Type } from '@sinclair/typebox';
import { visibleByApplication } from '../../assets/resources.js';
import { allOf } from '../../database.js';
import { hasOneOf, SomeOf } from '../../kit/comma-list.js';
import { requireWhole } from '../../kit/caller.js';
import { endpoint, notFound, toId, type Call, type Endpoint } from '../../kit/endpoint.js';
import { List, ListQuery, readPage } from '../../kit/list.js';
import type { VmPermission } from '../../kit/permissions.js';
import { runStatuses, type Run } from '../../kit/runs.js';
import { receive } from '../../kit/upload/receive.js';
import { scanners, type FileScanner } from '../catalogue.js';
import type { FileKind } from '../contract.js';
import { keepObjects } from '../../k8s-posture/store.js';
import { beginScan, ScanView, viewScan, type Begun, type ScanFields } from './run-scan.js';

const closed = { additionalProperties: false } as const;
const Short = Type.String({ maxLength: 200 });
const uploadBytesMax = 1024 ** 3;

interface Place {
  readonly path: string;
  readonly view: VmPermission;
  readonly run: VmPermission;
}
const code = { view: 'view_code', run: 'run_code_scans' } as const;
const places: Readonly<Record<FileKind, Place>> = {
  secrets: { path: '/secrets', ...code },
  sast: { path: '/sast', ...code },
  sca: { path: '/sca', ...code },
  iac: { path: '/iac', ...code },
  k8s: { path: '/k8s-posture', view: 'view_k8s', run: 'edit_k8s' },
};

const upload = {
  bytesMax: uploadBytesMax,
  fields: Type.Object(
    {
      application_id: Type.String({ maxLength: 20 }),
      branch: Type.Optional(Short),
      commit: Type.Optional(Short),
      scope_key: Type.Optional(
        Type.String({ maxLength: 150, description: 'a part of the application, scanned alone' }),
      ),
      path: Type.Optional(
        Type.String({ maxLength: 1000, description: 'of a single file: where it stands in the repository' }),
      ),
      covers: Type.Optional(
        Type.Union([Type.Literal('part'), Type.Literal('whole')], {
          description:
            'part, the default: closes in files of the upload alone; whole: the upload is the whole checkout (of ' +
            'this scope_key), findings in files that it has not are closed, too',
        }),
      ),
      mode: Type.Optional(
        Type.Union([Type.Literal('add'), Type.Literal('sync')], {
          description: 'sync, the default, closes what a complete scan no longer finds in what it covers',
        }),
      ),
      confirm_close: Type.Optional(
        Type.Boolean({ description: 'close also more than vm_import_close_percent of what is open' }),
      ),
    },
    closed,
  ),
};

const ofCluster = {
  cluster_id: Type.Optional(
    Type.String({
      maxLength: 20,
      description:
        'the manifests are of this cluster: rights and workloads in them are kept for /k8s-posture/rbac-paths; with ' +
        'covers=whole in the place of what is kept of it',
    }),
  ),
};
const uploadOf = (kind: FileKind): typeof upload =>
  kind === 'k8s' ? { ...upload, fields: Type.Object({ ...upload.fields.properties, ...ofCluster }, closed) } : upload;

const visible = visibleByApplication('vm_runs');

/** Throws 404 or `role_denied`: a cluster is of the whole organisation. */
async function keepingFor(call: Call, { cluster_id: given, covers }: ScanFields): Promise<Begun> {
  if (given === undefined) return {};
  requireWhole(call.reach, 'Clusters');
  const [cluster] = await call.sql<{ id: number }[]>`
    select id from vm_clusters where id = ${toId(given, 'cluster')}`;
  if (cluster === undefined) throw notFound('cluster', given);
  return {
    input: { cluster_id: given },
    keep: async ({ results }) => {
      // of a dump that was not read to its end nothing is taken for gone
      const replaces = covers === 'whole' && results.every((one) => one.complete);
      const objects = results.flatMap((one) => one.objects);
      return { cluster: await keepObjects(call.sql, cluster.id, objects, replaces, new Date(call.host.now())) };
    },
  };
}

const beginEndpoint = (scanner: FileScanner): Endpoint => {
  const { path, run } = places[scanner.kind];
  const label = scanner.label.toLowerCase();
  return endpoint({
    method: 'POST',
    path: `${path}/scans`,
    permission: run,
    kind: 'R',
    summary: `Look for ${label} in an archive (tar, tar.gz, tar.zst, zip) or a file: multipart with the part "file"`,
    upload: uploadOf(scanner.kind),
    status: 202,
    answer: ScanView,
    handle: async (given) => {
      const call = given;
      const sent = await receive<ScanFields>(call.request, uploadOf(scanner.kind));
      const begun = await keepingFor(call, sent.fields).catch(async (error: unknown) => {
        await sent.discard();
        throw error;
      });
      return viewScan(await beginScan(call, scanner, sent, begun));
    },
  });
};

const listEndpoint = (scanner: FileScanner): Endpoint => {
  const { path, view } = places[scanner.kind];
  const { kind } = scanner;
  const label = scanner.label.toLowerCase();
  return endpoint({
    method: 'GET',
    path: `${path}/scans`,
    permission: view,
    kind: 'R',
    summary: `Scans for ${label}, newest first`,
    query: Type.Object(
      {
        ...ListQuery,
        application_id: Type.Optional(Type.String({ maxLength: 20 })),
        status: Type.Optional(SomeOf(runStatuses)),
      },
      closed,
    ),
    answer: List(ScanView),
    handle: async ({ sql, reach, query }) => {
      const id = query.application_id;
      const where = allOf(sql, [
        sql`kind = ${kind}`,
        visible(sql, reach),
        id === undefined ? sql`true` : /^\d{1,18}$/.test(id) ? sql`application_id = ${id}` : sql`false`,
        query.status === undefined ? sql`true` : hasOneOf(sql, 'status', query.status),
      ]);
      const sorts = { id: { column: 'id', type: 'number' } } as const;
      const page = await readPage<Run>(sql, { table: 'vm_runs', where, sorts, sort: '-id' }, query);
      return { ...page, items: page.items.map(viewScan) };
    },
  });
};

const readEndpoint = (scanner: FileScanner): Endpoint => {
  const { path, view } = places[scanner.kind];
  const { kind } = scanner;
  return endpoint({
    method: 'GET',
    path: `${path}/scans/:id`,
    permission: view,
    kind: 'R',
    summary: 'One scan: what it looked at, what it did not, what it found',
    answer: ScanView,
    handle: async ({ sql, reach, params }) => {
      const id = toId(params['id'] ?? '', 'scan');
      const [row] = await sql<Run[]>`
          select * from vm_runs where id = ${id} and kind = ${kind} and ${visible(sql, reach)}`;
      if (row === undefined) throw notFound('scan', id);
      return viewScan(row);
    },
  });
};

const endpointsOf = (scanner: FileScanner): Endpoint[] => [
  beginEndpoint(scanner),
  listEndpoint(scanner),
  readEndpoint(scanner),
];

export const scannerEndpoints: readonly Endpoint[] = scanners.flatMap(endpointsOf);
