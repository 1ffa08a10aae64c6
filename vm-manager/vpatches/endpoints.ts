// /vpatches: from a finding to a rule of the firewall that stands before it, with the proof that it does.
import { ApiError, Nullable, OneOf } from '#http-kit';
import { Type, type Static } from '@sinclair/typebox';
import { allOf, type Fragment, type Tx } from '../database.js';
import type { FindingRow } from '../findings/fields.js';
import { readDetails, requireFinding } from '../findings/store.js';
import { isUnconfined, type Reach } from '../kit/caller.js';
import { hasOneOf, SomeOf } from '../kit/comma-list.js';
import { endpoint, toId, type Call, type Endpoint } from '../kit/endpoint.js';
import { List, ListQuery, readPage, SortQuery } from '../kit/list.js';
import { activate, disable, proveAgain, rehearse } from './activate.js';
import type { Firewall, PatchHits } from './firewall.js';
import { propose, type Proposal } from './propose.js';
import { requireFirewall, tryAlone } from './prove.js';
import { strategies } from './rule-text.js';
import {
  findByRule,
  freeRuleId,
  inForceStates,
  insertPatch,
  linkFinding,
  markFindings,
  patchStates,
  requirePatch,
  visiblePatches,
  type PatchRow,
} from './store.js';
import { PatchView, PreviewView, ProofView, viewPatches, viewProof } from './view.js';

const closed = { additionalProperties: false } as const;
const hitDays = 30;

