// Endpoints become routes here, each with the same steps: who asks, what they may reach, the function, the answer.
import { ApiError, type AccessRows, type App, type RouteAccess } from '#http-kit';
import type { FastifyReply, FastifyRequest, preParsingAsyncHookHandler } from 'fastify';
import type { Host } from '../host.js';
import { identify, requireWhole, type Caller, type Reach } from './caller.js';
import { writes, type Call, type Endpoint } from './endpoint.js';
import { splitCommas } from './comma-list.js';
import { areOfAuthor } from './permissions.js';
import { answerRefusal } from './refuse.js';
import { noteWrite, replicaFor } from './replicas/replica.js';
import { keepRawBody } from './upload/raw-body.js';

export const base = '/api/v1';

const admittedHere: RouteAccess = { kind: 'feature' };
const open: RouteAccess = { kind: 'public' };

/** One row for each endpoint: whose permission counts is this room's own table. */
export const accessOf = (endpoints: readonly Endpoint[]): AccessRows =>
  Object.fromEntries(
    endpoints.map(({ method, path, permission }) => [
      `${method} ${base}${path}`,
      permission === 'public' ? open : admittedHere,
    ]),
  );

const callers = new WeakMap<FastifyRequest, Admitted>();

export function mount(app: App, endpoints: readonly Endpoint[], host: Host): void {
  for (const row of endpoints) {
    app.route({
      method: row.method,
      url: `${base}${row.path}`,
      errorHandler: answerRefusal,
      ...(row.upload === undefined ? {} : { bodyLimit: row.upload.bytesMax }),
      ...(row.raw === undefined ? {} : { bodyLimit: row.raw.bytesMax, preParsing: keepRawBody(row.raw.bytesMax) }),
      ...(row.body === undefined || row.upload === undefined ? {} : { preParsing: jsonBounds }),
      config: { isUpload: row.upload !== undefined, ...row.config?.(host) },
      // the document of this API is kit/docs/openapi.ts, made of the same rows
      schema: {
        hide: true,
        ...(row.upload !== undefined ? {} : { querystring: row.query ?? nothing }),
        // an upload that may also come as JSON checks both itself
        ...(row.body === undefined || row.upload !== undefined ? {} : { body: row.body }),
      },
      onRequest: async (request, reply) => {
        reply.header('cache-control', 'no-store').header('x-content-type-options', 'nosniff');
        if (row.permission !== 'public') callers.set(request, await admit(host, row, request));
      },
      preValidation: async (request) => splitCommas(row.query, request.query),
      handler: async (request, reply) => answer(row, host, request, reply),
    });
  }
}

/** JSON beside an upload is as short as any other. */
const jsonBounds: preParsingAsyncHookHandler = async (request, reply, payload) =>
  /\bjson\b/i.test(request.headers['content-type'] ?? '')
    ? keepRawBody(jsonBytesMax).call(request.server, request, reply, payload)
    : payload;
const jsonBytesMax = 65_536;
const nothing = { type: 'object', properties: {}, additionalProperties: false } as const;

/** Throws ApiError 401 or 403. */
async function admit(host: Host, row: Endpoint, request: FastifyRequest) {
  const caller = await identify(host, request, row.whileDutyIsDue);
  if (row.inPerson === true && caller.kind === 'token')
    throw new ApiError('scope_denied', 'Tokens cannot do this; it needs a person who is logged in.');
  if (row.permission === 'self' || row.permission === 'public') {
    if (writes(row) && caller.scopes !== null && caller.scopes.every((scope) => scope === 'read'))
      throw new ApiError('scope_denied', 'The token is read-only.');
    if (writes(row) && row.anyScope !== true && caller.scopes !== null && !areOfAuthor(caller.scopes))
      throw new ApiError('scope_denied', `This needs a token of the scope write; it has ${caller.scopes.join(', ')}.`);
    return { caller, reach: nowhere };
  }
  const reach = caller.reach(row.permission, writes(row));
  if (reach !== null) {
    if (row.ofOrganisation !== undefined) requireWhole(reach, row.ofOrganisation);
    return { caller, reach };
  }
  if (caller.scopes !== null && caller.permissions.includes(row.permission))
    throw new ApiError(
      'scope_denied',
      writes(row) && caller.scopes.every((scope) => scope === 'read')
        ? 'The token is read-only.'
        : `No scope of the token (${caller.scopes.join(', ')}) lets ${row.permission} through.`,
    );
  throw new ApiError('role_denied', `This needs the permission ${row.permission}.`);
}

const nowhere: Reach = { all: false, projects: [], applications: [], within: null };

interface Admitted {
  readonly caller: Caller;
  readonly reach: Reach;
}

/** What a replica cannot answer after all, as it went away meanwhile, the primary answers. */
async function handle(row: Endpoint, host: Host, call: Call, admitted: Admitted | undefined): Promise<unknown> {
  const userId = admitted?.caller.person.userId;
  if (row.fromReplica === true && userId !== undefined) {
    const replica = await replicaFor(host, userId);
    if (replica !== null) {
      const members = { ...Object.getOwnPropertyDescriptors(call), sql: { value: replica, enumerable: true } };
      const there = Object.defineProperties({}, members) as unknown as Call;
      const made = await row.handle(there).catch((error: unknown) => {
        if (error instanceof ApiError) throw error;
        return ofPrimary;
      });
      if (made !== ofPrimary) return made;
    }
  }
  if (!writes(row) || userId === undefined) return row.handle(call);
  try {
    return await row.handle(call);
  } finally {
    await noteWrite(host, userId);
  }
}

const ofPrimary = Symbol('to be asked of the primary');

async function answer(row: Endpoint, host: Host, request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  const admitted = callers.get(request);
  const now = new Date(host.now());
  const call: Call = {
    host,
    sql: host.sql,
    now,
    request,
    reply,
    get caller() {
      if (admitted === undefined) throw new Error('a public endpoint asked who calls it');
      return admitted.caller;
    },
    reach: admitted?.reach ?? nowhere,
    params: request.params as Record<string, string>,
    query: request.query,
    body: request.body,
    audited: async (action, summary, work, details) =>
      host.sql.begin(async (tx) => {
        const made = await work(tx);
        if (admitted === undefined) throw new Error('a public endpoint wrote an audit entry');
        const { actor } = admitted.caller;
        const text = typeof summary === 'string' ? summary : summary(made);
        await host.audit.record(tx, {
          actor,
          action,
          summary: `${actor.name} ${text}`,
          details: details?.(made) ?? null,
        });
        return made;
      }) as never,
  };
  const made = await handle(row, host, call, admitted);
  if (reply.sent) return reply;
  const status = row.status ?? 200;
  if (status === 204) return reply.code(204).send();
  if (row.mediaType !== undefined && !reply.hasHeader('content-type')) reply.type(row.mediaType);
  return reply.code(reply.statusCode === 200 ? status : reply.statusCode).send(made);
}
