// /notifications: channels, routes from events to them, and what became of each notice.
import { ApiError, Nullable, OneOf, Time } from '#http-kit';
import { Type, type TSchema } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { Name } from '../assets/resources.js';
import { brandNameOf } from '../branding/current.js';
import { allOf, type Fragment, type Queryable } from '../database.js';
import { endpoint, notFound, toId, unfit, type Call, type Endpoint } from '../kit/endpoint.js';
import { eventTypes } from '../kit/events.js';
import { List, ListQuery, readPage } from '../kit/list.js';
import { checkReceiver } from '../kit/outgoing.js';
import { checkPredicate, PredicateSchema } from '../kit/predicate.js';
import { requireRow, resourceEndpoints, type Resource, type Row } from '../kit/resource.js';
import { isUnconfined } from '../kit/caller.js';
import { requireTemplate } from '../templates/stored.js';
import { maskedAddress } from '../kit/values/masked-address.js';
import { textOf } from '../kit/values/text.js';
import { noteFailed, placeOfSecret, sendTo, type ChannelRow } from './deliver.js';
import { testMessage, type NoticedEvent } from './message.js';
import { checkQuiet, QuietSchema, type Quiet } from './quiet.js';
import { eventFields } from './routing.js';
import { channelTypes, senderOf, senders } from './senders/index.js';
import { SendError } from './senders/sender.js';

const closed = { additionalProperties: false } as const;
type Config = Readonly<Record<string, unknown>>;

/** Throws 422 naming the member. */
function checkConfig(type: string, config: unknown): Config {
  const { config: schema } = senderOf(type);
  const error = Value.Errors(schema, config).First();
  if (error === undefined) return config as Config;
  const known = Object.keys(schema.properties).join(', ');
  throw unfit(`/config${error.path}`, `does not fit (${error.message})`, `a channel of ${type} has ${known}`);
}

async function checkAddress({ host: { wayOut } }: Call, address: string, path: string): Promise<void> {
  if (wayOut === undefined) throw new ApiError('not_ready', 'This server sends nothing to other systems.');
  await checkReceiver(wayOut, address, path, 'is not encrypted');
}

async function storedChannel(call: Call): Promise<ChannelRow | null> {
  const id = call.params['id'];
  return id === undefined ? null : ((await requireRow(call.sql, channels, call.reach, id)) as unknown as ChannelRow);
}

const channels: Resource = {
  path: '/notifications/channels',
  noun: 'channel',
  table: 'vm_channels',
  ofOrganisation: 'Channels',
  view: 'view_health',
  edit: 'manage_notifications',
  visible: (sql, reach) => (isUnconfined(reach) ? sql`type <> 'events'` : sql`false`),
  masked: (given) => {
    const config = given['config'] as Config | undefined;
    const url = config?.['url'];
    return typeof url === 'string' ? { ...given, config: { ...config, url: maskedAddress(url) } } : given;
  },
  columns: {
    name: { schema: Name, as: 'plain', write: 'always', required: true, searched: true, sort: 'text' },
    type: { schema: OneOf(channelTypes), as: 'plain', write: 'create', required: true, filter: 'equal' },
    enabled: { schema: Type.Boolean(), as: 'plain', write: 'always', filter: 'equal' },
    config: {
      schema: Type.Object({}, { additionalProperties: true, description: 'as GET /notifications/types says' }),
      as: 'json',
      write: 'always',
      required: true,
    },
    secret: {
      schema: Type.String({ minLength: 1, maxLength: 1000, pattern: '^[\\x20-\\x7e]+$' }),
      as: 'secret',
      write: 'always',
    },
    quiet: { schema: Nullable(QuietSchema) as TSchema, as: 'json', write: 'always' },
    state: { schema: OneOf(['untested', 'ok', 'failed']), as: 'plain', write: 'never', filter: 'equal' },
    reason: { schema: Type.String({ description: 'why it failed, or waits' }), as: 'plain', write: 'never' },
    retry_at: { schema: Time, as: 'time', write: 'never' },
    created_by: { schema: Type.String(), as: 'plain', write: 'never' },
  },
  ask: async (call, values) => {
    const before = await storedChannel(call);
    const type = textOf(values['type'] ?? before?.type);
    const sender = senderOf(type);
    const config = checkConfig(type, values['config'] ?? before?.config);
    const secret = (values['secret'] as string | undefined) ?? null;
    if (before === null && sender.needsSecret && secret === null) throw unfit('/secret', 'is missing', sender.secret);
    sender.check?.(config, secret);
    if (values['quiet'] !== undefined && values['quiet'] !== null) checkQuiet(values['quiet'] as Quiet);
    const address = sender.address?.(config, secret) ?? null;
    if (address !== null) await checkAddress(call, address, address === secret ? '/secret' : '/config');
  },
  check: async (_, call, values, before) => {
    sealSecret(call, values, before);
    if (before === null) values['created_by'] = call.caller.actor.name;
    else if (values['config'] === undefined && values['secret'] === undefined && values['enabled'] !== true) return;
    Object.assign(values, { state: 'untested', reason: null, retry_at: null, failures: 0 });
  },
  beforeDelete: async (tx, _, row) => {
    const [used] = await tx<{ name: string }[]>`select name from vm_notice_routes where channel_id = ${row.id} limit 1`;
    if (used !== undefined)
      throw new ApiError(
        'conflict',
        `The route ${used.name} leads to it: delete the route first, or lead it elsewhere.`,
      );
  },
};

