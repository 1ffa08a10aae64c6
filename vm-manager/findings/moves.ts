// What may be done with one finding: moved, given to somebody, its risk set by hand; and what was done.
import { Nullable, OneOf, Time } from '#http-kit';
import { Type } from '@sinclair/typebox';
import type { Tx } from '../database.js';
import { endpoint, toMoment, unfit, When, type Call, type Endpoint } from '../kit/endpoint.js';
import { emit } from '../kit/events.js';
import { nextStates } from '../kit/machine.js';
import { showOne } from './endpoints.js';
import { DetailView, type FindingRow } from './fields.js';
import { lifecycle } from './lifecycle.js';
import { refreshFindings } from './refresh.js';
import { readDetails, requireFinding } from './store.js';
import { transition } from './transition.js';
import { justifications, statuses } from './words.js';

const closed = { additionalProperties: false } as const;

const History = Type.Object({
  items: Type.Array(
    Type.Object({
      from: Nullable(Type.String()),
      to: Type.String(),
      actor: Type.String(),
      by: Type.String(),
      reason: Type.String(),
      justification: Nullable(Type.String()),
      at: Time,
    }),
  ),
  next_states: Type.Array(Type.String()),
});

export const moveEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'POST',
    path: '/vulnerabilities/:id/transition',
    permission: 'triage_findings',
    kind: 'S',
    summary: 'Move a finding to another state',
    body: Type.Object(
      {
        to: OneOf(statuses),
        reason: Type.Optional(Type.String({ maxLength: 5000 })),
        justification: Type.Optional(OneOf(justifications)),
        canonical_id: Type.Optional(Type.String({ maxLength: 20 })),
      },
      closed,
    ),
    answer: DetailView,
    handle: async (call) => {
      const { body, now, caller } = call;
      const row = await call.audited(
        'vm.transition',
        (made: FindingRow) => `made the finding ${made.id} ${made.status}`,
        async (tx) => {
          const before = await requireFinding(tx, call.reach, call.params['id'] ?? '', true);
          const canonical =
            body.canonical_id === undefined ? null : await requireCanonical(tx, call, before, body.canonical_id);
          return transition(
            tx,
            before,
            {
              to: body.to,
              by: 'person',
              ...(body.reason === undefined ? {} : { reason: body.reason }),
              ...(body.justification === undefined ? {} : { justification: body.justification }),
              ...(canonical === null ? {} : { canonicalId: canonical }),
            },
            caller.actor,
            now,
          );
        },
        () => body,
      );
      return showOne(call, row);
    },
  }),
  endpoint({
    method: 'GET',
    path: '/vulnerabilities/:id/history',
    permission: 'view_findings',
    kind: 'A',
    summary: 'Every change of state, newest first, and the states that may follow',
    answer: History,
    handle: async ({ sql, reach, params }) => {
      const row = await requireFinding(sql, reach, params['id'] ?? '');
      const rows = await sql<
        {
          from_status: string | null;
          to_status: string;
          actor: string;
          by: string;
          reason: string;
          justification: string | null;
          at: Date;
        }[]
      >`
        select * from vm_transitions where finding_id = ${row.id} order by id desc limit 1000`;
      return {
        items: rows.map(({ from_status, to_status, actor, by, reason, justification, at }) => ({
          from: from_status,
          to: to_status,
          actor,
          by,
          reason,
          justification,
          at: at.toISOString(),
        })),
        next_states: nextStates(lifecycle, row.status, 'person'),
      };
    },
  }),
  endpoint({
    method: 'POST',
    path: '/vulnerabilities/:id/assign',
    permission: 'triage_findings',
    kind: 'B',
    summary: 'Assign a finding to a user, or unassign it',
    body: Type.Object({ user_id: Nullable(Type.String({ maxLength: 100 })) }, closed),
    answer: DetailView,
    handle: async (call) => {
      const { user_id: user } = call.body;
      if (user !== null && (await call.host.identity.owner(user)) === null)
        throw unfit('/user_id', 'is no active user');
      const row = await call.audited(
        'vm.update',
        `assigned the finding ${call.params['id']} to ${user ?? 'nobody'}`,
        async (tx) => {
          const before = await requireFinding(tx, call.reach, call.params['id'] ?? '', true);
          const [made] = await tx<FindingRow[]>`
          update vm_findings set assignee_id = ${user}, updated_at = ${call.now}, version = version + 1
          where id = ${before.id} returning *`;
          await emit(
            tx,
            [
              {
                type: 'finding.assigned',
                entity: 'finding',
                entityId: before.id,
                applicationId: before.application_id,
                payload: { user },
              },
            ],
            call.now,
          );
          return made ?? before;
        },
      );
      return showOne(call, row);
    },
  }),
  endpoint({
    method: 'PUT',
    path: '/vulnerabilities/:id/risk-override',
    permission: 'triage_findings',
    kind: 'B',
    summary: 'Set the risk by hand, 0 to 100, or null to take that back',
    body: Type.Object(
      {
        risk: Nullable(Type.Integer({ minimum: 0, maximum: 100 })),
        reason: Type.String({ minLength: 1, maxLength: 5000 }),
        until: Type.Optional(When),
      },
      closed,
    ),
    answer: DetailView,
    handle: async (call) => {
      const { risk, reason, until } = call.body;
      const end = until === undefined ? null : toMoment(until, '/until');
      if (end !== null && !(end > call.now)) throw unfit('/until', 'is over already');
      const row = await call.audited(
        'vm.update',
        `set the risk of the finding ${call.params['id']} to ${risk ?? 'what is computed'}: ${reason}`,
        async (tx) => {
          const { id, application_id } = await requireFinding(tx, call.reach, call.params['id'] ?? '', true);
          await tx`update vm_findings set risk_override = ${risk}, risk_override_until = ${end} where id = ${id}`;
          await refreshFindings(tx, [id], call.now);
          await emit(
            tx,
            [
              {
                type: 'finding.risk',
                entity: 'finding',
                entityId: id,
                applicationId: application_id,
                payload: { risk },
              },
            ],
            call.now,
          );
          return requireFinding(tx, call.reach, String(id));
        },
      );
      return showOne(call, row);
    },
  }),
  endpoint({
    method: 'GET',
    path: '/vulnerabilities/:id/occurrences',
    permission: 'view_findings',
    kind: 'A',
    summary: 'Where and by which tool it was seen',
    answer: Type.Object({ items: Type.Array(Type.Unknown()) }),
    handle: async ({ sql, reach, params }) => {
      const { id } = await requireFinding(sql, reach, params['id'] ?? '');
      const rows = await sql<Record<string, unknown>[]>`
        select id::text, tool, scope_key, location, raw_hash, first_run::text, last_run::text, first_seen,
          last_seen, gone_at
        from vm_occurrences where finding_id = ${id} order by vm_occurrences.id limit 1000`;
      return { items: rows };
    },
  }),
  endpoint({
    method: 'GET',
    path: '/vulnerabilities/:id/score-explain',
    permission: 'view_findings',
    kind: 'A',
    summary: 'What the risk is made of',
    answer: Type.Object({
      risk_score: Nullable(Type.Integer()),
      effective_risk: Type.Integer(),
      priority_score: Type.Integer(),
      factors: Type.Unknown(),
    }),
    handle: async ({ sql, reach, params }) => {
      const row = await requireFinding(sql, reach, params['id'] ?? '');
      const details = await readDetails(sql, row.id);
      const { risk_score, effective_risk, priority_score } = row;
      return { risk_score, effective_risk, priority_score, factors: details?.risk_factors ?? {} };
    },
  }),
];

async function requireCanonical(tx: Tx, call: Call, row: FindingRow, id: string): Promise<number> {
  const canonical = await requireFinding(tx, call.reach, id);
  if (canonical.id === row.id) throw unfit('/canonical_id', 'is the finding itself');
  if (canonical.status === 'duplicate')
    throw unfit('/canonical_id', 'is a duplicate itself', `name ${canonical.canonical_id}`);
  if (canonical.application_id !== row.application_id) throw unfit('/canonical_id', 'belongs to another application');
  // whatever was a duplicate of this one is one of the other from now on, so that there are no chains
  await tx`update vm_findings set canonical_id = ${canonical.id} where canonical_id = ${row.id}`;
  return canonical.id;
}
