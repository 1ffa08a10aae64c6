// /sca/sboms: bills of material as documents, beside the inventory that they feed; why a component is there; and which
// versions close most risk.
import { Nullable, OneOf } from '#http-kit';
import { Type } from '@sinclair/typebox';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { requireApplication, visibleByApplication } from '../assets/resources.js';
import { allOf } from '../database.js';
import { severityNames, severityNumbers } from '../findings/words.js';
import { receiveReport } from '../imports/receive-report.js';
import { bytesMax } from '../imports/run/fields.js';
import { formatOf, runImport, termsFor } from '../imports/run/run-import.js';
import { endpoint, notFound, toId, unfit, type Call, type Endpoint } from '../kit/endpoint.js';
import { List, ListQuery, readPage } from '../kit/list.js';
import { takeDocument, VexReport } from '../vex/statement-endpoints.js';
import { adviseOn, advisoriesOf } from '../osv/compare.js';
import { billFormats, readBill, type BillFormat } from './bill.js';
import { diffOf, pathsTo } from './graph.js';
import { findSame, insertSbom, listing, nodesOf, SbomView, viewSbom, type Sbom, type StoredNode } from './store.js';
import { upgradePlan } from './upgrade.js';
import { vexOf } from './vex.js';
import { toCyclonedx, toSpdx } from './write.js';

const closed = { additionalProperties: false } as const;
const Short = Type.String({ maxLength: 200 });
const Id = Type.String({ maxLength: 20 });
const visible = visibleByApplication('vm_sboms');
const shownMax = 5000;

const upload = {
  bytesMax,
  fields: Type.Object(
    {
      application_id: Id,
      name: Type.Optional(Type.String({ maxLength: 200, description: 'by default that of what the bill is of' })),
      branch: Type.Optional(Short),
      commit: Type.Optional(Short),
      scope_key: Type.Optional(Short),
      mode: Type.Optional(
        Type.Union([Type.Literal('add'), Type.Literal('sync')], {
          description: 'sync: components of the scope that it no longer lists are gone',
        }),
      ),
      entry: Type.Optional(Type.String({ maxLength: 255, description: 'which file of an archive is the bill' })),
      vex: Type.Optional(
        Type.String({
          maxLength: 65_536,
          description: 'a VEX document as JSON, which findings follow once the bill is in; needs triage_findings',
        }),
      ),
      vex_entry: Type.Optional(
        Type.String({ maxLength: 255, description: 'which file of an archive is that document, in the place of vex' }),
      ),
      confirm_close: Type.Optional(
        Type.Boolean({ description: 'close also more than vm_import_close_percent of what is open' }),
      ),
    },
    closed,
  ),
};
type BillFields = typeof upload.fields.static;

const isBill = (name: string): name is BillFormat => (billFormats as readonly string[]).includes(name);

type Received = Awaited<ReturnType<typeof receiveReport<BillFields>>>;

async function sumOf(path: string): Promise<string> {
  const sum = createHash('sha256');
  for await (const chunk of createReadStream(path)) sum.update(chunk as Buffer);
  return sum.digest('hex');
}

async function take(call: Call, sent: Received): Promise<Sbom> {
  const { name, vex: _, vex_entry: __, ...fields } = sent.fields;
  const { id: application } = await requireApplication(call.sql, call.reach, fields.application_id);
  const format = await formatOf(call, 'auto', sent.file);
  if (!isBill(format.name))
    throw unfit('file', `is no bill of materials (${format.label})`, 'send CycloneDX or SPDX; others go to /imports');
  const bill = await readBill(format.name, sent.file);
  const made = {
    ...{ application_id: application, name: (name ?? bill.name).slice(0, 200), format: format.name },
    ...{ spec_version: bill.specVersion, serial: bill.serial.slice(0, 300), bill_version: bill.version.slice(0, 60) },
    ...{ sha256: await sumOf(sent.file.path), branch: fields.branch ?? '', commit: fields.commit ?? '' },
    created_by: call.caller.actor.name,
  };
  const terms = await termsFor(call, fields);
  const given = { fields, file: sent.file, format, terms };
  const { run, facts } = await runImport(call, given, {
    action: 'vm.import',
    summary: ({ run: done }) => `imported a bill of materials (run ${done.id})`,
    details: ({ report }) => ({ ...report, problems: report.problems.length }),
  });
  const same = await findSame(call.sql, { ...made, tool: facts.tool, run_id: run.id });
  if (same !== null) return same;
  return call.audited(
    'vm.create',
    (done: Sbom) => `kept the bill of materials ${done.id}`,
    (tx) => insertSbom(tx, { ...made, tool: facts.tool.slice(0, 200), run_id: run.id }, bill, call.now),
    ({ sha256, components }) => ({ sha256, components }),
  );
}