const Header = Type.Tuple([
  Type.String({ pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}$" }),
  Type.String({ maxLength: 4000, pattern: '^[^\\u0000\\r\\n]*$' }),
]);
const Wish = Type.Object(
  {
    vulnerability_id: Type.String({ maxLength: 20 }),
    strategy: Type.Optional(OneOf(strategies, 'absent: the catalogue where it fits, else the narrowest rule possible')),
    parameter: Type.Optional(Type.String({ minLength: 1, maxLength: 100, description: 'that the attack stands in' })),
    benign_values: Type.Optional(
      Type.Array(Type.String({ maxLength: 500 }), {
        minItems: 1,
        maxItems: 20,
        description: 'values of the parameter that have to go on working; their type makes a positive rule possible',
      }),
    ),
    request: Type.Optional(
      Type.Object(
        {
          method: Type.String({ pattern: '^[A-Z]{3,10}$' }),
          uri: Type.String({ minLength: 1, maxLength: 8000, pattern: '^/[\\u0021-\\u007e]*$' }),
          headers: Type.Optional(Type.Array(Header, { maxItems: 40 })),
          body: Type.Optional(Type.String({ maxLength: 8000 })),
        },
        { ...closed, description: 'the request to refuse, where the finding has none' },
      ),
    ),
  },
  closed,
);

type Wishes = Static<typeof Wish>;

const none: ReadonlyMap<number, PatchHits> = new Map();
const hitsOf = async ({ host, now }: Pick<Call, 'host' | 'now'>): Promise<ReadonlyMap<number, PatchHits>> =>
  (await host.firewall?.hits(new Date(now.getTime() - hitDays * 86_400_000))) ?? none;

/** Findings whose ids are shown with a patch. */
const findingsReach = ({ caller, reach }: Call): Reach =>
  caller.reach('view_findings', false) ?? { ...reach, within: [] };

async function show(call: Call, row: PatchRow) {
  call.reply.header('etag', `"${row.version}"`);
  const [view] = await viewPatches(call.sql, findingsReach(call), [row], await hitsOf(call));
  return view;
}

const again = async (call: Call, row: PatchRow) => show(call, await requirePatch(call.sql, call.reach, String(row.id)));

interface Made {
  readonly finding: FindingRow;
  readonly proposal: Proposal;
  readonly site: string | null;
  readonly usedIds: ReadonlySet<number>;
}

/** Everything that asks the firewall, before the transaction: an embedded database has one connection for both. */
async function prepare(call: Call<Record<string, string>, unknown, Wishes>, firewall: Firewall): Promise<Made> {
  const { sql, reach, body } = call;
  const finding = await requireFinding(sql, reach, body.vulnerability_id);
  const details = await readDetails(sql, finding.id);
  const { request, benign_values: benignValues, ...wish } = body;
  const proposal = propose(finding, details, firewall.catalogue(finding.vuln_ids), {
    ...wish,
    benignValues,
    request: request === undefined ? undefined : { headers: [], body: '', ...request },
  });
  await tryAlone(firewall, proposal);
  const [application] = await sql<{ site: string | null }[]>`
    select site from vm_applications where id = ${finding.application_id}`;
  return { finding, proposal, site: application?.site ?? null, usedIds: await firewall.usedIds() };
}

/** One rule of the catalogue serves every finding of its CVE; a second proposal joins the first. */
async function store(tx: Tx, call: Call, ownIds: Firewall['ownIds'], made: Made): Promise<PatchRow> {
  const { finding, proposal, site, usedIds } = made;
  const same = proposal.ruleId === null ? null : await findByRule(tx, proposal.ruleId);
  if (same !== null) {
    if (same.site !== null && same.site !== site)
      throw new ApiError('conflict', `Virtual patch ${same.id} has this rule for the site ${same.site}: disable it.`);
    await linkFinding(tx, same.id, finding.id);
    await markFindings(tx, same.id, call.now);
    return same;
  }
  const ruleId = proposal.ruleId ?? (await freeRuleId(tx, ownIds, usedIds));
  return insertPatch(
    tx,
    {
      application_id: finding.application_id,
      rule_id: ruleId,
      origin: proposal.origin,
      strategy: proposal.strategy,
      cve: proposal.cve,
      name: proposal.name,
      seclang: proposal.text(ruleId),
      site,
      explanation: proposal.explanation,
      attack: proposal.attack,
      attack_origin: proposal.attackOrigin,
      mutations: proposal.mutations,
      benign: proposal.benign,
      created_by: call.caller.person.email,
    },
    finding.id,
    call.now,
  );
}

/** A rule without a site holds on all of them: only who reaches the whole organisation may put it there. */
function requireMay(call: Call, row: PatchRow): void {
  if (row.site !== null || isUnconfined(call.reach)) return;
  throw new ApiError(
    'role_denied',
    'The patch holds on every site and your grant does not reach all of them: let a user whose grant does link ' +
      'the application to its site (PUT /api/v1/applications/{id}/site), and propose the patch again.',
  );
}

function requireState(row: PatchRow, states: readonly string[], what: string): void {
  if (states.includes(row.state)) return;
  throw new ApiError('conflict', `A virtual patch that is ${row.state} cannot be ${what}; propose a new one.`);
}

const sorts = { id: { column: 'id', type: 'number' }, updated_at: { column: 'updated_at', type: 'time' } } as const;
const Activation = Type.Object({
  patch: PatchView,
  proof: Nullable(ProofView),
  preview: PreviewView,
  applied: Type.Boolean(),
});

const reading: readonly Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/vpatches',
    permission: 'view_vpatch',
    kind: 'C',
    summary: 'Virtual patches with their findings, hits and latest proof',
    query: Type.Object(
      {
        ...ListQuery,
        sort: SortQuery(sorts),
        state: Type.Optional(SomeOf(patchStates)),
        application_id: Type.Optional(Type.String({ maxLength: 20 })),
        vulnerability_id: Type.Optional(Type.String({ maxLength: 20 })),
      },
      closed,
    ),
    answer: List(PatchView),
    handle: async (call) => {
      const { sql, reach, query } = call;
      const where: Fragment[] = [visiblePatches(sql, reach)];
      if (query.state !== undefined) where.push(hasOneOf(sql, 'state', query.state));
      if (query.application_id !== undefined)
        where.push(sql`application_id = ${toId(query.application_id, 'application')}`);
      if (query.vulnerability_id !== undefined)
        where.push(sql`id in (select vpatch_id from vm_vpatch_findings
          where finding_id = ${toId(query.vulnerability_id, 'finding')})`);
      const source = { table: 'vm_vpatches', where: allOf(sql, where), sorts, sort: '-id' };
      const page = await readPage<PatchRow>(sql, source, query);
      return { ...page, items: await viewPatches(sql, findingsReach(call), page.items, await hitsOf(call)) };
    },
  }),
  endpoint({
    method: 'GET',
    path: '/vpatches/:id',
    permission: 'view_vpatch',
    kind: 'C',
    summary: 'A virtual patch: its rule, where it holds, the requests that prove it',
    answer: PatchView,
    handle: async (call) => show(call, await requirePatch(call.sql, call.reach, call.params['id'] ?? '')),
  }),
  endpoint({
    method: 'GET',
    path: '/vpatches/:id/hits',
    permission: 'view_vpatch',
    kind: 'A',
    summary: `How often the rule saw an attempt in the last ${hitDays} days, and on which sites`,
    answer: Type.Object({
      rule_id: Type.Integer(),
      days: Type.Integer(),
      total: Type.Integer(),
      last_at: Nullable(Type.String()),
      sites: Type.Array(Type.Object({ site: Type.String(), hits: Type.Integer() })),
    }),
    handle: async (call) => {
      const { rule_id } = await requirePatch(call.sql, call.reach, call.params['id'] ?? '');
      requireFirewall(call.host);
      const found = (await hitsOf(call)).get(rule_id) ?? { total: 0, last_at: null, sites: [] };
      return { rule_id, days: hitDays, ...found };
    },
  }),
];

