// Rows of a filled organisation that no call of a test makes at once.
import type { onBothDatabases } from '#api/testing/databases';

type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];

/** Rows that only a firewall beside the API would make. */
export async function insertPatch(database: Database, application: string, finding: string): Promise<string> {
  const [row] = await database.sql<{ id: number }[]>`
    insert into vm_vpatches (application_id, rule_id, origin, strategy, name, seclang, attack, attack_origin,
      created_by, created_at, updated_at)
    values (${application}, 1007999, 'own', 'strict', 'n', 'SecAction "id:1007999"', ${database.sql.json({
      name: 'a',
      method: 'GET',
      uri: '/',
      headers: [],
      body: '',
    })}, 'given', 'test', now(), now()) returning id`;
  const id = String(row?.id);
  await database.sql`insert into vm_vpatch_findings (vpatch_id, finding_id) values (${id}, ${finding})`;
  return id;
}

/** Rows, since packs are built in the background. */
export async function insertEvidence({ sql }: Database): Promise<Record<string, string>> {
  const [pack] = await sql<{ id: number }[]>`
    insert into vm_evidence_packs
      (title, sections, period_from, period_to, root, keep_until, created_by, created_at, updated_at)
    values ('t', '["scans"]', now(), now(), 'r', '2026-02-01', 'test', '2026-01-01', now()) returning id`;
  await sql`insert into vm_evidence_contents (pack_id, content) values (${pack?.id ?? 0}, 'x')`;
  const [file] = await sql<{ id: number }[]>`
    insert into vm_evidence_files (name, media_type, bytes, sha256, keep_until, created_by, created_at, updated_at)
    values ('f.txt', 'text/plain', 1, 's', '2026-02-01', 'test', '2026-01-01', now()) returning id`;
  await sql`insert into vm_evidence_file_contents (file_id, content) values (${file?.id ?? 0}, 'x')`;
  return { '/evidence': String(pack?.id), '/evidence/files': String(file?.id) };
}

/** Where the API has the scans of each kind. */
export const placesOfScans = { secrets: '/secrets', sast: '/sast', sca: '/sca', iac: '/iac', k8s: '/k8s-posture' };

/** Rows, since a scan that runs would outlive the test. */
export async function insertScans(
  { sql }: Database,
  application: string,
  target: string,
): Promise<Record<string, string>> {
  const ids: Record<string, string> = {};
  for (const [kind, path] of Object.entries(placesOfScans)) {
    const [row] = await sql<{ id: number }[]>`
      insert into vm_runs (kind, application_id, status, created_by, created_at, finished_at)
      values (${kind}, ${application}, 'failed', 'test', now(), now()) returning id`;
    ids[`${path}/scans`] = String(row?.id);
  }
  const [scan] = await sql<{ id: number }[]>`
    insert into vm_runs (kind, application_id, status, created_by, created_at, finished_at)
    values ('dast', ${application}, 'failed', 'test', now(), now()) returning id`;
  ids['/scans'] = String(scan?.id);
  const [exploit] = await sql<{ id: number }[]>`
    with run as (
      insert into vm_runs (kind, application_id, status, input, created_by, created_at, finished_at)
      values ('exploit', ${application}, 'failed', '{"url": "https://a.example"}', 'test', now(), now()) returning id)
    insert into vm_exploits (run_id, target_id, technique) select id, ${target}, 'ssrf-metadata' from run
    returning run_id as id`;
  ids['/exploit/runs'] = String(exploit?.id);
  ids['/scan-callbacks'] = 'unknown';
  return ids;
}

/** A row, since an archive would have to be sent. */
export async function insertImage({ sql }: Database, application: string): Promise<string> {
  const [row] = await sql<{ id: number }[]>`
    insert into vm_images (application_id, name, digest, form, os, architecture, config, layers, base_layers,
      base_known_by, created_by, created_at, updated_at)
    values (${application}, 'zebra', 'sha256:00', 'docker', 'linux', 'amd64', ${sql.json({ user: '' })},
      ${sql.json([{ diff_id: 'sha256:01', created_by: 'c' }])}, 0, 'unknown', 'test', now(), now()) returning id`;
  await sql`
    insert into vm_image_packages (image_id, n, purl, name, version, path, layer)
    values (${row?.id ?? 0}, 0, 'pkg:npm/zebra-lib@1.0.0', 'zebra-lib', '1.0.0', 'p', 1)`;
  return String(row?.id);
}

/** A row, since bills are uploads. */
export async function insertSbom({ sql }: Database, application: string): Promise<string> {
  const [row] = await sql<{ id: number }[]>`
    insert into vm_sboms (application_id, name, format, spec_version, sha256, root, components, edges, created_by,
      created_at)
    values (${application}, 'zebra', 'cyclonedx', '1.5', 's', 0, 2, 1, 'test', now()) returning id`;
  const nodes = [
    { n: 0, name: 'zebra', version: '', purl: '', licences: sql.json([]), needs: sql.json([1]) },
    { n: 1, name: 'zebra-lib', version: '1.0.0', purl: '', licences: sql.json(['MIT']), needs: sql.json([]) },
  ];
  for (const node of nodes) await sql`insert into vm_sbom_components ${sql({ sbom_id: row?.id ?? 0, ...node })}`;
  return String(row?.id);
}

/** A row, since a run that is at work would outlive the test. */
export async function insertDeduplication({ sql }: Database, application: string): Promise<string> {
  const [row] = await sql<{ id: number }[]>`
    insert into vm_runs (kind, application_id, status, created_by, created_at, finished_at)
    values ('dedup', ${application}, 'succeeded', 'test', now(), now()) returning id`;
  return String(row?.id);
}
