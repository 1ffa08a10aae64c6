// Reports by the clock: built with what the owner of the schedule may see at that moment, kept, and sent.
import { ApiError } from '#http-kit';
import { Type, type Static } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { requireApplication } from '../../assets/resources.js';
import type { Queryable } from '../../database.js';
import type { Host } from '../../host.js';
import { requireWhole, type Reach } from '../../kit/caller.js';
import { unfit, type Acting } from '../../kit/endpoint.js';
import { emit } from '../../kit/events.js';
import { insertRun, type Run } from '../../kit/runs.js';
import { inBackground } from '../../kit/runs/background.js';
import { Mailbox } from '../../notifications/senders/email.js';
import { requireTemplate } from '../../templates/stored.js';
import { daysMax, formats, prepare, Title, type Order, type ReportRow } from '../build.js';
import { sectionNames, type SectionName } from '../offered.js';
import { enqueue } from './queue.js';
import { requireReceivers, type Receivers } from './receivers.js';

/** Reports that a schedule leaves in the list: older ones are deleted, what was sent of them stays known. */
const keptOfSchedule = 30;
const high = 3;

const Id = Type.String({ maxLength: 20, pattern: '^[1-9]\\d{0,17}$' });
const listOf = (text: string | undefined): string[] | undefined =>
  text === undefined || text.trim() === '' ? undefined : text.split(',').map((one) => one.trim());

/** Texts, as every payload of a schedule. */
export const ReportPayload = Type.Object(
  {
    title: Type.Optional(Title),
    application_id: Type.Optional(Id),
    sections: Type.Optional(Type.String({ maxLength: 300 })),
    format: Type.Union(formats.map((one) => Type.Literal(one))),
    days: Type.Optional(Type.String({ pattern: '^[1-9]\\d?$' })),
    template_id: Type.Optional(Id),
    channel_id: Type.Optional(Id),
    recipients: Type.Optional(Type.String({ maxLength: 2000 })),
  },
  { additionalProperties: false },
);
type Payload = Static<typeof ReportPayload>;

export interface ReportSchedule {
  readonly id: number;
  readonly name: string;
  readonly timezone: string;
}

function orderOf({ title, application_id: app, sections, format, days, template_id: template }: Payload): Order {
  const names = listOf(sections) ?? ['attack-chains'];
  const wrong = names.find((one) => !(sectionNames as readonly string[]).includes(one));
  if (wrong !== undefined || new Set(names).size < names.length)
    throw unfit(
      '/payload/sections',
      wrong === undefined ? 'names one twice' : `names ${wrong.slice(0, 60)}, which is no section`,
      `write one or more of ${sectionNames.join(', ')} with commas between`,
    );
  if (Number(days ?? 1) > daysMax) throw unfit('/payload/days', `is more than ${daysMax}`);
  return {
    scope: app === undefined ? {} : { application_id: app },
    names: names as SectionName[],
    format: format,
    title,
    template,
    days: days === undefined ? undefined : Number(days),
  };
}

async function receiversOf(sql: Queryable, { channel_id: channelId, recipients }: Payload): Promise<Receivers> {
  const named = listOf(recipients);
  for (const [at, one] of (named ?? []).entries())
    if (!Value.Check(Mailbox, one)) throw unfit(`/payload/recipients/${at}`, 'is no mailbox', 'write name@example.org');
  return requireReceivers(sql, { channelId, recipients: named }, '/payload');
}

/** The application that it is about; null: all of them. Throws ApiError for what it could not build or send. */
export async function ownerOfReport(sql: Queryable, reach: Reach, payload: object): Promise<number | null> {
  const given = payload as Payload;
  const { names, template } = orderOf(given);
  await receiversOf(sql, given);
  if (template !== undefined && template !== null)
    await requireTemplate(sql, 'report', template, '/payload/template_id');
  if (names.includes('security-events')) requireWhole(reach, 'Security events of all sites');
  if (given.application_id !== undefined) {
    await requireApplication(sql, reach, given.application_id);
    return Number(given.application_id);
  }
  // its owner may see more later than the one who asks now, who may be a token of one application
  requireWhole(reach, 'Scheduled reports without application_id');
  return null;
}

async function noteFailed(host: Host, applicationId: number | null, run: Run, summary: string): Promise<void> {
  const payload = { summary: summary.slice(0, 500), severity: high };
  await host.sql.begin((tx) =>
    emit(
      tx,
      [{ type: 'report.failed', entity: 'run', entityId: run.id, applicationId, payload }],
      new Date(host.now()),
    ),
  );
}

async function buildAndSend(call: Acting, payload: Payload, schedule: ReportSchedule): Promise<object> {
  const store = await prepare(call, { ...orderOf(payload), zone: schedule.timezone, scheduleId: schedule.id });
  const receivers = await receiversOf(call.sql, payload);
  const { recipients, channel } = receivers;
  const report = await call.audited(
    'vm.create',
    (made: ReportRow) => `built the report ${made.id}, and sends it through the channel ${channel.name}`,
    async (tx) => {
      const made = await store(tx);
      await enqueue(tx, call, made, receivers);
      await tx`
        delete from vm_reports r where schedule_id = ${schedule.id}
          and id not in (
            select id from vm_reports where schedule_id = ${schedule.id} order by id desc limit ${keptOfSchedule})
          and not exists (
            select 1 from vm_report_deliveries d where d.report_id = r.id and d.state = 'queued')`;
      return made;
    },
    () => ({ recipients }),
  );
  return { report_id: String(report.id), recipients };
}

/** Begins to build it; what cannot begin is refused at once. */
export async function beginReport(call: Acting, payload: object, schedule: ReportSchedule): Promise<Run> {
  const given = payload as Payload;
  for (const permission of ['build_reports', 'send_reports'] as const)
    if (call.caller.reach(permission, true) === null)
      throw new ApiError('role_denied', `This needs the permission ${permission}.`);
  const applicationId = await ownerOfReport(call.sql, call.reach, payload);
  const run = await call.audited(
    'vm.create',
    (made: Run) => `began the run ${made.id}: the report of the schedule ${schedule.name}`,
    (tx) =>
      insertRun(
        tx,
        { kind: 'report', applicationId, input: given, createdBy: call.caller.actor.name, status: 'running' },
        call.now,
      ),
  );
  inBackground(call.host, run, async () => {
    try {
      return await buildAndSend(call, given, schedule);
    } catch (error) {
      const words = error instanceof ApiError ? error.message : 'The log of the server says why.';
      await noteFailed(call.host, applicationId, run, `The schedule ${schedule.name}: ${words}`);
      throw error;
    }
  });
  return run;
}
