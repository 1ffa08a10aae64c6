// /integrations: issue trackers, what each needs to be told, and the tickets that were made of findings.
import { ApiError, OneOf, Time } from '#http-kit';
import { Type } from '@sinclair/typebox';
import { Name } from '../assets/resources.js';
import { allOf } from '../database.js';
import type { FindingRow } from '../findings/fields.js';
import { requireFinding } from '../findings/store.js';
import { isUnconfined } from '../kit/caller.js';
import { endpoint, unfit, type Call, type Endpoint } from '../kit/endpoint.js';
import { List, ListQuery, readPage } from '../kit/list.js';
import { requireRow, resourceEndpoints, type Resource, type Row } from '../kit/resource.js';
import { checkConfig, checkTarget, configSchema, connect, placeOfSecret, type IntegrationRow } from './config.js';
import { requireTemplate } from '../templates/stored.js';
import { placeholderNames } from './template.js';
import {
  askFor,
  ticketStates,
  TicketView,
  viewTickets,
  visibleTickets,
  type Given,
  type TicketRow,
} from './tickets.js';
import { TrackerError } from './trackers/ask.js';
import { trackers, trackerTypes } from './trackers/index.js';
import { noteFailed, workOnTicket } from './work.js';

const closed = { additionalProperties: false } as const;
/** An answer within this; what is not made by then is made by the job. */
const answerMs = 8000;

const integrations: Resource = {
  path: '/integrations',
  noun: 'integration',
  table: 'vm_integrations',
  ofOrganisation: 'Integrations',
  view: 'view_assets',
  edit: 'manage_integrations',
  // everybody who makes tickets has to know where to; what is secret in it is in no answer
  visible: (sql) => sql`true`,
  columns: {
    name: { schema: Name, as: 'plain', write: 'always', required: true, searched: true, sort: 'text' },
    type: { schema: OneOf(trackerTypes), as: 'plain', write: 'create', required: true, filter: 'equal' },
    enabled: { schema: Type.Boolean(), as: 'plain', write: 'always', filter: 'equal' },
    config: {
      schema: Type.Object({}, { additionalProperties: true, description: 'as GET /integrations/types says' }),
      as: 'json',
      write: 'always',
      required: true,
    },
    secret: {
      schema: Type.String({ minLength: 1, maxLength: 1000, pattern: '^[\\x20-\\x7e]+$' }),
      as: 'secret',
      write: 'always',
      required: true,
    },
    state: { schema: OneOf(['untested', 'ok', 'failed']), as: 'plain', write: 'never', filter: 'equal' },
    reason: { schema: Type.String({ description: 'why it failed, or waits' }), as: 'plain', write: 'never' },
    retry_at: { schema: Time, as: 'time', write: 'never' },
    created_by: { schema: Type.String(), as: 'plain', write: 'never' },
  },
  ask: async (call, values) => {
    const url = (values['config'] as { url?: unknown } | undefined)?.url;
    const type = values['type'] ?? (await typeOf(call));
    const config = values['config'] === undefined ? null : checkConfig(String(type), values['config']);
    if (config?.template_id !== undefined)
      await requireTemplate(call.sql, 'ticket', config.template_id, '/config/template_id');
    if (typeof url === 'string') await checkTarget(call.host, url);
  },
  check: async (_, call, values, before) => {
    sealSecret(call, values, before);
    if (before === null) values['created_by'] = call.caller.actor.name;
    else if (values['config'] === undefined && values['secret'] === undefined && values['enabled'] !== true) return;
    Object.assign(values, { state: 'untested', reason: null, retry_at: null, failures: 0 });
  },
  beforeDelete: async (tx, call, row) => {
    const [count] = await tx<{ n: number }[]>`
      select count(*)::int as n from vm_tickets where integration_id = ${row.id}`;
    if ((count?.n ?? 0) > 0)
      throw new ApiError(
        'conflict',
        `The integration has ${count?.n} tickets, which would no longer be known: switch it off (enabled: false).`,
      );
  },
};

async function typeOf({ sql, reach, params }: Call): Promise<unknown> {
  return (await requireRow(sql, integrations, reach, params['id'] ?? ''))['type'];
}