const add = endpoint({
  method: 'POST',
  path: '/sca/sboms',
  permission: 'import_findings',
  kind: 'I',
  summary:
    'Import a bill of materials (CycloneDX 1.2 to 1.6 in JSON or XML, SPDX 2.2 and 2.3) and keep its graph: ' +
    'multipart with the part "file"',
  upload,
  status: 201,
  answer: Type.Object({ ...SbomView.properties, vex: Nullable(VexReport) }),
  handle: async (call) => {
    const sent = await receiveReport<BillFields>(call.request, upload);
    try {
      const vex = await vexOf(call, sent);
      const bill = viewSbom(await take(call, sent));
      const { application_id } = sent.fields;
      return { ...bill, vex: vex === null ? null : await takeDocument(vex.of, vex.document, { application_id }) };
    } finally {
      await sent.discard();
    }
  },
});

const list = endpoint({
  method: 'GET',
  path: '/sca/sboms',
  permission: 'view_code',
  kind: 'C',
  summary: 'Bills of material, newest first',
  query: Type.Object(
    { ...ListQuery, application_id: Type.Optional(Id), name: Type.Optional(Short), branch: Type.Optional(Short) },
    closed,
  ),
  answer: List(SbomView),
  handle: async ({ sql, reach, query }) => {
    const { application_id: application, name, branch } = query;
    const where = allOf(sql, [
      visible(sql, reach),
      application === undefined
        ? sql`true`
        : /^\d{1,18}$/.test(application)
          ? sql`application_id = ${application}`
          : sql`false`,
      name === undefined ? sql`true` : sql`name = ${name}`,
      branch === undefined ? sql`true` : sql`branch = ${branch}`,
    ]);
    const sorts = { id: { column: 'id', type: 'number' } } as const;
    const page = await readPage<Sbom>(sql, { table: 'vm_sboms', where, sorts, sort: '-id' }, query);
    return { ...page, items: page.items.map(viewSbom) };
  },
});

async function requireSbom({ sql, reach }: Call, given: string): Promise<Sbom> {
  const id = toId(given, 'bill of materials');
  const [row] = await sql<Sbom[]>`select * from vm_sboms where id = ${id} and ${visible(sql, reach)}`;
  if (row === undefined) throw notFound('bill of materials', id);
  return row;
}

const NodeView = Type.Object({
  n: Type.Integer(),
  name: Type.String(),
  version: Type.String(),
  purl: Type.String(),
  licences: Type.Array(Type.String()),
  needs: Type.Array(Type.Integer({ description: 'numbers of others' })),
});

const one = endpoint({
  method: 'GET',
  path: '/sca/sboms/:id',
  permission: 'view_code',
  kind: 'C',
  summary: 'One bill of materials with its graph',
  answer: Type.Intersect([
    SbomView,
    Type.Object({
      root: Nullable(Type.Integer({ description: 'number of what it is of' })),
      nodes: Type.Array(NodeView, { description: `at most ${shownMax}; the export has all` }),
      is_cut: Type.Boolean(),
    }),
  ]),
  handle: async (call) => {
    const row = await requireSbom(call, call.params['id'] ?? '');
    const nodes = await nodesOf(call.sql, row.id);
    const shown = nodes
      .slice(0, shownMax)
      .map(({ n, name, version, purl, licences, needs }) => ({ n, name, version, purl, licences, needs }));
    return { ...viewSbom(row), root: row.root, nodes: shown, is_cut: nodes.length > shownMax };
  },
});