/** Throws 422 where the receiver changes and the secret would follow it there. */
function sealSecret({ host }: Call, values: Record<string, unknown>, before: Row | null): void {
  const type = textOf(values['type'] ?? before?.['type']);
  const config = (values['config'] ?? before?.['config']) as Config;
  const secret = values['secret'];
  const place = placeOfSecret(type, config);
  if (typeof secret === 'string') values['secret'] = host.secrets.seal(secret, place);
  else if (before !== null && before['secret'] !== null && place !== placeOfSecret(type, before['config'] as Config))
    throw unfit('/secret', 'is needed again: it was given for another receiver', 'give it with the new address');
}

const routes: Resource = {
  path: '/notifications/routes',
  noun: 'route',
  table: 'vm_notice_routes',
  ofOrganisation: 'Routes',
  view: 'view_health',
  edit: 'manage_notifications',
  visible: (sql, reach) => (isUnconfined(reach) ? sql`not of_webhook` : sql`false`),
  columns: {
    name: { schema: Name, as: 'plain', write: 'always', required: true, searched: true, sort: 'text' },
    channel_id: { schema: Type.String({ maxLength: 20 }), as: 'id', write: 'always', required: true, filter: 'equal' },
    events: {
      schema: Type.Array(OneOf(Object.keys(eventTypes) as (keyof typeof eventTypes)[]), {
        maxItems: 50,
        uniqueItems: true,
        description: 'types of events; empty: all',
      }),
      as: 'json',
      write: 'always',
      required: true,
    },
    predicate: { schema: Nullable(PredicateSchema) as TSchema, as: 'json', write: 'always' },
    digest_minutes: {
      schema: Type.Integer({ minimum: 0, maximum: 10_080, description: 'gathered for so long; 0: sent at once' }),
      as: 'plain',
      write: 'always',
    },
    cooldown_minutes: {
      schema: Type.Integer({ minimum: 0, maximum: 10_080, description: 'the same of one thing is silent for so long' }),
      as: 'plain',
      write: 'always',
    },
    template_id: {
      schema: Nullable(Type.String({ maxLength: 20, description: 'null: the default of notices' })) as TSchema,
      as: 'id',
      write: 'always',
    },
    enabled: { schema: Type.Boolean(), as: 'plain', write: 'always', filter: 'equal' },
    created_by: { schema: Type.String(), as: 'plain', write: 'never' },
  },
  check: async (tx, call, values, before) => {
    const template = values['template_id'];
    if (typeof template === 'string') await requireTemplate(tx, 'notice', template, '/template_id');
    if (values['predicate'] !== undefined && values['predicate'] !== null)
      checkPredicate(values['predicate'], eventFields);
    if (values['channel_id'] !== undefined) {
      const id = textOf(values['channel_id']);
      const found = /^\d{1,18}$/.test(id)
        ? await tx`select 1 from vm_channels where id = ${id} and type <> 'events'`
        : [];
      if (found.length === 0) throw unfit('/channel_id', 'is the id of no channel');
    }
    if (before === null) values['created_by'] = call.caller.actor.name;
  },
};

const types = endpoint({
  method: 'GET',
  path: '/notifications/types',
  permission: 'view_health',
  kind: 'A',
  summary: 'Kinds of channels: the JSON schema of `config` and what the secret is; the events that routes may name',
  answer: Type.Object({
    items: Type.Array(
      Type.Object({
        type: OneOf(channelTypes),
        title: Type.String(),
        secret: Type.String(),
        needs_secret: Type.Boolean(),
        config: Type.Unknown({ description: 'JSON schema' }),
      }),
    ),
    events: Type.Array(Type.Object({ type: Type.String(), about: Type.String() })),
    fields: Type.Array(Type.String(), { description: 'of predicates' }),
  }),
  handle: async () => ({
    items: channelTypes.map((type) => {
      const { title, secret, needsSecret, config } = senders[type];
      return { type, title, secret, needs_secret: needsSecret, config };
    }),
    events: Object.entries(eventTypes).map(([type, about]) => ({ type, about })),
    fields: Object.keys(eventFields),
  }),
});

