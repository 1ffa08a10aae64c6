// /assistant: a model of the operator's choice explains findings and sums them up. Off by default; it proposes, and
// nothing that it answers happens by itself.
import { ApiError, Nullable, OneOf, Time } from '#http-kit';
import { Type, type TObject } from '@sinclair/typebox';
import { requireWhole } from '../kit/caller.js';
import { endpoint, type Call, type Endpoint } from '../kit/endpoint.js';
import { List, ListQuery, readPage, SortQuery } from '../kit/list.js';
import { checkVersion } from '../kit/resource.js';
import { ask, asksPerHourMax, questionKinds, type Answer, type Question } from './ask.js';
import { gatherFinding, gatherSummary } from './gather.js';
import { readAssistant, redactions, whyNot, type AssistantRow, type ModelService } from './settings.js';
import { proposalKinds } from './told.js';

const closed = { additionalProperties: false } as const;
const Id = Type.String({ maxLength: 20 });
const managed = 'Settings and questions of the assistant';

const status = endpoint({
  method: 'GET',
  path: '/assistant/status',
  permission: 'self',
  kind: 'A',
  summary: 'Whether the assistant may be asked, and if not, why',
  answer: Type.Object({
    available: Type.Boolean(),
    reason: Nullable(Type.String()),
    may_ask: Type.Boolean({ description: 'you have `use_assistant` somewhere' }),
    enabled: Type.Boolean(),
    model: Type.String(),
    redaction: OneOf(redactions),
    asks_per_hour_max: Type.Integer(),
  }),
  handle: async ({ host, sql, caller }) => {
    const row = await readAssistant(sql);
    const reason = await whyNot(host, row);
    return {
      ...{ available: reason === null, reason, may_ask: caller.reach('use_assistant', false) !== null },
      ...{ enabled: row.enabled, model: (await host.model?.read())?.model ?? '', redaction: row.redaction },
      asks_per_hour_max: asksPerHourMax,
    };
  },
});

const Cited = Type.Object({ kind: Type.String(), id: Type.String(), title: Type.String() });
const answerOf = (members: Question['members']): TObject =>
  Type.Object({
    ok: Type.Boolean(),
    reason: Type.Optional(Type.String({ description: 'of an answer that is not ok' })),
    call_id: Nullable(Type.String({ description: 'of the log; null: nothing was sent' })),
    ...Object.fromEntries(
      Object.entries(members).map(([name, description]) => [name, Type.Optional(Type.String({ description }))]),
    ),
    citations: Type.Optional(Type.Array(Cited, { description: 'what was sent and the answer rests on' })),
    dropped: Type.Optional(Type.Integer({ description: 'ids that the answer named and that were not sent' })),
    proposals: Type.Optional(
      Type.Array(Type.Object({ kind: OneOf(proposalKinds), title: Type.String(), text: Type.String() }), {
        description: 'texts to read; nothing is done with them',
      }),
    ),
  });

const view = (answer: Answer) => {
  if (!answer.ok) return answer;
  const { texts, ...rest } = answer;
  return { ...rest, ...texts };
};

/** Rows that both permissions let through. Throws 403 for whoever may not read findings at all. */
function reachesOf({ caller, reach }: Call) {
  const findings = caller.reach('view_findings', false);
  if (findings === null) throw new ApiError('role_denied', 'This needs the permission view_findings.');
  return [reach, findings];
}

const explained: Question = {
  kind: 'explain_finding',
  task: 'Explain the finding to the owner of the application: what it is, what it means here, and how it is fixed.',
  members: {
    explanation: 'what it is, in a few sentences',
    impact: 'what it means for this application, by the data',
    remediation: 'how it is fixed, step by step',
  },
};

const explain = endpoint({
  method: 'POST',
  path: '/assistant/explain-finding',
  permission: 'use_assistant',
  kind: 'B',
  reads: true,
  summary: 'Have a finding explained, with a way to fix it; every question is written down with what was sent',
  body: Type.Object({ vuln_id: Id }, closed),
  answer: answerOf(explained.members),
  handle: async (given) => {
    const call = given as Call;
    return view(await ask(call, explained, await gatherFinding(call.sql, reachesOf(call), given.body.vuln_id)));
  },
});

const summed: Question = {
  kind: 'summarize',
  task:
    'Sum up how the applications stand, for those who decide what to do next. Where the data has a question, answer ' +
    'it from the data, or say that the data does not answer it.',
  members: { summary: 'how it stands, in a few sentences', next_steps: 'what to do first, and why' },
};

const summarize = endpoint({
  method: 'POST',
  path: '/assistant/summarize',
  permission: 'use_assistant',
  kind: 'B',
  reads: true,
  summary: 'Have the findings of an application, a project or all that you see summed up, or a question answered',
  body: Type.Object(
    {
      scope: Type.Optional(Type.Object({ application_id: Type.Optional(Id), project_id: Type.Optional(Id) }, closed)),
      question: Type.Optional(Type.String({ maxLength: 500 })),
    },
    { ...closed, examples: [{ question: 'What is overdue, and where does it weigh most?' }] },
  ),
  answer: answerOf(summed.members),
  handle: async (given) => {
    const call = given as Call;
    const { scope = {}, question = '' } = given.body;
    const gathered = await gatherSummary(call.sql, reachesOf(call), scope, call.now);
    return view(await ask(call, summed, gathered, question));
  },
});

