// What may be changed of acceptances: the text while nobody has decided, the term by whoever may decide.
import { ApiError, OneOf } from '#http-kit';
import { Type } from '@sinclair/typebox';
import type { Tx } from '../database.js';
import { endpoint, unfit, When, type Call, type Endpoint } from '../kit/endpoint.js';
import { emit } from '../kit/events.js';
import { checkVersion } from '../kit/resource.js';
import { AcceptanceView, requireAcceptance, view, type Row } from './acceptances.js';
import { checkEnd } from './mutes.js';

const closed = { additionalProperties: false } as const;

/** Throws 403 for what somebody else has asked for, unless the caller may decide about it. */
function requireOwn(call: Call, row: Row): void {
  if (row.requested_by === call.caller.person.userId || call.caller.reach('approve_acceptance', true) !== null) return;
  throw new ApiError('role_denied', 'Somebody else has asked for it: only they, and who decides, may change it.');
}

async function pending(tx: Tx, call: Call): Promise<Row> {
  const row = await requireAcceptance(tx, call.reach, call.params['id'] ?? '');
  checkVersion(call.request.headers['if-match'], row.version);
  requireOwn(call, row);
  if (row.status === 'pending') return row;
  const fix = row.status === 'approved' ? ': extend or revoke it' : '';
  throw new ApiError('conflict', `It is ${row.status}, and stays as it was decided${fix}.`);
}

const Change = Type.Object(
  {
    title: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
    decision: Type.Optional(OneOf(['accept', 'reduce', 'avoid', 'transfer'])),
    justification: Type.Optional(Type.String({ minLength: 1, maxLength: 10_000 })),
    compensating_controls: Type.Optional(Type.String({ maxLength: 10_000 })),
    expires_at: Type.Optional(When),
    on_expiry: Type.Optional(OneOf(['resume', 'restart'])),
  },
  { ...closed, minProperties: 1 },
);

const change = endpoint({
  method: 'PATCH',
  path: '/acceptances/:id',
  permission: 'request_acceptance',
  kind: 'C',
  summary: 'Change an acceptance that is not decided yet (merge patch; If-Match with its version is heeded)',
  body: Change,
  answer: AcceptanceView,
  handle: async (call) => {
    const { body, now } = call;
    const end = body.expires_at === undefined ? {} : { expires_at: checkEnd(body.expires_at, now) };
    const row = await call.audited(
      'vm.update',
      `changed the acceptance ${call.params['id']}`,
      async (tx) => {
        const before = await pending(tx, call);
        const values = { ...body, ...end, updated_at: now, version: before.version + 1 };
        const [made] = await tx<Row[]>`
          update vm_acceptances set ${tx(values as never)} where id = ${before.id} returning *`;
        return made ?? before;
      },
      () => body,
    );
    call.reply.header('etag', `"${row.version}"`);
    return view(call.sql, row);
  },
});

const remove = endpoint({
  method: 'DELETE',
  path: '/acceptances/:id',
  permission: 'request_acceptance',
  kind: 'C',
  summary: 'Take back a request that is not decided yet; what was decided stays as a record',
  status: 204,
  handle: async (call) => {
    await call.audited('vm.delete', `took the acceptance ${call.params['id']} back`, async (tx) => {
      const row = await pending(tx, call);
      await tx`delete from vm_acceptances where id = ${row.id}`;
    });
  },
});

const extend = endpoint({
  method: 'POST',
  path: '/acceptances/:id/extend',
  permission: 'approve_acceptance',
  kind: 'S',
  summary: 'Give an approved acceptance a later end; not by who asked for it',
  body: Type.Object(
    {
      expires_at: When,
      reason: Type.String({ minLength: 1, maxLength: 5000, pattern: '\\S', description: 'text that is not blank' }),
    },
    closed,
  ),
  answer: AcceptanceView,
  handle: async (call) => {
    const { body, now, caller } = call;
    const end = checkEnd(body.expires_at, now);
    const row = await call.audited(
      'vm.transition',
      `gave the acceptance ${call.params['id']} a later end`,
      async (tx) => {
        const before = await requireAcceptance(tx, call.reach, call.params['id'] ?? '');
        if (before.requested_by === caller.person.userId)
          throw new ApiError('role_denied', 'Somebody else has to decide what you have asked for.');
        if (before.status !== 'approved')
          throw new ApiError('conflict', `It is ${before.status}: ask for another one.`);
        if (end <= before.expires_at) throw unfit('/expires_at', 'is no later than the end that it has');
        const reason = body.reason.trim();
        await tx`
          insert into vm_acceptance_extensions (acceptance_id, from_at, to_at, reason, by_id, by_name, at)
          values (${before.id}, ${before.expires_at}, ${end}, ${reason}, ${caller.actor.id}, ${caller.actor.name},
            ${now})`;
        const [made] = await tx<Row[]>`
          update vm_acceptances set expires_at = ${end}, end_told_at = null, version = version + 1,
            updated_at = ${now} where id = ${before.id} returning *`;
        const payload = { status: 'approved', extended_to: end.toISOString() };
        const about = { entity: 'acceptance', entityId: before.id, applicationId: null } as const;
        await emit(tx, [{ type: 'acceptance.decided', ...about, payload }], now);
        return made ?? before;
      },
      () => body,
    );
    return view(call.sql, row);
  },
});

export const acceptanceChangeEndpoints: readonly Endpoint[] = [change, remove, extend];