const test = endpoint({
  method: 'POST',
  path: '/notifications/channels/:id/test',
  permission: 'manage_notifications',
  ofOrganisation: 'Channels',
  kind: 'B',
  summary: 'Send a test message now, also in quiet hours and through a channel that is switched off',
  answer: Type.Object({ ok: Type.Boolean(), detail: Type.String() }),
  handle: async (call) => {
    const { host, sql, now } = call;
    const channel = await storedChannel(call);
    if (channel === null) throw notFound('channel', '');
    let trouble: SendError | null = null;
    try {
      const brand = await brandNameOf(host);
      await sendTo(host, channel, testMessage(`gatehouse-test-${now.getTime()}`, brand, now.toISOString()));
    } catch (error) {
      if (!(error instanceof SendError)) throw error;
      trouble = error;
    }
    await call.audited(
      'vm.update',
      `tested the channel ${channel.id}: ${trouble === null ? 'it works' : 'it does not work'}`,
      async (tx) => {
        if (trouble === null)
          await tx`
            update vm_channels set state = 'ok', reason = null, retry_at = null, failures = 0
            where id = ${channel.id} and version = ${channel.version}`;
      },
    );
    if (trouble !== null && trouble.trouble !== 'later') await noteFailed(sql, channel, trouble.message);
    return { ok: trouble === null, detail: trouble?.message ?? 'The receiver took a test message.' };
  },
});

const deliveryStates = ['queued', 'sent', 'failed'] as const;
interface NoticeRow {
  readonly id: number;
  readonly route_id: number;
  readonly channel_id: number;
  readonly type: string;
  readonly entity: string;
  readonly entity_id: string;
  readonly event: NoticedEvent;
  readonly state: (typeof deliveryStates)[number];
  readonly attempts: number;
  readonly last_error: string | null;
  readonly not_before: Date;
  readonly created_at: Date;
  readonly sent_at: Date | null;
}

const DeliveryView = Type.Object({
  id: Type.String(),
  route_id: Type.String(),
  channel_id: Type.String(),
  type: Type.String(),
  entity: Type.String(),
  entity_id: Type.String(),
  title: Nullable(Type.String()),
  state: OneOf(deliveryStates),
  attempts: Type.Integer(),
  last_error: Nullable(Type.String()),
  not_before: Time,
  created_at: Time,
  sent_at: Nullable(Time),
});

const viewDelivery = (row: NoticeRow) => ({
  id: String(row.id),
  route_id: String(row.route_id),
  channel_id: String(row.channel_id),
  type: row.type,
  entity: row.entity,
  entity_id: row.entity_id,
  title: row.event.title,
  state: row.state,
  attempts: row.attempts,
  last_error: row.last_error,
  not_before: row.not_before.toISOString(),
  created_at: row.created_at.toISOString(),
  sent_at: row.sent_at?.toISOString() ?? null,
});

/** Deliveries of webhooks are in the same queue. */
const ofChannels = (sql: Queryable): Fragment => sql`channel_id in (select id from vm_channels where type <> 'events')`;

const deliveries = endpoint({
  method: 'GET',
  path: '/notifications/deliveries',
  permission: 'view_health',
  ofOrganisation: 'Notices',
  kind: 'A',
  summary: 'Notices of the last 30 days, the newest first: where each is, how often it was tried, what was said',
  query: Type.Object(
    {
      ...ListQuery,
      state: Type.Optional(OneOf(deliveryStates)),
      channel_id: Type.Optional(Type.String({ maxLength: 20, pattern: '^\\d{1,18}$' })),
    },
    closed,
  ),
  answer: List(DeliveryView),
  handle: async ({ sql, query }) => {
    const { state, channel_id: channel, ...wanted } = query;
    const where = allOf(sql, [
      ofChannels(sql),
      ...(state === undefined ? [] : [sql`state = ${state}`]),
      ...(channel === undefined ? [] : [sql`channel_id = ${channel}`]),
    ]);
    const sorts = { id: { column: 'id', type: 'number' } } as const;
    const page = await readPage<NoticeRow>(sql, { table: 'vm_notices', where, sorts, sort: '-id' }, wanted);
    return { ...page, items: page.items.map(viewDelivery) };
  },
});

const redeliver = endpoint({
  method: 'POST',
  path: '/notifications/deliveries/:id/redeliver',
  permission: 'manage_notifications',
  ofOrganisation: 'Notices',
  kind: 'B',
  summary: 'Put a notice that failed in the queue again; receivers see the same id',
  answer: DeliveryView,
  handle: async (call) => {
    const id = toId(call.params['id'] ?? '', 'notice');
    return call.audited('vm.update', `sends the notice ${id} again`, async (tx) => {
      const [row] = await tx<NoticeRow[]>`select * from vm_notices where id = ${id} and ${ofChannels(tx)} for update`;
      if (row === undefined) throw notFound('notice', id);
      if (row.state !== 'failed')
        throw new ApiError('conflict', row.state === 'sent' ? 'It was sent.' : 'It is in the queue already.');
      const [again] = await tx<NoticeRow[]>`
        update vm_notices set state = 'queued', attempts = 0, not_before = ${call.now} where id = ${id} returning *`;
      return viewDelivery(again ?? row);
    });
  },
});

/** What has names of its own stands before what has an id. */
export const notificationEndpoints: readonly Endpoint[] = [
  types,
  deliveries,
  redeliver,
  ...resourceEndpoints(channels),
  test,
  ...resourceEndpoints(routes),
];
