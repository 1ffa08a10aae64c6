// /scm: hosts of repositories tell what was pushed, signed; the gate says what it thinks of it.
import { ApiError, Nullable, OneOf, Time } from '#http-kit';
import { Type } from '@sinclair/typebox';
import { createHash } from 'node:crypto';
import { Name, requireApplication, visibleByApplication } from '../assets/resources.js';
import { allOf, type Tx } from '../database.js';
import type { Json } from '../imports/normalize.js';
import { endpoint, unfit, type Call, type Endpoint } from '../kit/endpoint.js';
import { List, ListQuery, readPage } from '../kit/list.js';
import { resourceEndpoints, type Resource } from '../kit/resource.js';
import { insertRun, type Run } from '../kit/runs.js';
import { rawBodyOf } from '../kit/upload/raw-body.js';
import { judge } from './judge.js';
import { isHollowToken, providerNames, providers, type Provider, type Pushed } from './providers.js';

const closed = { additionalProperties: false } as const;
/** Of a delivery; a push of a thousand commits has about one megabyte. */
export const deliveryBytesMax = 5 * 1024 * 1024;
/** From one address; hosts of repositories send from few. */
const perMinute = 300;

const placeOf = (provider: string, repository: string): string => `vm_scm_hooks:/${provider}/${repository}`;

const hooks: Resource = {
  path: '/scm/hooks',
  noun: 'webhook',
  table: 'vm_scm_hooks',
  view: 'view_gates',
  edit: 'manage_gates',
  visible: visibleByApplication('vm_scm_hooks'),
  columns: {
    name: { schema: Name, as: 'plain', write: 'always', required: true, searched: true, sort: 'text' },
    provider: { schema: OneOf(providerNames), as: 'plain', write: 'create', required: true, filter: 'equal' },
    repository: {
      schema: Type.String({ maxLength: 300, pattern: '^[^\\s/]+(/[^\\s/]+)+$', description: 'owner/name' }),
      as: 'plain',
      write: 'create',
      required: true,
      filter: 'equal',
    },
    application_id: { schema: Type.String({ maxLength: 20 }), as: 'id', write: 'create', required: true },
    secret: {
      schema: Type.String({ minLength: 16, maxLength: 200, pattern: '^[\\x21-\\x7e]+$' }),
      as: 'secret',
      write: 'always',
      required: true,
    },
    enabled: { schema: Type.Boolean(), as: 'plain', write: 'always', filter: 'equal' },
  },
  check: async (tx, call, values, before) => {
    const given = values as { provider?: string; repository?: string; application_id?: string; secret?: string };
    if (given.application_id !== undefined) await requireApplication(tx, call.reach, given.application_id);
    if (given.repository !== undefined) values['repository'] = given.repository.toLowerCase();
    if (given.secret === undefined) return;
    if (isHollowToken(given.secret))
      throw unfit(
        '/secret',
        'begins with whsec_ and has no key of 16 bytes or more in base64',
        'copy it as GitLab shows it',
      );
    const provider = given.provider ?? String(before?.['provider']);
    const repository = String(values['repository'] ?? before?.['repository']);
    values['secret'] = call.host.secrets.seal(given.secret, placeOf(provider, repository));
  },
};

interface HookRow {
  readonly id: number;
  readonly provider: string;
  readonly repository: string;
  readonly application_id: number;
  readonly secret: string;
}

const refused = (): ApiError =>
  new ApiError('bad_credentials', 'No webhook of this repository is set up here with what this delivery is signed by.');

/** The hook whose secret signed the body. Throws one 401 for every other, in about one time. */
async function requireSigned(call: Call, provider: Provider, name: string, raw: Buffer): Promise<HookRow> {
  const repository = provider.repository((call.body ?? {}) as Json);
  const [hook] = await call.sql<HookRow[]>`
    select * from vm_scm_hooks where provider = ${name} and repository = ${repository} and enabled`;
  const secret =
    hook === undefined ? 'no secret at all' : call.host.secrets.open(hook.secret, placeOf(name, repository));
  const isSigned = provider.isSigned(call.request.headers, raw, secret, call.now);
  if (hook === undefined || !isSigned) throw refused();
  return hook;
}

interface Delivery {
  readonly name: string;
  readonly event: string;
  readonly digest: string;
  readonly pushed: Pushed | null;
}

/** Notes the delivery, and a run for what it brings. Null: it was here before. */
async function note(tx: Tx, call: Call, hook: HookRow, delivery: Delivery): Promise<{ run: Run | null } | null> {
  const { pushed } = delivery;
  const [made] = await tx<{ id: number }[]>`
    insert into vm_scm_deliveries (hook_id, delivery, body_sha256, event, commit, branch, at)
    values (${hook.id}, ${delivery.name}, ${delivery.digest}, ${delivery.event}, ${pushed?.commit ?? null},
      ${pushed?.branch ?? null}, ${call.now})
    on conflict do nothing returning id`;
  if (made === undefined) return null;
  if (pushed === null) return { run: null };
  const createdBy = `webhook ${hook.provider} ${hook.repository}`;
  const input = { ...pushed, provider: hook.provider, repository: hook.repository, event: delivery.event };
  const run = await insertRun(tx, { kind: 'scm', applicationId: hook.application_id, input, createdBy }, call.now);
  await tx`update vm_scm_deliveries set run_id = ${run.id} where id = ${made.id}`;
  await call.host.audit.record(tx, {
    actor: { id: null, name: createdBy, role: 'none', sourceIp: call.request.ip },
    action: 'vm.gate',
    summary: `${createdBy} reported ${pushed.commit} on ${pushed.branch} (run ${run.id})`,
    details: input,
  });
  return { run };
}