const changing: readonly Endpoint[] = [
  endpoint({
    method: 'POST',
    path: '/vpatches',
    permission: 'apply_vpatch',
    kind: 'B',
    summary: 'Propose a virtual patch for a finding: the rule, why it is like this, its requests; not in force yet',
    body: Wish,
    status: 201,
    answer: PatchView,
    handle: async (call) => {
      const firewall = requireFirewall(call.host);
      const prepared = await prepare(call, firewall);
      const row = await call.audited(
        'vm.create',
        (made: PatchRow) => `proposed virtual patch ${made.id} for the finding ${call.body.vulnerability_id}`,
        (tx) => store(tx, call, firewall.ownIds, prepared),
      );
      return show(call, row);
    },
  }),
  endpoint({
    method: 'POST',
    path: '/vpatches/:id/activate',
    permission: 'apply_vpatch',
    kind: 'B',
    summary:
      'Put it in force and prove it: 409, and nothing changed, where it would not hold or hits recorded requests',
    query: Type.Object(
      {
        dry_run: Type.Optional(
          Type.Boolean({ default: false, description: 'only what it would do, to its own and to recorded requests' }),
        ),
        accept_newly_blocked: Type.Optional(
          Type.Boolean({ default: false, description: 'the recorded requests that it would refuse are attacks' }),
        ),
      },
      closed,
    ),
    answer: Activation,
    handle: async (call) => {
      const { dry_run: isDry = false, accept_newly_blocked: accepts = false } = call.query;
      const row = await requirePatch(call.sql, call.reach, call.params['id'] ?? '');
      requireState(row, ['draft', 'active', 'stale', 'proven'], 'put in force');
      requireMay(call, row);
      if (isDry) {
        const { preview } = await rehearse(requireFirewall(call.host), row, accepts);
        return { patch: await show(call, row), proof: null, preview, applied: false };
      }
      const { proof, preview } = await activate(call, row, accepts);
      return { patch: await again(call, row), proof: viewProof(proof), preview, applied: true };
    },
  }),
  endpoint({
    method: 'POST',
    path: '/vpatches/:id/prove',
    permission: 'apply_vpatch',
    kind: 'R',
    summary: 'Try the attack, its variants and harmless requests on what serves now; a proof that fails makes it stale',
    answer: ProofView,
    handle: async (call) => {
      const row = await requirePatch(call.sql, call.reach, call.params['id'] ?? '');
      requireState(row, inForceStates, 'proven');
      return viewProof(await proveAgain(call, row));
    },
  }),
  endpoint({
    method: 'POST',
    path: '/vpatches/:id/disable',
    permission: 'apply_vpatch',
    kind: 'S',
    summary: 'Take it out of the firewall; its findings count whole again',
    answer: PatchView,
    handle: async (call) => {
      const row = await requirePatch(call.sql, call.reach, call.params['id'] ?? '');
      requireState(row, ['draft', ...inForceStates], 'disabled');
      if (row.state !== 'draft') requireMay(call, row);
      return show(call, await disable(call, row));
    },
  }),
];

export const vpatchEndpoints: readonly Endpoint[] = [...reading, ...changing];
