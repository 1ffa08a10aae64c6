// The tables of certificates, of what was issued for them, of accounts at authorities and of open challenges.
import type { Queryable } from '../db/client.js';

export const challengeKinds = ['http-01', 'tls-alpn-01', 'dns-01'] as const;
export type ChallengeKind = (typeof challengeKinds)[number];

export interface CertificateRow {
  readonly id: string;
  /** With blanks between them. */
  readonly names: string;
  readonly source: 'acme' | 'upload';
  readonly challenge: ChallengeKind;
  readonly directory: string | null;
  readonly attempts: number;
  readonly attempted_at: Date | null;
  readonly next_attempt_at: Date | null;
  readonly last_error: string | null;
  readonly last_mend: string | null;
  readonly rehearsed_at: Date | null;
  readonly locked_until: Date | null;
  readonly told_days: number | null;
  readonly revoked_at: Date | null;
  readonly created_by: string;
  readonly created_at: Date;
}

export interface IssueRow {
  readonly id: string;
  readonly certificate_id: string;
  readonly chain: string;
  readonly key_sealed: string;
  readonly directory: string | null;
  readonly issuer: string;
  readonly serial: string;
  readonly not_before: Date;
  readonly not_after: Date;
  readonly issued_at: Date;
  readonly state: 'new' | 'serving' | 'replaced' | 'revoked';
}

export interface ChallengeRow {
  readonly id: string;
  readonly certificate_id: string;
  readonly kind: 'http-01' | 'tls-alpn-01';
  readonly name: string;
  readonly body: string;
  readonly key_sealed: string | null;
  readonly expires_at: Date;
}

type NewCertificate = Pick<
  CertificateRow,
  'id' | 'names' | 'source' | 'challenge' | 'directory' | 'next_attempt_at' | 'created_by' | 'created_at'
>;

/** False: there is one for these names. */
export async function addCertificate(sql: Queryable, row: NewCertificate): Promise<boolean> {
  const { id, names, source, challenge, directory, next_attempt_at, created_by, created_at } = row;
  const added = await sql`
    insert into certificates (id, names, source, challenge, directory, next_attempt_at, created_by, created_at)
    values (${id}, ${names}, ${source}, ${challenge}, ${directory}, ${next_attempt_at}, ${created_by}, ${created_at})
    on conflict (names) where revoked_at is null do nothing`;
  return added.count === 1;
}

/** By names; revoked ones last. */
export const listCertificates = (sql: Queryable): Promise<CertificateRow[]> =>
  sql<CertificateRow[]>`select * from certificates order by revoked_at is not null, names, created_at`;

export async function findCertificate(sql: Queryable, id: string): Promise<CertificateRow | undefined> {
  const [row] = await sql<CertificateRow[]>`select * from certificates where id = ${id}`;
  return row;
}

export async function findByNames(sql: Queryable, names: string): Promise<CertificateRow | undefined> {
  const [row] = await sql<CertificateRow[]>`select * from certificates where names = ${names} and revoked_at is null`;
  return row;
}

export const listDue = (sql: Queryable, now: Date): Promise<CertificateRow[]> =>
  sql<CertificateRow[]>`
    select * from certificates where revoked_at is null and next_attempt_at <= ${now}
      and (locked_until is null or locked_until <= ${now})
    order by next_attempt_at limit 20`;

/** False: another order for these names is under way. */
export async function lockCertificate(
  sql: Queryable,
  id: string,
  by: string,
  now: Date,
  until: Date,
): Promise<boolean> {
  const taken = await sql`
    update certificates set locked_until = ${until}, locked_by = ${by}
    where id = ${id} and revoked_at is null and (locked_until is null or locked_until <= ${now})`;
  return taken.count === 1;
}

export async function unlockCertificate(sql: Queryable, id: string, by: string): Promise<void> {
  await sql`update certificates set locked_until = null, locked_by = null where id = ${id} and locked_by = ${by}`;
}

export async function noteRehearsal(sql: Queryable, id: string, now: Date): Promise<void> {
  await sql`update certificates set rehearsed_at = ${now} where id = ${id}`;
}

export async function noteFailure(
  sql: Queryable,
  id: string,
  { error, fix }: { readonly error: string; readonly fix: string },
  now: Date,
  next: Date,
): Promise<void> {
  await sql`
    update certificates set attempts = attempts + 1, attempted_at = ${now}, next_attempt_at = ${next},
      last_error = ${error}, last_mend = ${fix}
    where id = ${id}`;
}

/** `next` null: nothing is ordered for it any more. */
export async function noteSuccess(sql: Queryable, id: string, now: Date, next: Date | null): Promise<void> {
  await sql`
    update certificates set attempts = 0, attempted_at = ${now}, next_attempt_at = ${next}, last_error = null,
      last_mend = null, told_days = null
    where id = ${id}`;
}