const SettingsView = Type.Object({
  enabled: Type.Boolean(),
  redaction: OneOf(redactions),
  endpoint: Type.String(),
  model: Type.String(),
  has_key: Type.Boolean(),
  version: Type.Integer({ description: 'of the settings of the server' }),
  updated_by: Nullable(Type.String()),
  updated_at: Nullable(Time),
});

const viewSettings = (row: AssistantRow, { endpoint: url, model, has_key: hasKey, version }: ModelService) => ({
  ...{ enabled: row.enabled, redaction: row.redaction, endpoint: url, model, has_key: hasKey, version },
  ...{ updated_by: row.updated_by, updated_at: row.updated_at?.toISOString() ?? null },
});

function modelOf({ host }: Pick<Call, 'host'>) {
  if (host.model === undefined) throw new ApiError('not_ready', 'This server has no settings of a model.');
  return host.model;
}

const settings = endpoint({
  method: 'GET',
  path: '/assistant/settings',
  permission: 'manage_assistant',
  ofOrganisation: managed,
  kind: 'B',
  summary: 'The settings of the assistant, without the key',
  answer: SettingsView,
  handle: async (call) => {
    const service = await modelOf(call).read();
    call.reply.header('etag', `"${service.version}"`);
    return viewSettings(await readAssistant(call.sql), service);
  },
});

const change = endpoint({
  method: 'PUT',
  path: '/assistant/settings',
  permission: 'manage_assistant',
  ofOrganisation: managed,
  kind: 'B',
  summary: 'Switch the assistant on or off, name its model, and say how much it is sent; what is left out stays',
  body: Type.Object(
    {
      enabled: Type.Optional(Type.Boolean()),
      redaction: Type.Optional(
        OneOf(
          redactions,
          'secrets: masked secrets are all that is left out; names: names of applications, hosts, addresses, people ' +
            'and paths, too',
        ),
      ),
      endpoint: Type.Optional(
        Type.String({
          maxLength: 2000,
          pattern: '^(?:https?://[^\\s]+)?$',
          description: 'base address of a service that speaks the OpenAI chat protocol; empty: none',
        }),
      ),
      model: Type.Optional(Type.String({ maxLength: 200 })),
      key: Type.Optional(Nullable(Type.String({ minLength: 1, maxLength: 2000, description: 'null: none' }))),
    },
    { ...closed, minProperties: 1, examples: [{ redaction: 'names' }] },
  ),
  answer: SettingsView,
  handle: async (call) => {
    const model = modelOf(call);
    const { enabled, redaction, endpoint: url, model: name, key } = call.body;
    const match = call.request.headers['if-match'];
    const { version } = await model.read();
    checkVersion(match, version);
    const { person, actor } = call.caller;
    requireWhole(call.reach, managed);
    const of = {
      ...(url === undefined ? {} : { endpoint: url }),
      ...(name === undefined ? {} : { model: name }),
      ...(key === undefined ? {} : { key }),
    };
    // on a road of its own, which has its own transaction
    if (Object.keys(of).length > 0) await model.change(person, actor, of, match === undefined ? null : version);
    const row = await call.audited(
      'vm.update',
      'changed the settings of the assistant',
      async (tx) => {
        const [made] = await tx<AssistantRow[]>`
          update vm_assistant_settings set ${tx({
            ...(enabled === undefined ? {} : { enabled }),
            ...(redaction === undefined ? {} : { redaction }),
            ...{ updated_by: actor.name, updated_at: call.now },
          })} returning enabled, redaction, updated_by, updated_at`;
        if (made === undefined) throw new Error('the settings of the assistant are gone');
        return made;
      },
      () => ({ ...call.body, ...(key === undefined ? {} : { key: key === null ? null : 'set' }) }),
    );
    return viewSettings(row, await model.read());
  },
});

interface CallRow {
  readonly id: number;
  readonly created_at: Date;
}
const sorts = { created_at: { column: 'created_at', type: 'time' } } as const;

const calls = endpoint({
  method: 'GET',
  path: '/assistant/calls',
  permission: 'manage_assistant',
  ofOrganisation: managed,
  kind: 'A',
  summary: 'Every question of the last 90 days: who asked, what was sent, what came back',
  query: Type.Object({ ...ListQuery, sort: SortQuery(sorts), ok: Type.Optional(Type.Boolean()) }, closed),
  answer: List(
    Type.Object({
      id: Type.String(),
      kind: OneOf(questionKinds),
      about: Type.String(),
      asked_by: Type.String(),
      model: Type.String(),
      redaction: OneOf(redactions),
      sent: Type.String(),
      answered: Type.String(),
      ok: Nullable(Type.Boolean({ description: 'null: the model was still asked when the server ended' })),
      reason: Type.String(),
      took_ms: Nullable(Type.Integer()),
      created_at: Time,
    }),
  ),
  handle: async ({ sql, query }) => {
    const where = query.ok === undefined ? sql`true` : sql`ok = ${query.ok}`;
    const page = await readPage<CallRow>(
      sql,
      { table: 'vm_assistant_calls', where, sorts, sort: '-created_at' },
      query,
    );
    return {
      ...page,
      items: page.items.map((row) => {
        const { user_id: _user, sort_value: _sort, ...shown } = row as unknown as Record<string, unknown>;
        return { ...shown, id: String(row.id), created_at: row.created_at.toISOString() };
      }),
    };
  },
});

export const assistantEndpoints: readonly Endpoint[] = [status, explain, summarize, settings, change, calls];