/** Throws 422 where the address leads to another origin and the secret would follow it there. */
function sealSecret({ host }: Call, values: Record<string, unknown>, before: Row | null): void {
  const type = String(values['type'] ?? before?.['type']);
  const config = (values['config'] ?? before?.['config']) as IntegrationRow['config'];
  const place = placeOfSecret(type, config.url);
  const secret = values['secret'];
  if (typeof secret === 'string') {
    if (type === 'webhook' && secret.length < 24)
      throw unfit('/secret', 'is too short to sign with', 'give 24 characters or more, made by chance');
    values['secret'] = host.secrets.seal(secret, place);
    return;
  }
  const had = (before?.['config'] as IntegrationRow['config'] | undefined)?.url ?? config.url;
  if (place !== placeOfSecret(type, had))
    throw unfit(
      '/secret',
      `is needed again: it was given for ${new URL(had).origin} and is sent nowhere else`,
      'give it together with the new address',
    );
}

const types = endpoint({
  method: 'GET',
  path: '/integrations/types',
  permission: 'view_assets',
  kind: 'A',
  summary: 'Kinds of trackers: the JSON schema of `config`, what the secret is, and the placeholders of templates',
  answer: Type.Object({
    items: Type.Array(
      Type.Object({
        type: OneOf(trackerTypes),
        title: Type.String(),
        secret: Type.String({ description: 'what the secret is, in words' }),
        reads: Type.Boolean({ description: 'whether states and comments come back' }),
        config: Type.Unknown({ description: 'JSON schema' }),
      }),
    ),
    placeholders: Type.Array(Type.String()),
  }),
  handle: async () => ({
    items: trackerTypes.map((type) => {
      const { title, secret, reads } = trackers[type];
      return { type, title, secret, reads, config: configSchema(type) };
    }),
    placeholders: placeholderNames,
  }),
});

const test = endpoint({
  method: 'POST',
  path: '/integrations/:id/test',
  permission: 'manage_integrations',
  ofOrganisation: 'Integrations',
  kind: 'B',
  summary: 'Ask the tracker now: whether it answers, knows the account, and has what tickets are made in',
  answer: Type.Object({ ok: Type.Boolean(), latency_ms: Type.Integer(), detail: Type.String() }),
  handle: async (call) => {
    const { host, sql, reach, params } = call;
    const row = (await requireRow(sql, integrations, reach, params['id'] ?? '')) as unknown as IntegrationRow;
    const start = performance.now();
    let trouble: TrackerError | null = null;
    let detail = '';
    try {
      detail = await connect(host, row).test();
    } catch (error) {
      trouble = error instanceof TrackerError ? error : null;
      if (trouble === null) throw error;
      detail = trouble.message;
    }
    const latency = Math.round(performance.now() - start);
    await call.audited(
      'vm.update',
      `tested the integration ${row.id}: ${trouble === null ? 'it works' : 'it does not work'}`,
      async (tx) => {
        if (trouble === null)
          await tx`
            update vm_integrations set state = 'ok', reason = null, retry_at = null, failures = 0
            where id = ${row.id} and version = ${row.version}`;
        else if (trouble.trouble === 'later')
          await tx`update vm_integrations set reason = ${detail} where id = ${row.id} and state <> 'failed'`;
        else await noteFailed(tx, host, row, detail);
      },
      () => ({ detail }),
    );
    return { ok: trouble === null, latency_ms: latency, detail };
  },
});

const issuesMax = 200;