export async function orderNow(sql: Queryable, id: string, now: Date): Promise<void> {
  await sql`update certificates set next_attempt_at = ${now}, source = 'acme' where id = ${id}`;
}

export async function noteTold(sql: Queryable, id: string, days: number | null): Promise<void> {
  await sql`update certificates set told_days = ${days} where id = ${id}`;
}

export async function addIssue(sql: Queryable, row: IssueRow): Promise<void> {
  const { id, certificate_id, chain, key_sealed, directory, issuer, serial } = row;
  await sql`
    insert into certificate_issues
      (id, certificate_id, chain, key_sealed, directory, issuer, serial, not_before, not_after, issued_at, state)
    values (${id}, ${certificate_id}, ${chain}, ${key_sealed}, ${directory}, ${issuer}, ${serial}, ${row.not_before},
      ${row.not_after}, ${row.issued_at}, ${row.state})`;
}

/** Those that nodes are given or were given last, the newest first. */
export const listIssues = (sql: Queryable): Promise<IssueRow[]> =>
  sql<IssueRow[]>`
    select * from certificate_issues where state in ('new', 'serving') order by issued_at desc, id`;

/** When each certificate that is in service ends, the one of its issues that ends last. */
export const listEnds = (sql: Queryable): Promise<{ names: string; not_after: Date }[]> =>
  sql<{ names: string; not_after: Date }[]>`
    select c.names, max(i.not_after) as not_after from certificates c
    join certificate_issues i on i.certificate_id = c.id and i.state in ('new', 'serving')
    where c.revoked_at is null group by c.id, c.names order by c.names`;

/** Nodes have these: what they stand for is not given out in its older form any more. */
export async function noteServing(sql: Queryable, ids: readonly string[]): Promise<number> {
  let changed = 0;
  for (const id of ids) {
    const [row] = await sql<{ certificate_id: string; issued_at: Date }[]>`
      update certificate_issues set state = 'serving' where id = ${id} and state = 'new'
      returning certificate_id, issued_at`;
    if (row === undefined) continue;
    changed += 1;
    await sql`
      update certificate_issues set state = 'replaced'
      where certificate_id = ${row.certificate_id} and id <> ${id} and state in ('new', 'serving')
        and issued_at <= ${row.issued_at}`;
  }
  return changed;
}

export async function revoke(sql: Queryable, certificateId: string, now: Date): Promise<void> {
  await sql`update certificates set revoked_at = ${now}, next_attempt_at = null where id = ${certificateId}`;
  await sql`
    update certificate_issues set state = 'revoked'
    where certificate_id = ${certificateId} and state in ('new', 'serving')`;
}

export async function removeCertificate(sql: Queryable, id: string): Promise<boolean> {
  return (await sql`delete from certificates where id = ${id}`).count === 1;
}

export interface AccountRow {
  readonly directory_url: string;
  readonly key_sealed: string;
  readonly account_url: string;
}

export async function findAccount(sql: Queryable, directoryUrl: string): Promise<AccountRow | undefined> {
  const [row] = await sql<AccountRow[]>`select * from acme_accounts where directory_url = ${directoryUrl}`;
  return row;
}

export async function keepAccount(sql: Queryable, row: AccountRow, now: Date): Promise<void> {
  await sql`
    insert into acme_accounts (directory_url, key_sealed, account_url, created_at)
    values (${row.directory_url}, ${row.key_sealed}, ${row.account_url}, ${now})
    on conflict (directory_url) do update set key_sealed = excluded.key_sealed, account_url = excluded.account_url`;
}

export async function forgetAccount(sql: Queryable, directoryUrl: string): Promise<void> {
  await sql`delete from acme_accounts where directory_url = ${directoryUrl}`;
}

export async function addChallenge(sql: Queryable, row: ChallengeRow): Promise<void> {
  const { id, certificate_id, kind, name, body, key_sealed, expires_at } = row;
  await sql`
    insert into acme_challenges (id, certificate_id, kind, name, body, key_sealed, expires_at)
    values (${id}, ${certificate_id}, ${kind}, ${name}, ${body}, ${key_sealed}, ${expires_at})
    on conflict (id) do update set body = excluded.body, key_sealed = excluded.key_sealed,
      expires_at = excluded.expires_at`;
}

export const listChallenges = (sql: Queryable, now: Date): Promise<ChallengeRow[]> =>
  sql<ChallengeRow[]>`select * from acme_challenges where expires_at > ${now} order by id`;

export async function removeChallenges(sql: Queryable, certificateId: string): Promise<void> {
  await sql`delete from acme_challenges where certificate_id = ${certificateId}`;
}

export async function pruneChallenges(sql: Queryable, now: Date): Promise<void> {
  await sql`delete from acme_challenges where expires_at <= ${now}`;
}
