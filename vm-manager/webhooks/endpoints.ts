// /webhooks: events to programs of the operator's, one a delivery, signed, tried again. A webhook is a channel of the
// type events with one route; notifications/deliver.ts sends for both.
import { ApiError, Nullable, OneOf, Time } from '#http-kit';
import { Type, type Static, type TSchema } from '@sinclair/typebox';
import { randomBytes } from 'node:crypto';
import { Name } from '../assets/resources.js';
import { brandNameOf } from '../branding/current.js';
import { allOf, json, type Tx } from '../database.js';
import { isUnconfined } from '../kit/caller.js';
import { endpoint, notFound, toId, unfit, type Call, type Endpoint } from '../kit/endpoint.js';
import { eventTypes } from '../kit/events.js';
import { List, ListQuery, readPage } from '../kit/list.js';
import { checkReceiver, isHollowSecret } from '../kit/outgoing.js';
import { checkPredicate, PredicateSchema } from '../kit/predicate.js';
import { withMaskedUrl as masked } from '../kit/values/masked-address.js';
import {
  checkVersion,
  requireRow,
  resourceEndpoints,
  toView,
  viewSchema,
  type Resource,
  type Row,
} from '../kit/resource.js';
import { deliveryId, noteFailed, placeOfSecret, sendTo, type ChannelRow } from '../notifications/deliver.js';
import { testMessage, type NoticedEvent } from '../notifications/message.js';
import { eventFields } from '../notifications/routing.js';
import { SendError } from '../notifications/senders/sender.js';

const closed = { additionalProperties: false } as const;
const webhooksMax = 100;
const secretMin = 24;

const Url = Type.String({ maxLength: 500, pattern: '^https?://\\S+$', description: 'https, without credentials' });
const Events = Type.Array(OneOf(Object.keys(eventTypes) as (keyof typeof eventTypes)[]), {
  maxItems: 50,
  uniqueItems: true,
  description: 'types of events; empty: all',
});
const Predicate = Nullable(PredicateSchema) as TSchema;
const Secret = Type.String({
  minLength: secretMin,
  maxLength: 200,
  pattern: '^[\\x21-\\x7e]{24,200}$',
  description: 'of 24 characters or more, made by chance',
});

const webhooks: Resource = {
  path: '/webhooks',
  noun: 'webhook',
  table: 'vm_webhooks',
  view: 'view_health',
  edit: 'manage_webhooks',
  only: ['list', 'get'],
  masked,
  visible: (sql, reach) => (isUnconfined(reach) ? sql`true` : sql`false`),
  columns: {
    name: { schema: Name, as: 'plain', write: 'always', searched: true, sort: 'text' },
    url: { schema: Url, as: 'plain', write: 'always' },
    events: { schema: Events, as: 'json', write: 'always' },
    predicate: { schema: Predicate, as: 'json', write: 'always' },
    enabled: { schema: Type.Boolean(), as: 'plain', write: 'always', filter: 'equal' },
    state: { schema: OneOf(['untested', 'ok', 'failed']), as: 'plain', write: 'never', filter: 'equal' },
    reason: { schema: Type.String({ description: 'why it failed, or waits' }), as: 'plain', write: 'never' },
    retry_at: { schema: Time, as: 'time', write: 'never' },
    created_by: { schema: Type.String(), as: 'plain', write: 'never' },
  },
};

const View = viewSchema(webhooks);
const WithSecret = Type.Object({
  ...View.properties,
  secret: Nullable(Type.String({ description: 'one that was made here, this once; null: none was made' })),
});

const example = { url: 'https://hook.example.org/events', events: ['finding.created', 'gate.failed'] };
const Create = Type.Object(
  {
    url: Url,
    events: Events,
    name: Type.Optional(Name),
    predicate: Type.Optional(Predicate),
    enabled: Type.Optional(Type.Boolean()),
    secret: Type.Optional(Secret),
  },
  { ...closed, examples: [example] },
);
const Change = Type.Object(
  {
    url: Type.Optional(Url),
    events: Type.Optional(Events),
    name: Type.Optional(Name),
    predicate: Type.Optional(Predicate),
    enabled: Type.Optional(Type.Boolean()),
    secret: Type.Optional(Secret),
    new_secret: Type.Optional(Type.Boolean({ description: 'makes another one, shown in the answer' })),
  },
  { ...closed, minProperties: 1 },
);

