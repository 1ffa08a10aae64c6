// What people answer to controls: attestations, and exceptions that end.
import { ApiError, OneOf } from '#http-kit';
import { Type } from '@sinclair/typebox';
import { requireApplication } from '../assets/resources.js';
import { allOf, type Tx } from '../database.js';
import { isUnconfined, requireWhole } from '../kit/caller.js';
import { endpoint, notFound, toId, unfit, When, type Call, type Endpoint } from '../kit/endpoint.js';
import { List, ListQuery, readPage } from '../kit/list.js';
import {
  answerWords,
  AnswerView,
  ApplicationId,
  FrameworkId,
  toExpiry,
  viewAnswer,
  visibleAnswers,
  type AnswerRow,
} from './answers.js';
import { findControl } from './catalogue.js';
import { catalogueOf, requireControl } from './lookup.js';

const closed = { additionalProperties: false } as const;
const Reason = Type.String({ minLength: 1, maxLength: 2000, pattern: '\\S' });
const Owner = Type.String({ minLength: 1, maxLength: 200, pattern: '\\S', description: 'who answers for it' });
const Evidence = Type.Optional(
  Type.String({ maxLength: 500, pattern: '^https?://\\S+$', description: 'address of a document' }),
);

/** Throws 404 or 403 where the caller may not speak for it. */
async function requirePlace({ sql, reach }: Call, application: string | undefined): Promise<void> {
  if (application !== undefined) await requireApplication(sql, reach, application);
  else requireWhole(reach, 'Answers without an application');
}

interface NewAnswer {
  readonly reason: string;
  readonly owner: string;
  readonly evidence?: string | undefined;
  readonly expires_at: string;
  readonly application_id?: string | undefined;
}

async function insertAnswer(
  tx: Tx,
  call: Call,
  key: { readonly framework: string; readonly control: string; readonly answer: string | null },
  given: NewAnswer,
): Promise<AnswerRow> {
  const [row] = await tx<AnswerRow[]>`
    insert into vm_compliance_answers ${tx({
      ...key,
      kind: key.answer === null ? 'exception' : 'attestation',
      application_id: given.application_id ?? null,
      reason: given.reason,
      owner: given.owner,
      evidence: given.evidence ?? '',
      expires_at: toExpiry(given.expires_at, call.now),
      created_by: call.caller.actor.name,
      created_at: call.now,
    } as never)} returning *`;
  if (row === undefined) throw new Error('the answer was not stored');
  return row;
}

const revokeAttestation = (
  tx: Tx,
  framework: string,
  control: string,
  application: string | undefined,
  now: Date,
) => tx`
  update vm_compliance_answers set revoked_at = ${now}
  where kind = 'attestation' and framework = ${framework} and control = ${control} and revoked_at is null
    and application_id is not distinct from ${application ?? null}`;

const attest = endpoint({
  method: 'PUT',
  path: '/compliance/controls/:id/attestation',
  permission: 'edit_compliance',
  kind: 'B',
  summary: 'Answer for a control by hand, for a year at most; open findings and failed checks count all the same',
  body: Type.Object(
    {
      answer: OneOf(answerWords),
      reason: Reason,
      owner: Owner,
      evidence: Evidence,
      expires_at: When,
      application_id: ApplicationId,
    },
    closed,
  ),
  answer: AnswerView,
  handle: async (call) => {
    const { framework, control } = await requireControl(call);
    const { answer, application_id: application } = call.body;
    await requirePlace(call, application);
    return call.audited(
      'vm.update',
      `attested ${framework.id}:${control.id} as ${answer.replace('_', ' ')}`,
      async (tx) => {
        await revokeAttestation(tx, framework.id, control.id, application, call.now);
        const key = { framework: framework.id, control: control.id, answer };
        return viewAnswer(await insertAnswer(tx, call, key, call.body));
      },
      () => call.body,
    );
  },
});

