// What becomes of an assessment: its state moves forward step by step, and the answers to its checklist are written.
import { ApiError, OneOf } from '#http-kit';
import { Type } from '@sinclair/typebox';
import { json } from '../../database.js';
import { endpoint, type Endpoint } from '../../kit/endpoint.js';
import { checkVersion, requireRow, toView, viewSchema, type Resource, type Row } from '../../kit/resource.js';

const closed = { additionalProperties: false } as const;
const states = ['planned', 'active', 'review', 'closed'] as const;
type State = (typeof states)[number];

/** Where each state leads to: one step on, one back, and a closed one is opened again. */
const moves: Readonly<Record<State, readonly State[]>> = {
  planned: ['active'],
  active: ['planned', 'review'],
  review: ['active', 'closed'],
  closed: ['active'],
};

/** Throws `conflict` where a state does not lead to another one; PATCH and the transition are the same door. */
export function requireMove(from: string, to: string): void {
  const onward = moves[from as State];
  if (from !== to && !onward.includes(to as State))
    throw new ApiError('conflict', `It is ${from}, from which it moves to ${onward.join(' or ')}.`);
}

/** Both endpoints; `item` is the schema of a line of the checklist, with `item`, `result` and `note`. */
export function assessmentMoves(assessments: Resource, item: ReturnType<typeof Type.Object>): readonly Endpoint[] {
  return [
    endpoint({
      method: 'POST',
      path: '/assessments/:id/transition',
      permission: 'edit_findings',
      kind: 'S',
      summary: 'Move an assessment on; it closes once every item of its checklist is answered',
      body: Type.Object({ to: OneOf(states), reason: Type.Optional(Type.String({ maxLength: 2000 })) }, closed),
      answer: viewSchema(assessments),
      handle: async (call) => {
        const [id, { to }] = [call.params['id'] ?? '', call.body];
        const made = await call.audited(
          'vm.update',
          `moved the assessment ${id} to ${to}`,
          async (tx) => {
            const row = await requireRow(tx, assessments, call.reach, id, true);
            checkVersion(call.request.headers['if-match'], row.version);
            const from = row['status'] as State;
            if (from === to)
              throw new ApiError('conflict', `It is ${from} already: it moves to ${moves[from].join(' or ')}.`);
            await assessments.check?.(tx, call, { status: to }, row);
            const [after] = await tx<Row[]>`
              update vm_assessments set status = ${to}, updated_at = ${call.now}, version = version + 1
              where id = ${row.id} returning *`;
            return after ?? row;
          },
          () => call.body,
        );
        call.reply.header('etag', `"${made.version}"`);
        return toView(assessments, made);
      },
    }),
    endpoint({
      method: 'PUT',
      path: '/assessments/:id/checklist',
      permission: 'edit_findings',
      kind: 'B',
      summary: 'Replace the checklist of an assessment that is not closed, with the answers to its items',
      body: Type.Object({ checklist: Type.Array(item, { maxItems: 500 }) }, closed),
      answer: viewSchema(assessments),
      handle: async (call) => {
        const id = call.params['id'] ?? '';
        const made = await call.audited(
          'vm.update',
          `answered the checklist of the assessment ${id}`,
          async (tx) => {
            const row = await requireRow(tx, assessments, call.reach, id, true);
            checkVersion(call.request.headers['if-match'], row.version);
            const values: Record<string, unknown> = { checklist: call.body.checklist };
            await assessments.check?.(tx, call, values, row);
            const [after] = await tx<Row[]>`
              update vm_assessments set checklist = ${json(tx, values['checklist'])}, updated_at = ${call.now},
                version = version + 1
              where id = ${row.id} returning *`;
            return after ?? row;
          },
          () => call.body,
        );
        call.reply.header('etag', `"${made.version}"`);
        return toView(assessments, made);
      },
    }),
  ];
}