async function checkUrl({ host: { wayOut } }: Call, url: string): Promise<void> {
  const parsed = URL.canParse(url) && !/[\s\\]/.test(url) ? new URL(url) : null;
  if (parsed === null || parsed.username !== '' || parsed.hash !== '')
    throw unfit('/url', 'is no address without credentials', 'write it as https://hook.example.org/path');
  if (wayOut === undefined) throw new ApiError('not_ready', 'This server sends nothing to other systems.');
  await checkReceiver(wayOut, url, '/url', 'is not encrypted');
}

/** Throws 422 for a secret of which no key can be made. */
function checkSecret(secret: string | undefined): void {
  if (secret !== undefined && isHollowSecret(secret))
    throw unfit('/secret', 'begins with whsec_ and has no key of 16 bytes or more in base64', 'let one be made');
}

const made = (): string => `whsec_${randomBytes(32).toString('base64')}`;

const sealed = (call: Call, secret: string, config: Readonly<Record<string, unknown>>): string =>
  call.host.secrets.seal(secret, placeOfSecret('events', config));

const create = endpoint({
  method: 'POST',
  path: '/webhooks',
  permission: 'manage_webhooks',
  ofOrganisation: 'Webhooks',
  kind: 'C',
  summary: 'Write a webhook; without `secret` one is made, and shown in this answer only',
  body: Create,
  status: 201,
  answer: WithSecret,
  handle: async (call) => {
    const { body, now } = call;
    const { url, events, predicate = null, enabled = true } = body;
    checkSecret(body.secret);
    if (predicate !== null) checkPredicate(predicate, eventFields);
    await checkUrl(call, url);
    const own = body.secret ?? made();
    const config = { url };
    const row = await call.audited(
      'vm.create',
      (one: Row) => `created the webhook ${one.id}`,
      async (tx) => {
        const [many] = await tx<{ n: number }[]>`select count(*)::int as n from vm_channels where type = 'events'`;
        if ((many?.n ?? 0) >= webhooksMax)
          throw new ApiError('conflict', `There are ${webhooksMax} webhooks, which is the most: delete one first.`);
        const name = body.name ?? new URL(url).host;
        const created_by = call.caller.actor.name;
        const times = { created_by, created_at: now, updated_at: now };
        const [channel] = await tx<{ id: number }[]>`
          insert into vm_channels ${tx({
            ...{ name, type: 'events', enabled, config: json(tx, config), secret: sealed(call, own, config) },
            ...times,
          } as never)} returning id`;
        await tx`
          insert into vm_notice_routes ${tx({
            ...{ name, channel_id: channel?.id, events: json(tx, events), of_webhook: true, ...times },
            predicate: predicate === null ? null : json(tx, predicate),
          } as never)}`;
        return requireRow(tx, webhooks, call.reach, String(channel?.id));
      },
      (one: Row) => masked(toView(webhooks, one)),
    );
    call.reply.header('etag', `"${row.version}"`);
    return { ...toView(webhooks, row), secret: body.secret === undefined ? own : null };
  },
});

/** The new key, and what stands in the table for it; null: the old one stays. Throws 422 where it may not follow. */
function keyOf(call: Call, given: Static<typeof Change>, before: ChannelRow): string | null {
  if (given.secret !== undefined && given.new_secret === true)
    throw unfit('/new_secret', 'does not go with secret', 'give one of both');
  checkSecret(given.secret);
  if (given.secret !== undefined) return given.secret;
  if (given.new_secret === true) return made();
  const config = { url: given.url ?? before.config['url'] };
  if (placeOfSecret('events', config) !== placeOfSecret('events', before.config))
    throw unfit('/secret', 'is needed again: it was made for another receiver', 'give it, or new_secret: true');
  return null;
}