const takeBack = endpoint({
  method: 'DELETE',
  path: '/compliance/controls/:id/attestation',
  permission: 'edit_compliance',
  kind: 'B',
  summary: 'Take an attestation back',
  query: Type.Object({ application_id: ApplicationId }, closed),
  status: 204,
  handle: async (call) => {
    const { framework, control } = await requireControl(call);
    const { application_id: application } = call.query;
    await requirePlace(call, application);
    await call.audited('vm.update', `took back the attestation of ${framework.id}:${control.id}`, async (tx) => {
      const revoked = await revokeAttestation(tx, framework.id, control.id, application, call.now);
      if (revoked.count === 0) throw notFound('attestation of', `${framework.id}:${control.id}`);
    });
  },
});

const exceptions = endpoint({
  method: 'GET',
  path: '/compliance/exceptions',
  permission: 'view_compliance',
  kind: 'C',
  summary: 'Exceptions from controls, the newest first; those that ended or were revoked, too',
  query: Type.Object({ ...ListQuery, framework: FrameworkId, in_force: Type.Optional(Type.Boolean()) }, closed),
  answer: List(AnswerView),
  handle: async ({ sql, reach, query, now }) => {
    const { framework, in_force: inForce, ...wanted } = query;
    const isInForce = sql`(revoked_at is null and expires_at > ${now})`;
    const where = allOf(sql, [
      sql`kind = 'exception'`,
      visibleAnswers(sql, reach),
      ...(framework === undefined ? [] : [sql`framework = ${framework}`]),
      ...(inForce === undefined ? [] : [sql`${isInForce} = ${inForce}`]),
    ]);
    const sorts = { id: { column: 'id', type: 'number' } } as const;
    const page = await readPage<AnswerRow>(sql, { table: 'vm_compliance_answers', where, sorts, sort: '-id' }, wanted);
    return { ...page, items: page.items.map(viewAnswer) };
  },
});

const except = endpoint({
  method: 'POST',
  path: '/compliance/exceptions',
  permission: 'edit_compliance',
  kind: 'C',
  summary: 'Bear a gap of a control until a day, a year ahead at most',
  body: Type.Object(
    {
      control: Type.String({ minLength: 1, maxLength: 80, description: 'framework:number' }),
      reason: Reason,
      owner: Owner,
      evidence: Evidence,
      expires_at: When,
      application_id: ApplicationId,
    },
    closed,
  ),
  status: 201,
  answer: AnswerView,
  handle: async (call) => {
    const { control: key, application_id: application } = call.body;
    await requirePlace(call, application);
    const found = findControl(await catalogueOf(call), key);
    if (found === null) throw unfit('/control', 'is no control', 'write it as pci-dss:6.2.4');
    return call.audited(
      'vm.create',
      `excepted the control ${key}`,
      async (tx) => {
        const of = { framework: found.framework.id, control: found.control.id, answer: null };
        return viewAnswer(await insertAnswer(tx, call, of, call.body));
      },
      () => call.body,
    );
  },
});

const revoke = endpoint({
  method: 'DELETE',
  path: '/compliance/exceptions/:id',
  permission: 'edit_compliance',
  kind: 'C',
  summary: 'End an exception now; it stays in the list',
  status: 204,
  handle: async (call) => {
    const id = toId(call.params['id'] ?? '', 'exception');
    await call.audited('vm.update', `ended the exception ${id}`, async (tx) => {
      const [row] = await tx<AnswerRow[]>`
        select * from vm_compliance_answers
        where id = ${id} and kind = 'exception' and ${visibleAnswers(tx, call.reach)} for update`;
      if (row === undefined) throw notFound('exception', id);
      if (row.application_id === null && !isUnconfined(call.reach))
        throw new ApiError('role_denied', 'It is of the whole organisation; your grant or token is not.');
      if (row.revoked_at !== null) throw new ApiError('conflict', 'It was ended already.');
      await tx`update vm_compliance_answers set revoked_at = ${call.now} where id = ${id}`;
    });
  },
});

export const complianceAnswerEndpoints: readonly Endpoint[] = [attest, takeBack, exceptions, except, revoke];
