// Rows of bills: kept once, read as a graph again.
import { Nullable, OneOf, Time } from '#http-kit';
import { Type } from '@sinclair/typebox';
import { json, type Queryable, type Sql, type Tx } from '../database.js';
import { advisoryNameOf, parsePurl } from '../components/purl.js';
import { maskValues } from '../secrets/mask.js';
import { billFormats, type Bill, type Node } from './bill.js';

/** Of an application; older ones go. */
const keptMax = 200;
const batch = 1000;

export interface Sbom {
  readonly id: number;
  readonly application_id: number;
  readonly name: string;
  readonly format: string;
  readonly spec_version: string;
  readonly serial: string;
  readonly bill_version: string;
  readonly sha256: string;
  readonly branch: string;
  readonly commit: string;
  readonly tool: string;
  readonly root: number | null;
  readonly components: number;
  readonly edges: number;
  readonly run_id: number | null;
  readonly created_by: string;
  readonly created_at: Date;
}

export const SbomView = Type.Object({
  id: Type.String(),
  application_id: Type.String(),
  name: Type.String({ description: 'of what it is of; empty: it does not say' }),
  format: OneOf(billFormats),
  spec_version: Type.String(),
  serial: Type.String(),
  bill_version: Type.String(),
  sha256: Type.String({ description: 'of the document' }),
  branch: Type.String(),
  commit: Type.String(),
  tool: Type.String(),
  has_root: Type.Boolean(),
  components: Type.Integer(),
  edges: Type.Integer({ description: 'dependencies between components; 0: the bill is a list' }),
  import_id: Nullable(Type.String({ description: 'what the import made of it: GET /imports/{id}' })),
  created_by: Type.String(),
  created_at: Time,
});

export const viewSbom = (row: Sbom) => ({
  ...{ id: String(row.id), application_id: String(row.application_id), name: row.name, format: row.format },
  ...{ spec_version: row.spec_version, serial: row.serial, bill_version: row.bill_version, sha256: row.sha256 },
  ...{ branch: row.branch, commit: row.commit, tool: row.tool, has_root: row.root !== null },
  ...{ components: row.components, edges: row.edges },
  import_id: row.run_id === null ? null : String(row.run_id),
  ...{ created_by: row.created_by, created_at: row.created_at.toISOString() },
});

export type NewSbom = Omit<Sbom, 'id' | 'components' | 'edges' | 'root' | 'created_at'>;

/** The same document again, by its own number or by its bytes. */
export async function findSame(sql: Queryable, { application_id: application, sha256, branch, commit }: NewSbom) {
  const [row] = await sql<Sbom[]>`
    select * from vm_sboms where application_id = ${application} and sha256 = ${sha256} and branch = ${branch}
      and commit = ${commit} order by id desc limit 1`;
  return row ?? null;
}

const edgesOf = (nodes: readonly Node[]): number => nodes.reduce((sum, { needs }) => sum + needs.length, 0);

export async function insertSbom(tx: Tx, made: NewSbom, bill: Bill, now: Date): Promise<Sbom> {
  const { nodes, root } = bill;
  const { name, serial, tool } = maskValues({ name: made.name, serial: made.serial, tool: made.tool });
  const values = {
    ...made,
    ...{ name, serial, tool },
    root,
    components: nodes.length,
    edges: edgesOf(nodes),
    created_at: now,
  };
  const [row] = await tx<Sbom[]>`insert into vm_sboms ${tx(values as never)} returning *`;
  if (row === undefined) throw new Error('the bill was not stored');
  for (let from = 0; from < nodes.length; from += batch) {
    // addresses of sources are in names, versions and purls, and some have a password in them
    const rows = maskValues(nodes.slice(from, from + batch)).map((one, at) => {
      const parsed = parsePurl(one.purl);
      const named = parsed === null ? null : advisoryNameOf(parsed);
      return {
        ...{ n: from + at, name: one.name.slice(0, 500), version: one.version.slice(0, 300) },
        ...{ purl: parsed === null ? '' : one.purl.slice(0, 1500), needs: one.needs, package: named?.package ?? null },
        licences: one.licences.map((text) => text.slice(0, 200)).slice(0, 20),
      };
    });
    await tx`
      insert into vm_sbom_components (sbom_id, n, name, version, purl, licences, package, needs)
      select ${row.id}, n, name, version, purl, licences, package, needs from jsonb_to_recordset(${json(tx, rows)})
        as r(n integer, name text, version text, purl text, licences jsonb, package text, needs jsonb)`;
  }
  await tx`
    delete from vm_sboms where application_id = ${made.application_id} and id not in
      (select id from vm_sboms where application_id = ${made.application_id} order by id desc limit ${keptMax})`;
  return row;
}

export interface StoredNode extends Node {
  readonly n: number;
  readonly package: string | null;
}

/** In the order of their numbers, which are their places. */
export const nodesOf = async (sql: Sql, sbom: number): Promise<readonly StoredNode[]> => sql<StoredNode[]>`
  select n, name, version, purl, licences, package, needs from vm_sbom_components where sbom_id = ${sbom} order by n`;

/** The newest bills of an application that list this component. */
export const listing = async (
  sql: Sql,
  application: number,
  { name, version, purl }: { readonly name: string; readonly version: string; readonly purl: string | null },
): Promise<readonly (Sbom & { readonly n: number })[]> => sql<(Sbom & { n: number })[]>`
  select distinct on (s.name, s.branch) s.*, c.n from vm_sboms s join vm_sbom_components c on c.sbom_id = s.id
  where s.application_id = ${application} and s.id in
      (select max(id) from vm_sboms where application_id = ${application} group by name, branch)
    and (c.purl = ${purl ?? '-'} or (c.name = ${name} and c.version = ${version}))
  order by s.name, s.branch, s.id desc, c.n limit 5`;
