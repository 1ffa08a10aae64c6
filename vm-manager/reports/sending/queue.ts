// The queue of mails with reports, a row for each mailbox: written with what asks for it, sent by `deliver.ts`.
import { ApiError, Nullable, OneOf, Time } from '#http-kit';
import { Type } from '@sinclair/typebox';
import type { Queryable, Tx } from '../../database.js';
import type { Acting } from '../../kit/endpoint.js';
import type { ReportRow } from '../build.js';
import { requireWorking, type Receivers } from './receivers.js';

/** Of the file; in a mail it is a third larger, and most servers take 25 MB. */
export const mailBytesMax = 15 * 1024 * 1024;
const queuedMax = 2000;

export const deliveryStates = ['queued', 'sent', 'failed'] as const;

export interface DeliveryRow {
  readonly id: number;
  readonly report_id: number | null;
  readonly title: string;
  readonly format: string;
  readonly application_id: number | null;
  readonly channel_id: number | null;
  readonly channel: string;
  readonly recipient: string;
  readonly state: (typeof deliveryStates)[number];
  readonly attempts: number;
  readonly last_error: string | null;
  readonly not_before: Date;
  readonly schedule_id: number | null;
  readonly created_by_name: string;
  readonly created_at: Date;
  readonly sent_at: Date | null;
}

export const DeliveryView = Type.Object({
  id: Type.String(),
  report_id: Nullable(Type.String({ description: 'null: it was deleted' })),
  title: Type.String(),
  format: Type.String(),
  channel: Type.String(),
  recipient: Type.String(),
  state: OneOf(deliveryStates),
  attempts: Type.Integer(),
  last_error: Nullable(Type.String()),
  not_before: Time,
  schedule_id: Nullable(Type.String()),
  created_by: Type.String(),
  created_at: Time,
  sent_at: Nullable(Time),
});

const idOf = (id: number | null): string | null => (id === null ? null : String(id));

export const viewReportDelivery = (row: DeliveryRow) => ({
  id: String(row.id),
  report_id: idOf(row.report_id),
  title: row.title,
  format: row.format,
  channel: row.channel,
  recipient: row.recipient,
  state: row.state,
  attempts: row.attempts,
  last_error: row.last_error,
  not_before: row.not_before.toISOString(),
  schedule_id: idOf(row.schedule_id),
  created_by: row.created_by_name,
  created_at: row.created_at.toISOString(),
  sent_at: row.sent_at?.toISOString() ?? null,
});

/** Throws 422 for a file that no mail server would take. */
export async function requireMailable(sql: Queryable, reportId: number): Promise<void> {
  const [row] = await sql<{ bytes: number }[]>`
    select octet_length(content) as bytes from vm_report_contents where report_id = ${reportId}`;
  const bytes = row?.bytes ?? 0;
  if (bytes > mailBytesMax)
    throw new ApiError(
      'unfit',
      `The file has ${Math.ceil(bytes / 1_000_000)} MB, and a mail takes 15: build it with fewer sections, or as PDF.`,
    );
}

type Sender = Pick<Acting, 'caller' | 'now'>;

/** Puts a mail for each mailbox in the queue. Throws 409 where one of them waits already, and where too many wait. */
export async function enqueue(
  tx: Tx,
  { caller, now }: Sender,
  report: ReportRow & { readonly application_id?: number | null },
  { channel, recipients }: Receivers,
): Promise<DeliveryRow[]> {
  const [state] = await tx<{ reason: string | null }[]>`select reason from vm_channels where id = ${channel.id}`;
  requireWorking(channel, state?.reason ?? null);
  await requireMailable(tx, report.id);
  const [waiting] = await tx<{ n: number }[]>`
    select count(*)::int as n from vm_report_deliveries where state = 'queued'`;
  if ((waiting?.n ?? 0) + recipients.length > queuedMax)
    throw new ApiError('conflict', `${waiting?.n ?? 0} mails with reports wait already: see why they are not sent.`);
  const rows = recipients.map((recipient) => ({
    report_id: report.id,
    title: report.title,
    format: report.format,
    channel_id: channel.id,
    channel: channel.name,
    recipient,
    not_before: now,
    schedule_id: report.schedule_id,
    created_by: caller.person.userId,
    created_by_name: caller.person.email,
    created_at: now,
  }));
  const made = await tx<DeliveryRow[]>`
    insert into vm_report_deliveries ${tx(rows as never)} on conflict (report_id, recipient) where state = 'queued'
    do nothing returning *`;
  if (made.length < rows.length)
    throw new ApiError('conflict', 'A mail with this report waits for one of them already: see what was sent.');
  // those who may read the report read what became of it
  await tx`
    update vm_report_deliveries d set application_id = r.application_id from vm_reports r
    where r.id = d.report_id and d.id in ${tx(made.map(({ id }) => id))}`;
  return [...made];
}
