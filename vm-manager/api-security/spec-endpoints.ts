// /api-security/specs: kept in the data plane's store beside those that are in force, read and looked at from here.
import { Nullable, Time } from '#http-kit';
import { Type } from '@sinclair/typebox';
import { requireApplication } from '../assets/resources.js';
import { endpoint, notFound, toId, unfit, type Call, type Endpoint } from '../kit/endpoint.js';
import { requireWhole } from '../kit/caller.js';
import { List } from '../kit/list.js';
import type { StoredSpecification } from '../apis/port.js';
import { requireApis } from './known-apis.js';
import { ConfirmClose, keepAsFindings, type Kept } from './keep.js';
import { placeOf } from '../assets/site.js';
import { placesOf, siteOfApplication, sitesWithin } from './operations.js';
import { GapView } from './posture.js';
import { keptMax, recordsOf } from './records.js';

const closed = { additionalProperties: false } as const;
const Id = Type.String({ maxLength: 20 });
/** Reading one takes as long as it is long; larger ones go through POST /api/spec. */
const textMax = 1024 * 1024;
const shownMax = 1000;

const SpecView = Type.Object({
  id: Type.String(),
  site: Type.String(),
  applications: Type.Array(Type.Object({ id: Type.String(), name: Type.String() })),
  name: Type.String(),
  version: Type.Integer(),
  title: Type.String(),
  openapi: Type.String(),
  operations: Type.Integer(),
  in_force: Type.Boolean({ description: 'the data plane holds traffic to it: see Specifications' }),
  author: Type.String(),
  at: Time,
});

const view = (one: StoredSpecification, of: readonly { readonly id: number; readonly name: string }[]) => ({
  ...{ id: String(one.id), site: one.site, name: one.name, version: one.version, title: one.title },
  applications: of.map(({ id, name }) => ({ id: String(id), name })),
  ...{ openapi: one.openapi, operations: one.operations, in_force: one.isInForce, author: one.author },
  at: one.at.toISOString(),
});

const add = endpoint({
  method: 'POST',
  path: '/api-security/specs',
  permission: 'edit_api_security',
  kind: 'I',
  summary: 'Add an OpenAPI document (3.0, 3.1, Swagger 2.0; JSON or YAML) of an application; nothing is enforced by it',
  raw: { bytesMax: textMax * 2 },
  body: Type.Object(
    {
      application_id: Id,
      name: Type.Optional(
        Type.String({
          pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$',
          description: 'an application may have several; default',
        }),
      ),
      text: Type.String({
        minLength: 1,
        maxLength: textMax,
        description: 'the document; nothing it refers to is fetched',
      }),
    },
    {
      ...closed,
      examples: [
        {
          application_id: '1',
          text:
            'openapi: 3.1.0\ninfo: {title: Shop, version: "1"}\n' +
            'paths:\n  /orders:\n    get: {responses: {"200": {description: ok}}}\n',
        },
      ],
    },
  ),
  status: 201,
  answer: Type.Intersect([SpecView, Type.Object({ created: Type.Boolean() })]),
  handle: async (call) => {
    const apis = requireApis(call.host);
    const { application_id: wanted, name = 'default', text } = call.body;
    const { id, name: applicationName } = await requireApplication(call.sql, call.reach, wanted);
    const site = await siteOfApplication(call.sql, call.reach, id);
    const read = await apis.specifications.read(text, site);
    const given = { site, name, read, author: call.caller.actor.name };
    // the same text again makes no version, and no entry of the audit log
    const same = await apis.specifications.newestSame(given);
    if (same !== null) return { ...view(same, [{ id, name: applicationName }]), created: false };
    const { specification, created } = await call.audited(
      'vm.create',
      (made: Awaited<ReturnType<typeof apis.specifications.keep>>) =>
        // somebody may have sent the same text in between
        `${made.created ? 'added' : 'sent again'} version ${made.specification.version} of the specification ${name} ` +
        `of ${applicationName}`,
      async (tx) => apis.specifications.keep(tx, given),
      ({ specification: { id: made, operations } }) => ({ site, specification_id: String(made), operations }),
    );
    return { ...view(specification, [{ id, name: applicationName }]), created };
  },
});