const change = endpoint({
  method: 'PATCH',
  path: '/webhooks/:id',
  permission: 'manage_webhooks',
  ofOrganisation: 'Webhooks',
  kind: 'C',
  summary: 'Change a webhook (merge patch; If-Match with its version is heeded)',
  body: Change,
  answer: WithSecret,
  handle: async (call) => {
    const given = call.body;
    const id = toId(call.params['id'] ?? '', 'webhook');
    if (given.predicate !== undefined && given.predicate !== null) checkPredicate(given.predicate, eventFields);
    await requireRow(call.sql, webhooks, call.reach, id);
    if (given.url !== undefined) await checkUrl(call, given.url);
    let shown: string | null = null;
    const row = await call.audited(
      'vm.update',
      `changed the webhook ${id}`,
      async (tx) => {
        const before = await lockChannel(tx, id);
        checkVersion(call.request.headers['if-match'], before.version);
        const key = keyOf(call, given, before);
        shown = given.new_secret === true ? key : null;
        await store(tx, call, before, given, key);
        return requireRow(tx, webhooks, call.reach, id);
      },
      () => masked({ ...given, ...(given.secret === undefined ? {} : { secret: 'set' }) }),
    );
    call.reply.header('etag', `"${row.version}"`);
    return { ...toView(webhooks, row), secret: shown };
  },
});

async function lockChannel(tx: Tx, id: string): Promise<ChannelRow> {
  const [row] = await tx<ChannelRow[]>`
    select * from vm_channels where id = ${id} and type = 'events' for update`;
  if (row === undefined) throw notFound('webhook', id);
  return row;
}

async function store(
  tx: Tx,
  call: Call,
  before: ChannelRow,
  given: Static<typeof Change>,
  key: string | null,
): Promise<void> {
  const config = { url: given.url ?? before.config['url'] };
  const isNew = given.url !== undefined || key !== null || given.enabled === true;
  await tx`
    update vm_channels set ${tx({
      name: given.name ?? before.name,
      enabled: given.enabled ?? before.enabled,
      config: json(tx, config),
      secret: key === null ? before.secret : sealed(call, key, config),
      version: before.version + 1,
      updated_at: call.now,
      ...(isNew ? { state: 'untested', reason: null, retry_at: null, failures: 0 } : {}),
    } as never)} where id = ${before.id}`;
  if (given.events !== undefined)
    await tx`update vm_notice_routes set events = ${json(tx, given.events)} where channel_id = ${before.id}`;
  if (given.predicate !== undefined)
    await tx`
      update vm_notice_routes set predicate = ${given.predicate === null ? null : json(tx, given.predicate)}
      where channel_id = ${before.id}`;
}

const remove = endpoint({
  method: 'DELETE',
  path: '/webhooks/:id',
  permission: 'manage_webhooks',
  ofOrganisation: 'Webhooks',
  kind: 'C',
  summary: 'Delete a webhook with its deliveries',
  status: 204,
  handle: async (call) => {
    const id = toId(call.params['id'] ?? '', 'webhook');
    await call.audited('vm.delete', `deleted the webhook ${id}`, async (tx) => {
      const row = await lockChannel(tx, id);
      checkVersion(call.request.headers['if-match'], row.version);
      await tx`delete from vm_notice_routes where channel_id = ${row.id}`;
      await tx`delete from vm_channels where id = ${row.id}`;
    });
  },
});

const test = endpoint({
  method: 'POST',
  path: '/webhooks/:id/test',
  permission: 'manage_webhooks',
  ofOrganisation: 'Webhooks',
  kind: 'B',
  summary: 'Send a signed delivery of the type `test` now, also where the webhook is switched off',
  answer: Type.Object({ ok: Type.Boolean(), detail: Type.String() }),
  handle: async (call) => {
    const { host, sql, now } = call;
    const id = toId(call.params['id'] ?? '', 'webhook');
    const [channel] = await sql<ChannelRow[]>`select * from vm_channels where id = ${id} and type = 'events'`;
    if (channel === undefined) throw notFound('webhook', id);
    let trouble: SendError | null = null;
    try {
      const message = testMessage(`gatehouse-test-${now.getTime()}`, await brandNameOf(host), now.toISOString());
      await sendTo(host, channel, message);
    } catch (error) {
      if (!(error instanceof SendError)) throw error;
      trouble = error;
    }
    const said = trouble === null ? 'it works' : 'it does not work';
    await call.audited('vm.update', `tested the webhook ${id}: ${said}`, async (tx) => {
      if (trouble === null)
        await tx`
          update vm_channels set state = 'ok', reason = null, retry_at = null, failures = 0
          where id = ${id} and version = ${channel.version}`;
    });
    if (trouble !== null && trouble.trouble !== 'later') await noteFailed(sql, channel, trouble.message);
    return { ok: trouble === null, detail: trouble?.message ?? 'The receiver took a test delivery.' };
  },
});