const issues = endpoint({
  method: 'POST',
  path: '/integrations/:id/issues',
  permission: 'triage_findings',
  kind: 'B',
  summary: 'Tickets for findings, one each or one for all; asking again gives the same. What waits is made later',
  body: Type.Object(
    {
      vuln_ids: Type.Array(Type.String({ maxLength: 20 }), { minItems: 1, maxItems: issuesMax, uniqueItems: true }),
      grouped: Type.Optional(Type.Boolean({ description: 'one ticket for all that have none yet' })),
      key: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 100,
          description: 'of a ticket that is there, which they are linked to',
        }),
      ),
    },
    closed,
  ),
  status: 202,
  answer: Type.Object({
    items: Type.Array(
      Type.Object({
        vuln_id: Type.String(),
        created: Type.Boolean({ description: 'it had no ticket with this integration before' }),
        ticket: TicketView,
      }),
    ),
  }),
  handle: async (call) => {
    const { sql, reach, now, body } = call;
    if (body.key !== undefined && !isUnconfined(reach))
      throw new ApiError('role_denied', 'A ticket may tell of other applications; your grant does not reach them all.');
    const row = (await requireRow(sql, integrations, reach, call.params['id'] ?? '')) as unknown as IntegrationRow;
    if (!row.enabled) throw new ApiError('conflict', `The integration ${row.name} is switched off.`);
    if (body.key !== undefined && !trackers[row.type as keyof typeof trackers].reads)
      throw unfit('/key', 'cannot be looked up: nothing is read from a webhook', 'leave it out');
    const given = await call.audited(
      'vm.create',
      (made: Given[]) => `asked ${row.name} for tickets of ${made.length} findings`,
      async (tx) => {
        const findings: FindingRow[] = [];
        for (const id of [...body.vuln_ids].sort((a, b) => Number(a) - Number(b)))
          findings.push(await requireFinding(tx, reach, id, true));
        const ordered = body.vuln_ids.flatMap((id) => findings.filter((one) => String(one.id) === id));
        const by = call.caller.actor.name;
        return askFor(tx, row, ordered, { grouped: body.grouped ?? false, key: body.key ?? null, by }, now);
      },
      () => ({ ...body, integration_id: String(row.id) }),
    );
    await makeSome(call, row.id, [...new Set(given.map(({ ticket }) => ticket))]);
    // one that was linked to a ticket which another row has is now in that row
    const rows = await sql<(TicketRow & { finding_id: number })[]>`
      select t.*, l.finding_id from vm_ticket_findings l join vm_tickets t on t.id = l.ticket_id
      where l.integration_id = ${row.id} and l.finding_id in ${sql(given.map(({ finding }) => finding))}`;
    const views = await viewTickets(sql, rows, reach, now);
    return {
      items: given.flatMap(({ finding, isNew }) => {
        const at = rows.findIndex(({ finding_id: id }) => id === finding);
        return at < 0 ? [] : [{ vuln_id: String(finding), created: isNew, ticket: views[at] }];
      }),
    };
  },
});

/** Those that are queued, as long as an answer may take; the job does the rest. */
async function makeSome({ host, sql }: Call, integration: number, tickets: readonly number[]): Promise<void> {
  const queued = await sql<{ id: number }[]>`
    select id from vm_tickets where id in ${sql(tickets)} and state = 'queued' order by id`;
  const endMs = performance.now() + answerMs;
  for (const { id } of queued) {
    if (performance.now() > endMs) return;
    const [row] = await sql<IntegrationRow[]>`
      select * from vm_integrations where id = ${integration} and enabled and state <> 'failed'
        and (retry_at is null or retry_at <= ${new Date(host.now())})`;
    if (row === undefined || !(await workOnTicket(host, row, id))) return;
  }
}

const Id = Type.String({ maxLength: 20 });
const isId = (text: string): boolean => /^\d{1,18}$/.test(text);

const tickets = endpoint({
  method: 'GET',
  path: '/integrations/tickets',
  permission: 'view_findings',
  kind: 'A',
  summary: 'Tickets of an integration or a finding, the newest first: where they are, how they stand, what was tried',
  query: Type.Object(
    {
      ...ListQuery,
      integration_id: Type.Optional(Id),
      vuln_id: Type.Optional(Id),
      state: Type.Optional(OneOf(ticketStates)),
    },
    closed,
  ),
  answer: List(TicketView),
  handle: async ({ sql, reach, query, now }) => {
    const { integration_id: integration, vuln_id: finding, state } = query;
    const where = allOf(sql, [
      visibleTickets(sql, reach),
      ...(integration === undefined ? [] : [isId(integration) ? sql`integration_id = ${integration}` : sql`false`]),
      ...(finding === undefined
        ? []
        : isId(finding)
          ? [sql`id in (select ticket_id from vm_ticket_findings where finding_id = ${finding})`]
          : [sql`false`]),
      ...(state === undefined ? [] : [sql`state = ${state}`]),
    ]);
    const sorts = { id: { column: 'id', type: 'number' } } as const;
    const page = await readPage<TicketRow>(sql, { table: 'vm_tickets', where, sorts, sort: '-id' }, query);
    return { ...page, items: await viewTickets(sql, page.items, reach, now) };
  },
});

/** What has names of its own stands before what has an id. */
export const integrationEndpoints: readonly Endpoint[] = [
  types,
  tickets,
  ...resourceEndpoints(integrations),
  test,
  issues,
];
