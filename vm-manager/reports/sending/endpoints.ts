// /reports/{id}/send: a report that is kept goes to mailboxes, and what became of each.
import { Nullable, OneOf } from '#http-kit';
import { Type } from '@sinclair/typebox';
import { allOf } from '../../database.js';
import { endpoint, type Endpoint } from '../../kit/endpoint.js';
import { List, ListQuery, readPage } from '../../kit/list.js';
import { Mailbox } from '../../notifications/senders/email.js';
import { closed } from '../build.js';
import { readable, requireReport } from '../kept.js';
import { deliveryStates, DeliveryView, enqueue, viewReportDelivery, type DeliveryRow } from './queue.js';
import { mailChannels, mailOf, recipientsMax, requireReceivers } from './receivers.js';

const Id = Type.String({ maxLength: 20, pattern: '^[1-9]\\d{0,17}$' });

const channels = endpoint({
  method: 'GET',
  path: '/reports/channels',
  permission: 'send_reports',
  kind: 'A',
  summary: 'Channels of e-mail that reports are sent through, and which mailboxes each allows',
  answer: Type.Object({
    items: Type.Array(
      Type.Object({
        id: Type.String(),
        name: Type.String(),
        from: Type.String(),
        to: Type.Array(Type.String(), { description: 'who gets a report where no receiver is named' }),
        report_recipients: Type.Array(Type.String(), {
          description: 'further mailboxes; what begins with @ is every mailbox of the domain',
        }),
        works: Type.Boolean({ description: 'false: it is switched off, or has failed' }),
      }),
    ),
  }),
  handle: async ({ sql }) => ({
    items: (await mailChannels(sql)).map((one) => {
      const { from, to, report_recipients: more = [] } = mailOf(one);
      const works = one.enabled && one.state !== 'failed';
      return { id: String(one.id), name: one.name, from, to, report_recipients: more, works };
    }),
  }),
});

const deliveries = endpoint({
  method: 'GET',
  path: '/reports/deliveries',
  permission: 'view_reports',
  kind: 'A',
  summary: 'Which reports were sent to whom, and when; of reports that you may read, for 400 days',
  query: Type.Object(
    {
      ...ListQuery,
      state: Type.Optional(OneOf(deliveryStates)),
      report_id: Type.Optional(Id),
      schedule_id: Type.Optional(Id),
    },
    closed,
  ),
  answer: List(DeliveryView),
  handle: async (call) => {
    const { sql } = call;
    const { state, report_id: report, schedule_id: schedule, ...wanted } = call.query;
    const where = allOf(sql, [
      readable(call),
      ...(state === undefined ? [] : [sql`state = ${state}`]),
      ...(report === undefined ? [] : [sql`report_id = ${report}`]),
      ...(schedule === undefined ? [] : [sql`schedule_id = ${schedule}`]),
    ]);
    const sorts = { id: { column: 'id', type: 'number' } } as const;
    const page = await readPage<DeliveryRow>(sql, { table: 'vm_report_deliveries', where, sorts, sort: '-id' }, wanted);
    return { ...page, items: page.items.map(viewReportDelivery) };
  },
});

const send = endpoint({
  method: 'POST',
  path: '/reports/:id/send',
  permission: 'send_reports',
  kind: 'R',
  summary: 'Send a report as the attachment of an e-mail, a mail for each mailbox',
  body: Type.Object(
    {
      channel_id: Type.Optional(
        Nullable(Type.String({ maxLength: 20, description: 'absent: the only channel of e-mail that there is' })),
      ),
      recipients: Type.Optional(
        Type.Array(Mailbox, {
          minItems: 1,
          maxItems: recipientsMax,
          description: 'mailboxes that the channel allows; absent: those that its notices go to',
        }),
      ),
    },
    closed,
  ),
  status: 202,
  answer: Type.Object({ items: Type.Array(DeliveryView) }),
  handle: async (call) => {
    const report = await requireReport(call, call.params['id'] ?? '');
    const { channel_id: channelId, recipients } = call.body;
    const receivers = await requireReceivers(call.sql, { channelId: channelId ?? undefined, recipients });
    const rows = await call.audited(
      'vm.create',
      `sends the report ${report.id} through the channel ${receivers.channel.name}`,
      // the schedule of a report that somebody sends by hand does not answer for it
      (tx) => enqueue(tx, call, { ...report, schedule_id: null }, receivers),
      () => ({ report: report.title, recipients: receivers.recipients }),
    );
    return { items: rows.map(viewReportDelivery) };
  },
});

export const sendingEndpoints: readonly Endpoint[] = [channels, deliveries, send];