const exportOf = endpoint({
  method: 'GET',
  path: '/sca/sboms/:id/export',
  permission: 'view_code',
  kind: 'X',
  summary: 'A bill of materials as CycloneDX 1.6 or SPDX 2.3, in JSON',
  query: Type.Object({ format: Type.Optional(OneOf(['cyclonedx', 'spdx'], 'cyclonedx by default')) }, closed),
  mediaType: 'application/json',
  handle: async (call) => {
    const row = await requireSbom(call, call.params['id'] ?? '');
    const { format = 'cyclonedx' } = call.query;
    const bill = { name: row.name, root: row.root, nodes: await nodesOf(call.sql, row.id), at: row.created_at };
    call.reply.header('content-disposition', `attachment; filename="sbom-${row.id}.${format}.json"`);
    return format === 'spdx' ? toSpdx(bill) : toCyclonedx(bill);
  },
});

const ChangeView = Type.Object({
  name: Type.String(),
  purl: Type.String(),
  from: Type.Array(Type.String()),
  to: Type.Array(Type.String()),
});
const WeaknessView = Type.Object({
  id: Type.String(),
  severity: OneOf(severityNames),
  name: Type.String(),
  version: Type.String(),
});

/** What the advisories of now say of a bill; each advisory of a package once. */
async function weaknessesOf(call: Call, nodes: readonly StoredNode[]) {
  const rows = nodes.flatMap(({ n, name, version, purl, package: named }) =>
    named === null ? [] : [{ id: n, name, version, purl, package: named }],
  );
  const { hits } = await adviseOn(call.sql, rows);
  const advisories = await advisoriesOf(call.sql, [...new Set(hits.map(({ osvId }) => osvId))]);
  return new Map(
    hits.map(({ osvId, component: { name, version }, package: named }) => [
      `${osvId}\n${named}`,
      { id: osvId, severity: advisories.get(osvId)?.facts.severity ?? 'info', name, version },
    ]),
  );
}

type Weaknesses = Awaited<ReturnType<typeof weaknessesOf>>;

/** Those of `all` that `others` has not, the worst first. */
const beyond = (all: Weaknesses, others: Weaknesses) =>
  [...all]
    .flatMap(([key, weakness]) => (others.has(key) ? [] : [weakness]))
    .sort(
      (left, right) =>
        (severityNumbers[right.severity] ?? 0) - (severityNumbers[left.severity] ?? 0) || (left.id < right.id ? -1 : 1),
    );

const diff = endpoint({
  method: 'GET',
  path: '/sca/sboms/diff',
  permission: 'view_code',
  kind: 'A',
  summary: 'What bill b has differently from bill a: packages, and what the advisories of now say of them',
  query: Type.Object({ a: Id, b: Id }, closed),
  answer: Type.Object({
    a: SbomView,
    b: SbomView,
    added: Type.Array(ChangeView),
    removed: Type.Array(ChangeView),
    changed: Type.Array(ChangeView),
    same: Type.Integer(),
    vulnerabilities: Type.Object({
      added: Type.Array(WeaknessView),
      removed: Type.Array(WeaknessView),
      same: Type.Integer(),
    }),
  }),
  handle: async (call) => {
    const [a, b] = [await requireSbom(call, call.query.a), await requireSbom(call, call.query.b)];
    const [before, after] = [await nodesOf(call.sql, a.id), await nodesOf(call.sql, b.id)];
    const without = (nodes: readonly StoredNode[], root: number | null) => nodes.filter(({ n }) => n !== root);
    const [left, right] = [await weaknessesOf(call, before), await weaknessesOf(call, after)];
    return {
      ...{ a: viewSbom(a), b: viewSbom(b) },
      ...diffOf(without(before, a.root), without(after, b.root)),
      vulnerabilities: {
        added: beyond(right, left),
        removed: beyond(left, right),
        same: [...right.keys()].filter((key) => left.has(key)).length,
      },
    };
  },
});