const deliveryStates = ['queued', 'sent', 'failed'] as const;
interface DeliveryRow {
  readonly id: number;
  readonly channel_id: number;
  readonly event_id: string;
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
  webhook_id: Type.String(),
  delivery_id: Type.String({ description: 'the header `webhook-id`, the same in each attempt' }),
  event_id: Type.String({ description: 'of GET /events' }),
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

const viewDelivery = (row: DeliveryRow) => ({
  id: String(row.id),
  webhook_id: String(row.channel_id),
  delivery_id: deliveryId(row.id),
  event_id: row.event_id,
  ...{ type: row.type, entity: row.entity, entity_id: row.entity_id },
  title: row.event.title,
  state: row.state,
  attempts: row.attempts,
  last_error: row.last_error,
  not_before: row.not_before.toISOString(),
  ...{ created_at: row.created_at.toISOString(), sent_at: row.sent_at?.toISOString() ?? null },
});

const deliveries = endpoint({
  method: 'GET',
  path: '/webhooks/:id/deliveries',
  permission: 'view_health',
  ofOrganisation: 'Webhooks',
  kind: 'A',
  summary: 'Deliveries of the last 30 days, the newest first',
  query: Type.Object({ ...ListQuery, state: Type.Optional(OneOf(deliveryStates)) }, closed),
  answer: List(DeliveryView),
  handle: async ({ sql, reach, params, query }) => {
    const { id } = await requireRow(sql, webhooks, reach, params['id'] ?? '');
    const { state, ...wanted } = query;
    const where = allOf(sql, [sql`channel_id = ${id}`, ...(state === undefined ? [] : [sql`state = ${state}`])]);
    const sorts = { id: { column: 'id', type: 'number' } } as const;
    const page = await readPage<DeliveryRow>(sql, { table: 'vm_notices', where, sorts, sort: '-id' }, wanted);
    return { ...page, items: page.items.map(viewDelivery) };
  },
});

const redeliver = endpoint({
  method: 'POST',
  path: '/webhooks/deliveries/:id/redeliver',
  permission: 'manage_webhooks',
  ofOrganisation: 'Webhooks',
  kind: 'B',
  summary: 'Send a delivery again, also one that was taken: the same id and body, another timestamp and signature',
  answer: DeliveryView,
  handle: async (call) => {
    const id = toId(call.params['id'] ?? '', 'delivery');
    return call.audited('vm.update', `sends the delivery ${id} again`, async (tx) => {
      const [row] = await tx<(DeliveryRow & { readonly enabled: boolean })[]>`
        select n.*, c.enabled from vm_notices n join vm_channels c on c.id = n.channel_id
        where n.id = ${id} and c.type = 'events' for update of n`;
      if (row === undefined) throw notFound('delivery', id);
      if (row.state === 'queued') throw new ApiError('conflict', 'It is in the queue already.');
      if (!row.enabled) throw new ApiError('conflict', 'The webhook is switched off: switch it on first.');
      const [again] = await tx<DeliveryRow[]>`
        update vm_notices set state = 'queued', attempts = 0, not_before = ${call.now} where id = ${id} returning *`;
      return viewDelivery(again ?? row);
    });
  },
});

export const webhookEndpoints: readonly Endpoint[] = [
  ...resourceEndpoints(webhooks),
  create,
  change,
  remove,
  test,
  deliveries,
  redeliver,
];