const Answer = Type.Object({
  status: OneOf(['accepted', 'ignored', 'duplicate']),
  run_id: Nullable(Type.String()),
  verdict: Nullable(Type.String({ description: 'null: the reports of the commit are awaited' })),
});

const webhook = endpoint({
  method: 'POST',
  path: '/scm/webhook/:provider',
  permission: 'public',
  kind: 'B',
  summary: `A push or a proposed change, signed (${providerNames.join(', ')}): the gate judges the commit`,
  raw: { bytesMax: deliveryBytesMax },
  config: () => ({ rateLimit: { max: perMinute, timeWindow: 60_000 } }),
  body: Type.Object({}, { additionalProperties: true }),
  status: 202,
  answer: Answer,
  handle: async (given) => {
    const call = given as Call;
    const name = call.params['provider'] ?? '';
    const provider = Object.hasOwn(providers, name) ? providers[name] : undefined;
    if (provider === undefined)
      throw new ApiError('not_found', `There is no provider ${name.slice(0, 40)}: ${providerNames.join(', ')}.`);
    const raw = rawBodyOf(call.request);
    const hook = await requireSigned(call, provider, name, raw);
    const { headers } = call.request;
    const delivery: Delivery = {
      name: provider.delivery(headers),
      event: provider.event(headers).slice(0, 100),
      digest: createHash('sha256').update(raw).digest('hex'),
      pushed: provider.pushed(provider.event(headers), call.body as Json),
    };
    if (delivery.name === '' || delivery.name.length > 200) throw unfit('delivery', 'has no name in its headers');
    const noted = await call.sql.begin((tx) => note(tx, call, hook, delivery));
    if (noted === null) return answerDuplicate(call, hook, delivery);
    if (noted.run === null) return { status: 'ignored', run_id: null, verdict: null };
    const run = await judge(call.host, noted.run, call.now);
    return { status: 'accepted', run_id: String(run.id), verdict: verdictIn(run) };
  },
});

const verdictIn = ({ result }: Pick<Run, 'result'>): string | null =>
  typeof result['verdict'] === 'string' ? result['verdict'] : null;

async function answerDuplicate({ sql }: Call, hook: HookRow, { name, digest }: Delivery) {
  const [run] = await sql<Pick<Run, 'id' | 'result'>[]>`
    select r.id, r.result from vm_scm_deliveries d join vm_runs r on r.id = d.run_id
    where d.hook_id = ${hook.id} and (d.delivery = ${name} or d.body_sha256 = ${digest}) order by d.id limit 1`;
  return {
    status: 'duplicate',
    run_id: run === undefined ? null : String(run.id),
    verdict: run === undefined ? null : verdictIn(run),
  };
}

const DeliveryView = Type.Object({
  id: Type.String(),
  hook_id: Type.String(),
  delivery: Type.String(),
  event: Type.String(),
  commit: Nullable(Type.String()),
  branch: Nullable(Type.String()),
  run_id: Nullable(Type.String()),
  at: Time,
});

interface DeliveryRow {
  readonly id: number;
  readonly hook_id: number;
  readonly delivery: string;
  readonly event: string;
  readonly commit: string | null;
  readonly branch: string | null;
  readonly run_id: number | null;
  readonly at: Date;
}

const deliveries = endpoint({
  method: 'GET',
  path: '/scm/webhook/deliveries',
  permission: 'view_gates',
  kind: 'A',
  summary: 'What came and was signed, newest first; three months of it',
  query: Type.Object({ ...ListQuery, hook_id: Type.Optional(Type.String({ maxLength: 20 })) }, closed),
  answer: List(DeliveryView),
  handle: async ({ sql, reach, query }) => {
    const id = query.hook_id;
    const where = allOf(sql, [
      sql`exists (select 1 from vm_scm_hooks where vm_scm_hooks.id = hook_id and ${hooks.visible(sql, reach)})`,
      id === undefined ? sql`true` : /^\d{1,18}$/.test(id) ? sql`hook_id = ${id}` : sql`false`,
    ]);
    const sorts = { id: { column: 'id', type: 'number' } } as const;
    const page = await readPage<DeliveryRow>(sql, { table: 'vm_scm_deliveries', where, sorts, sort: '-id' }, query);
    return {
      ...page,
      items: page.items.map((row) => ({
        ...row,
        id: String(row.id),
        hook_id: String(row.hook_id),
        run_id: row.run_id === null ? null : String(row.run_id),
        at: row.at.toISOString(),
      })),
    };
  },
});

export const scmEndpoints: readonly Endpoint[] = [webhook, deliveries, ...resourceEndpoints(hooks)];