interface ComponentKey {
  readonly application_id: number;
  readonly name: string;
  readonly version: string;
  readonly purl: string | null;
  readonly relation: string;
}

const paths = endpoint({
  method: 'GET',
  path: '/sca/components/:id/paths',
  permission: 'view_code',
  kind: 'A',
  summary: 'Why a component is there: ways from what the application is to it, as the newest bills say',
  answer: Type.Object({
    component_id: Type.String(),
    relation: Type.String(),
    items: Type.Array(
      Type.Object({
        sbom_id: Type.String(),
        name: Type.String(),
        branch: Type.String(),
        has_graph: Type.Boolean({ description: 'false: the bill is a list and says of nothing why it is there' }),
        paths: Type.Array(Type.Array(Type.Object({ name: Type.String(), version: Type.String() }))),
        is_cut: Type.Boolean({ description: 'there are more or longer ones' }),
      }),
      { description: 'empty: no bill that was sent to /sca/sboms lists it' },
    ),
  }),
  handle: async ({ sql, reach, params }) => {
    const id = toId(params['id'] ?? '', 'component');
    const [row] = await sql<ComponentKey[]>`
      select application_id, name, version, purl, relation from vm_components
      where id = ${id} and ${visibleByApplication('vm_components')(sql, reach)}`;
    if (row === undefined) throw notFound('component', id);
    const items = [];
    for (const bill of await listing(sql, row.application_id, row)) {
      const nodes = await nodesOf(sql, bill.id);
      const found = bill.edges === 0 ? { paths: [], isCut: false } : pathsTo(nodes, bill.root, bill.n);
      items.push({
        ...{ sbom_id: String(bill.id), name: bill.name, branch: bill.branch, has_graph: bill.edges > 0 },
        paths: found.paths.map((way) =>
          way.flatMap((n) => {
            const node = nodes[n];
            return node === undefined ? [] : [{ name: node.name, version: node.version }];
          }),
        ),
        is_cut: found.isCut,
      });
    }
    return { component_id: id, relation: row.relation, items };
  },
});

const plan = endpoint({
  method: 'GET',
  path: '/sca/upgrade-plan',
  permission: 'view_code',
  kind: 'A',
  summary: 'Which packages of an application to move to which version, those that close most risk first',
  query: Type.Object(
    {
      application_id: Id,
      most: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, default: 20, description: 'steps' })),
    },
    closed,
  ),
  answer: Type.Object({
    application_id: Type.String(),
    steps: Type.Array(
      Type.Object({
        component_id: Type.String(),
        name: Type.String(),
        purl: Type.String(),
        from: Type.String(),
        to: Type.String({ description: 'the smallest version that no advisory is true of, or that fewest are' }),
        relation: Type.String(),
        is_major: Type.Boolean({ description: 'the first number of the version changes' }),
        through: Type.Array(Type.String(), { description: 'direct dependencies that bring it along' }),
        closes: Type.Array(Type.Object({ id: Type.String(), vuln_id: Nullable(Type.String()) })),
        leaves: Type.Array(Type.String({ description: 'advisories that are true of the new version, too' })),
        risk: Type.Integer({ description: 'sum of the risk of what it closes' }),
        share: Type.Number({ description: 'of all risk, with the steps above it' }),
      }),
    ),
    steps_total: Type.Integer(),
    risk_total: Type.Integer(),
    without_fix: Type.Array(
      Type.Object({
        component_id: Type.String(),
        name: Type.String(),
        version: Type.String(),
        purl: Type.String(),
        advisories: Type.Array(Type.String()),
      }),
    ),
    not_comparable: Type.Integer(),
  }),
  handle: async ({ sql, reach, query }) => {
    const { id } = await requireApplication(sql, reach, query.application_id);
    return upgradePlan(sql, id, query.most ?? 20);
  },
});

/** What has a name of its own stands before what has an id. */
export const sbomEndpoints: readonly Endpoint[] = [add, list, diff, one, exportOf, paths, plan];
