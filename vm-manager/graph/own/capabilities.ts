// Classification by hand: what a finding, or every finding of a weakness, gives an attacker, in place of the table.
import { ApiError, Nullable, OneOf, Time } from '#http-kit';
import { Type } from '@sinclair/typebox';
import { capabilitiesOf, knownCapability } from '../../chains/classification/known.js';
import { stages } from '../../chains/classification/stages.js';
import type { Queryable, Tx } from '../../database.js';
import { visibleFindings } from '../../findings/query.js';
import { requireFinding } from '../../findings/store.js';
import { requireWhole, type Reach } from '../../kit/caller.js';
import { endpoint, unfit, type Endpoint } from '../../kit/endpoint.js';
import { ownCapabilitiesMax } from './store.js';

const closed = { additionalProperties: false } as const;

export const OwnView = Type.Object(
  {
    id: Type.String({ description: 'of the finding, or CWE-n' }),
    stage: Nullable(OneOf(stages, 'null: it brings an attacker no further')),
    capability: Nullable(Type.String()),
    reason: Type.String(),
    set_by: Type.String(),
    set_at: Time,
  },
  closed,
);

interface OwnRow {
  readonly finding_id: number | null;
  readonly cwe: number | null;
  readonly stage: (typeof stages)[number] | null;
  readonly capability: string | null;
  readonly reason: string;
  readonly set_by: string;
  readonly set_at: Date;
}

const view = ({ finding_id: finding, cwe, set_at: at, ...row }: OwnRow) => ({
  id: cwe === null ? String(finding) : `CWE-${cwe}`,
  stage: row.stage,
  capability: row.capability,
  reason: row.reason,
  set_by: row.set_by,
  set_at: at.toISOString(),
});

/** Those of weaknesses, which hold for all, and of the findings that are within reach. */
export async function ownCapabilities(sql: Queryable, reach: Reach) {
  const rows = await sql<OwnRow[]>`
    select * from vm_capabilities
    where cwe is not null or finding_id in (select id from vm_findings where ${visibleFindings(sql, reach)})
    order by id limit ${ownCapabilitiesMax}`;
  return rows.map(view);
}

interface Override {
  readonly stage: (typeof stages)[number] | 'none';
  readonly capability?: string;
}

/** Stage and capability as they are stored. Throws 422 for what is in no table. */
function chosen({ stage, capability }: Override): Pick<OwnRow, 'stage' | 'capability'> {
  if (stage === 'none') {
    if (capability === undefined) return { stage: null, capability: null };
    throw unfit('/override/capability', 'stands beside the stage none', 'leave it out, or name a stage');
  }
  const names = capabilitiesOf(stage).join(', ');
  if (capability === undefined) throw unfit('/override/capability', 'is missing', `name one of ${names}`);
  if (knownCapability(stage, capability) === null)
    throw unfit('/override/capability', `is none of the stage ${stage}`, `name one of ${names}`);
  return { stage, capability };
}

const weaknessName = /^CWE-([1-9]\d{0,5})$/;

interface Named {
  readonly finding: number | null;
  readonly cwe: number | null;
}

/** Throws 404 for a finding out of reach, 403 for a weakness where the caller reaches a part of the organisation. */
async function named(tx: Tx, reach: Reach, id: string): Promise<Named> {
  const [, number] = weaknessName.exec(id) ?? [];
  if (number === undefined) {
    const finding = await requireFinding(tx, reach, id, true);
    // the engine reads its application anew
    await tx`insert into vm_chain_changes (application_id, for_chains) values (${finding.application_id}, true)`;
    return { finding: finding.id, cwe: null };
  }
  requireWhole(reach, 'Classifications of weaknesses');
  return { finding: null, cwe: Number(number) };
}

async function refuseTooMany(tx: Tx): Promise<void> {
  const [{ count } = { count: 0 }] = await tx<{ count: number }[]>`select count(*)::int as count from vm_capabilities`;
  if (count >= ownCapabilitiesMax)
    throw new ApiError('conflict', `There are ${count} own classifications, and no more are kept. Take some back.`);
}

export const classify = endpoint({
  method: 'PUT',
  path: '/graph/capabilities/:vuln_id',
  permission: 'edit_graph',
  kind: 'B',
  summary:
    'Say what a finding gives an attacker, in place of the table; with CWE-n in place of its id: every finding of ' +
    'that weakness of which nothing else is said. Chains follow at once',
  body: Type.Object(
    {
      override: Nullable(
        Type.Object(
          {
            stage: OneOf([...stages, 'none'], 'none: it brings an attacker no further'),
            capability: Type.Optional(
              Type.String({ minLength: 1, maxLength: 60, description: 'as GET /graph/capabilities names them' }),
            ),
          },
          { ...closed, description: 'null: the table holds again' },
        ),
      ),
      reason: Type.String({ minLength: 1, maxLength: 2000 }),
    },
    { ...closed, examples: [{ override: { stage: 'entry', capability: 'ssrf' }, reason: 'seen in a test' }] },
  ),
  answer: Type.Object({ own: Nullable(OwnView) }, closed),
  handle: async ({ params, reach, body, caller, now, audited }) => {
    const id = params['vuln_id'] ?? '';
    const given = body.override === null ? null : chosen(body.override);
    const own = await audited(
      'vm.update',
      given === null
        ? `took back the own classification of ${id.slice(0, 40)}`
        : `classified ${id.slice(0, 40)} as ${given.stage ?? 'no step'} ${given.capability ?? ''}`.trimEnd(),
      async (tx) => {
        const { finding, cwe } = await named(tx, reach, id);
        await tx`delete from vm_capabilities where finding_id = ${finding} or cwe = ${cwe}`;
        if (given === null) return null;
        await refuseTooMany(tx);
        const [row] = await tx<OwnRow[]>`
          insert into vm_capabilities (finding_id, cwe, stage, capability, reason, set_by, set_at)
          values (${finding}, ${cwe}, ${given.stage}, ${given.capability}, ${body.reason}, ${caller.actor.name}, ${now})
          returning *`;
        return row ?? null;
      },
      () => ({ override: body.override, reason: body.reason }),
    );
    return { own: own === null ? null : view(own) };
  },
}) satisfies Endpoint;
