// Attestations and exceptions, as rows that are never changed: a newer attestation takes the place of the one before.
import { Nullable, OneOf, Time } from '#http-kit';
import { Type } from '@sinclair/typebox';
import { visibleByApplication } from '../assets/resources.js';
import type { Fragment, Queryable } from '../database.js';
import type { Reach } from '../kit/caller.js';
import { toMoment, unfit } from '../kit/endpoint.js';

export const ApplicationId = Type.Optional(Type.String({ maxLength: 20, description: 'of this application only' }));
export const FrameworkId = Type.Optional(Type.String({ maxLength: 60, description: 'this framework only' }));

export const answerWords = ['met', 'not_met', 'not_applicable'] as const;

export interface AnswerRow {
  readonly id: number;
  readonly kind: 'attestation' | 'exception';
  readonly framework: string;
  readonly control: string;
  readonly application_id: number | null;
  readonly answer: (typeof answerWords)[number] | null;
  readonly reason: string;
  readonly owner: string;
  readonly evidence: string;
  readonly expires_at: Date;
  readonly revoked_at: Date | null;
  readonly created_by: string;
  readonly created_at: Date;
}

/** Those of the organisation are everybody's to read: they say how its controls stand. */
export const visibleAnswers = (sql: Queryable, reach: Reach): Fragment =>
  sql`(application_id is null or ${visibleByApplication('vm_compliance_answers')(sql, reach)})`;

export const AnswerView = Type.Object({
  id: Type.String(),
  control: Type.String({ description: 'framework:number' }),
  application_id: Nullable(Type.String()),
  answer: Nullable(OneOf(answerWords)),
  reason: Type.String(),
  owner: Type.String(),
  evidence: Type.String(),
  expires_at: Time,
  revoked_at: Nullable(Time),
  created_by: Type.String(),
  created_at: Time,
});

export const viewAnswer = (row: AnswerRow) => ({
  id: String(row.id),
  control: `${row.framework}:${row.control}`,
  application_id: row.application_id === null ? null : String(row.application_id),
  answer: row.answer,
  reason: row.reason,
  owner: row.owner,
  evidence: row.evidence,
  expires_at: row.expires_at.toISOString(),
  revoked_at: row.revoked_at?.toISOString() ?? null,
  created_by: row.created_by,
  created_at: row.created_at.toISOString(),
});

/** Nothing that people say of a control holds for longer: it is looked at again every year. */
const daysMax = 366;

/** Throws 422 unless it lies ahead, within a year. */
export function toExpiry(text: string, now: Date): Date {
  const at = toMoment(text, '/expires_at');
  if (at <= now) throw unfit('/expires_at', 'is past', 'name a moment that lies ahead');
  if (at.getTime() - now.getTime() > daysMax * 86_400_000)
    throw unfit('/expires_at', `is more than ${daysMax} days away`, 'name a nearer day, and look at it again then');
  return at;
}
