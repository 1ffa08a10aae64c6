// A certificate as the API shows it. Keys are in no view: nobody but nodes is given one.
import { Type, type Static } from '@sinclair/typebox';
import { Nullable, OneOf, Time } from '../http-kit/index.js';
import { challengeKinds, type CertificateRow, type IssueRow } from './store.js';

export const states = ['waiting', 'serving', 'failing', 'ended', 'revoked'] as const;

export const CertificateView = Type.Object({
  id: Type.String(),
  names: Type.Array(Type.String()),
  sites: Type.Array(Type.String(), { description: 'sites whose host it stands for' }),
  state: OneOf(
    states,
    'waiting: nothing was issued yet; failing: the last order failed, what was issued before serves until its end',
  ),
  source: OneOf(['acme', 'upload'] as const),
  challenge: OneOf(challengeKinds),
  directory: Nullable(Type.String({ description: 'null: any of the environment' })),
  issued: Nullable(
    Type.Object({
      by: Type.String(),
      serial: Type.String(),
      directory: Nullable(Type.String()),
      not_before: Time,
      not_after: Time,
      is_on_nodes: Type.Boolean({ description: 'every node that answers has it' }),
    }),
  ),
  next_attempt_at: Nullable(Time),
  attempted_at: Nullable(Time),
  attempts: Type.Integer({ description: 'failures in a row' }),
  is_ordering: Type.Boolean(),
  error: Nullable(Type.String()),
  fix: Nullable(Type.String({ description: 'what to do about the error' })),
  created_by: Type.String(),
  created_at: Time,
});

const timeOf = (at: Date | null): string | null => at?.toISOString() ?? null;

function stateOf(row: CertificateRow, issue: IssueRow | undefined, now: Date): (typeof states)[number] {
  if (row.revoked_at !== null) return 'revoked';
  if (issue !== undefined && issue.not_after <= now) return 'ended';
  if (row.last_error !== null) return 'failing';
  return issue === undefined ? 'waiting' : 'serving';
}

export function viewOf(
  row: CertificateRow,
  issue: IssueRow | undefined,
  sites: readonly string[],
  now: Date,
): Static<typeof CertificateView> {
  return {
    id: row.id,
    names: row.names.split(' '),
    sites: [...sites],
    state: stateOf(row, issue, now),
    source: row.source,
    challenge: row.challenge,
    directory: row.directory,
    issued:
      issue === undefined
        ? null
        : {
            by: issue.issuer,
            serial: issue.serial,
            directory: issue.directory,
            not_before: issue.not_before.toISOString(),
            not_after: issue.not_after.toISOString(),
            is_on_nodes: issue.state === 'serving',
          },
    next_attempt_at: timeOf(row.next_attempt_at),
    attempted_at: timeOf(row.attempted_at),
    attempts: row.attempts,
    is_ordering: row.locked_until !== null && row.locked_until > now,
    error: row.last_error,
    fix: row.last_mend,
    created_by: row.created_by,
    created_at: row.created_at.toISOString(),
  };
}