const list = endpoint({
  method: 'GET',
  path: '/api-security/specs',
  permission: 'view_api_security',
  kind: 'C',
  summary: 'Specifications of applications, every version, the newest of a name first',
  query: Type.Object(
    {
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, default: 50 })),
      offset: Type.Optional(Type.Integer({ minimum: 0, maximum: 10_000, default: 0 })),
      cursor: Type.Optional(Type.String({ pattern: '^\\d{1,5}$', description: '`next_cursor` of the page before' })),
      application_id: Type.Optional(Id),
    },
    closed,
  ),
  answer: List(SpecView),
  handle: async (call) => {
    const apis = requireApis(call.host);
    const { limit = 50, cursor, application_id: application } = call.query;
    const offset = cursor === undefined ? (call.query.offset ?? 0) : Number(cursor);
    if (application !== undefined) await requireApplication(call.sql, call.reach, application);
    const sites = placesOf(await sitesWithin(call.sql, call.reach, apis, application));
    const { items, total } = await apis.specifications.list([...sites.keys()], { limit, offset });
    return {
      items: items.map((one) => view(one, sites.get(one.site) ?? [])),
      ...{ total, total_is_estimate: false, limit, offset },
      next_cursor: offset + limit < total ? String(offset + limit) : null,
    };
  },
});

/** Throws 404 for one of a site that the caller does not reach. */
async function requireSpecification(call: Call) {
  const apis = requireApis(call.host);
  const id = toId(call.params['id'] ?? '', 'specification');
  const found = Number.isSafeInteger(Number(id)) ? await apis.specifications.find(Number(id)) : null;
  const sites = placesOf(await sitesWithin(call.sql, call.reach, apis));
  if (found === null || !sites.has(found.site)) throw notFound('specification', id);
  return { specification: found, applications: sites.get(found.site) ?? [] };
}

const lint = endpoint({
  method: 'POST',
  path: '/api-security/specs/:id/lint',
  permission: 'view_api_security',
  reads: true,
  kind: 'R',
  summary: 'Look at what a specification says of security; with keep its gaps become findings of an application',
  body: Type.Object(
    {
      keep: Type.Optional(Type.Boolean({ description: 'needs the permission edit_api_security, too' })),
      application_id: Type.Optional(
        Type.String({ maxLength: 20, description: 'which one, where several go through the site' }),
      ),
      confirm_close: ConfirmClose,
    },
    { ...closed, examples: [{ keep: false }] },
  ),
  answer: Type.Object({
    specification_id: Type.String(),
    high: Type.Integer(),
    medium: Type.Integer(),
    low: Type.Integer(),
    gaps: Type.Array(GapView),
    more: Type.Integer({ description: 'gaps beyond the first thousand, the gravest first' }),
    kept: Nullable(Type.Object({ import_id: Type.String(), report: Type.Unknown() })),
  }),
  handle: async (call) => {
    const { specification, applications } = await requireSpecification(call);
    const { keep = false, application_id: given, confirm_close: isCloseConfirmed = false } = call.body;
    const application = keep ? (given ?? onlyOf(applications)) : null;
    const found = await requireApis(call.host).specifications.lint(specification.id, keep ? keptMax : shownMax);
    const { high, medium, low, total, gaps } = found;
    // what did not come along may be what seems gone
    const terms = { gaps, isWhole: gaps.length === total, isCloseConfirmed };
    return {
      specification_id: String(specification.id),
      ...{ high, medium, low },
      gaps: gaps.slice(0, shownMax),
      more: Math.max(0, total - shownMax),
      kept: application === null ? null : await keepGaps(call, specification, terms, application),
    };
  },
});

function onlyOf(applications: readonly { readonly id: number }[]): string {
  const [only, another] = applications;
  if (only !== undefined && another === undefined) return String(only.id);
  const what =
    only === undefined ? 'is missing: no application goes through the site' : 'is missing: there are several';
  throw unfit('/application_id', what, 'name the application that the findings are of');
}

async function keepGaps(
  call: Call,
  { site, name }: StoredSpecification,
  { gaps, ...terms }: { gaps: Parameters<typeof recordsOf>[1] } & Pick<Kept, 'isWhole' | 'isCloseConfirmed'>,
  application: string,
) {
  const reach = call.caller.reach('edit_api_security', true);
  if (reach === null) return requireWhole(reach, 'Findings of specifications') as never;
  const { id } = await requireApplication(call.sql, reach, application);
  if (site !== placeOf(id) && site !== (await siteOfApplication(call.sql, reach, id)))
    throw unfit('/application_id', 'names an application that does not go through the site of the specification');
  return keepAsFindings(
    { ...call, reach, audited: call.audited },
    {
      ...{ applicationId: id, tool: 'gatehouse-api-lint', label: 'Specifications of APIs' },
      ...{ scopeKey: `specification:${name}`, records: await recordsOf(site, gaps, 'document'), ...terms },
      summary: `imported what the specification ${name} of ${site} says`,
    },
  );
}

export const specificationEndpoints: readonly Endpoint[] = [add, list, lint];
