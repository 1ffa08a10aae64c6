// buildApp(deps): the whole control plane as one Fastify instance that has not begun to listen. Everything is
// registered here, by name, in this order; nothing is found by scanning a folder.
import rateLimit from '@fastify/rate-limit';
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import { Ajv } from 'ajv';
import Fastify, { type FastifyError, type FastifyReply, type FastifyRequest } from 'fastify';
import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { createAuditLog } from './audit/chain.js';
import { registerAuditRoutes } from './audit/routes.js';
import { registerAccountRoutes } from './account/routes.js';
import { createBreachCheck } from './auth/breached.js';
import { methodsOf, registerGuard } from './auth/guard.js';
import { registerLoginRoutes } from './auth/routes.js';
import { createPasswordHasher } from './auth/password.js';
import { createSealing } from './auth/sealing.js';
import { createSessionTokens } from './auth/session-token.js';
import { registerSsoRoutes } from './sso/routes.js';
import { registerTokenRoutes } from './api-tokens/routes.js';
import { registerUserRoutes } from './users/routes.js';
import { findOutage } from './db/outage.js';
import type { App, AppDeps, House, TypeBoxProvider } from './parts.js';
import { ApiError, toProblem } from './http-kit/problem.js';
import { registerEventRoutes } from './events/routes.js';
import { registerHealthRoutes } from './health/routes.js';
import { isNestedDeeper } from './http-kit/json-depth.js';
import { ProblemSchema } from './http-kit/error-table.js';
import { checkStorable, refusalOfBody } from './http-kit/storable-text.js';
import { createSharedLimits, installationPrefix, toRateLimitStore } from './http-kit/limits/shared-limits.js';
import { registerJobRoutes } from './jobs/routes.js';
import { registerLicenceRoutes } from './licence/routes.js';
import { registerNodeRoutes } from './nodes/routes.js';
import { registerSampleRoutes } from './records/routes.js';
import { createRuleLab } from './rules/sandbox.js';
import { registerCategoryRoutes } from './rules/category-routes.js';
import { registerEvidenceRoutes } from './evidence/routes.js';
import { registerRuleRoutes } from './rules/routes.js';
import { registerSuggestionRoutes } from './suggestions/routes.js';
import { registerSettingsRoutes } from './settings/routes.js';
import { registerVersionRoutes } from './settings/version-routes.js';
import { createSettingsReader } from './settings/reader.js';
import { toProblemFields } from './settings/validate.js';
import { registerThreatRoutes } from './threat-intel/routes.js';
import { registerManagedFeedRoutes } from './managed-feed/routes.js';
import { registerPatchRoutes } from './vpatch/routes.js';

/** Bodies beyond this are answered 413; routes that import data say their own. */
const bodyBytesMax = 1024 * 1024;
const bodyDepthMax = 32;

/**
 * Of the explorer. The package's own one upgrades to HTTPS, which breaks the page where the control plane is reached
 * over plain HTTP.
 */
const explorerPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'";

export interface BuiltApp {
  readonly app: App;
  readonly house: House;
}

/** Registers plugins and routes; opens nothing and never listens. The database has to be migrated and seeded. */
export async function buildApp(deps: AppDeps): Promise<BuiltApp> {
  const lab = deps.lab ?? createRuleLab();
  const house = createHouse(deps);
  const app = Fastify({
    logger:
      deps.logger === false
        ? false
        : {
            ...(deps.logger === true ? {} : deps.logger),
            redact: ['req.headers.authorization', 'req.headers.cookie'],
            serializers: { req: describeRequest },
          },
    bodyLimit: bodyBytesMax,
    trustProxy: [...deps.env.trustedProxies],
    genReqId: () => randomUUID(),
    frameworkErrors: (error, request, reply) =>
      void sendRefusal(error, request as FastifyRequest, reply as FastifyReply),
    clientErrorHandler: sendUnreadable,
    requestTimeout: 60_000,
    routerOptions: { maxParamLength: 200 },
  }).withTypeProvider<TypeBoxProvider>();
  registerValidation(app);
  app.addHook('preValidation', checkStorable);
  app.setErrorHandler(sendRefusal);
  registerBodyParser(app);
  const limits = createSharedLimits({
    redisUrl: deps.redisUrl ?? null,
    prefix: deps.redisPrefix ?? installationPrefix(deps.env.authSessionSecret),
    clock: () => performance.now(),
    log: app.log,
    ...(deps.redisAnswerMsMax === undefined ? {} : { answerMsMax: deps.redisAnswerMsMax }),
  });
  app.addHook('onClose', () => limits.close());
  await app.register(rateLimit, {
    global: false,
    hook: 'onRequest',
    store: toRateLimitStore(limits),
    errorResponseBuilder: (_, context) => tooMany(context.after),
  });
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: `${deps.env.brand.name} control plane`,
        version: '1',
        description:
          'Long lists come in pages (limit, cursor, next_cursor), editable resources carry ETags, refusals are RFC 9457 problem documents.',
      },
      components: {
        securitySchemes: {
          bearer: {
            type: 'http',
            scheme: 'bearer',
            description: 'a session token of POST /api/login, or an API token',
          },
        },
      },
      security: [{ bearer: [] }],
    },
    refResolver: {
      buildLocalReference: (json, _base, _fragment, i) => (typeof json['$id'] === 'string' ? json['$id'] : `def-${i}`),
    },
  });
  app.addSchema(ProblemSchema);
  registerGuard(app, house);
  await app.register(swaggerUi, {
    routePrefix: '/api/docs',
    staticCSP: explorerPolicy,
    theme: { title: `${deps.env.brand.name} control plane` },
    uiConfig: { layout: 'BaseLayout' },
  }); // without the bar that loads other documents
  app.setNotFoundHandler(
    { preHandler: app.rateLimit({ max: deps.notFoundPerMinute ?? 60, timeWindow: 60_000 }) },
    (request) => {
      const path = request.url.split('?')[0] ?? '';
      const methods = methodsOf(path);
      if (methods.length > 0 && !methods.includes(request.method))
        throw new ApiError('method_not_allowed', `${path.slice(0, 200)} takes ${methods.join(', ')}.`, {
          headers: { allow: methods.join(', ') },
        });
      throw new ApiError('not_found', `There is no ${request.method} ${path.slice(0, 200)}.`);
    },
  );
  registerHealthRoutes(app, house, limits.state);
  registerLoginRoutes(app, house);
  registerSsoRoutes(app, house);
  registerAccountRoutes(app, house);
  registerUserRoutes(app, house);
  registerTokenRoutes(app, house);
  registerAuditRoutes(app, house);
  registerLicenceRoutes(app, house);
  registerSettingsRoutes(app, house);
  registerVersionRoutes(app, house);
  registerCategoryRoutes(app, house, deps.crsDirectory ?? null);
  registerRuleRoutes(app, house, lab);
  registerEvidenceRoutes(app, house);
  registerPatchRoutes(app, house);
  registerSuggestionRoutes(app, house, lab, deps.crsDirectory ?? null);
  registerThreatRoutes(app, house);
  registerManagedFeedRoutes(app, house, lab);
  registerEventRoutes(app, house);
  registerSampleRoutes(app, house);
  registerNodeRoutes(app, house);
  registerJobRoutes(app, house);
  return { app, house };
}

/** The parts every route and job shares, made once. */
export function createHouse(deps: AppDeps): House {
  const sealing = createSealing(deps.env.settingsEncryptionSecret);
  const reader = createSettingsReader(deps.database, deps.now);
  return {
    ...deps,
    sealing,
    audit: createAuditLog(sealing, deps.now),
    hasher: createPasswordHasher(deps.passwordIterations),
    tokens: createSessionTokens(deps.env.authSessionSecret, deps.now),
    breachCheck: createBreachCheck(deps.outbound, deps.env.breachedPasswordsUrl),
    currentSettings: reader.current,
    settingsChanged: reader.forget,
    threatsChanged: deps.threatsChanged ?? (async () => undefined),
    expectedOf: deps.expectedOf ?? (async () => null),
  };
}

/**
 * Bodies are taken literally; query strings and path parameters are text and are converted. Unknown members are
 * refused, never dropped.
 */
function registerValidation(app: App): void {
  const strict = new Ajv({ allErrors: true, useDefaults: true, strict: false, coerceTypes: false, verbose: true });
  const fromText = new Ajv({ allErrors: true, useDefaults: true, strict: false, coerceTypes: 'array', verbose: true });
  app.setValidatorCompiler(({ schema, httpPart }) =>
    (httpPart === 'body' ? strict : fromText).compile(schema as object),
  );
  app.setSchemaErrorFormatter((errors, part) => {
    const fields = toProblemFields(errors);
    return new ApiError(
      'validation_failed',
      `The ${part} does not fit: ${fields
        .slice(0, 3)
        .map((f) => `${f.path || '/'} ${f.reason}`)
        .join('; ')}.`,
      { errors: fields },
    );
  });
}

function registerBodyParser(app: App): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeContentTypeParser(['application/json', 'text/plain']);
  app.addContentTypeParser(
    ['application/json', 'application/merge-patch+json'],
    { parseAs: 'string' },
    (request, body, done) => {
      const text = body as string;
      if (text === '') return done(null, undefined);
      if (isNestedDeeper(text, bodyDepthMax))
        return done(new ApiError('nested_too_deep', `The body nests deeper than ${bodyDepthMax} levels.`), undefined);
      void parse(request, text, (error: Error | null, parsed: unknown) => {
        const isFromNode = request.routeOptions.url?.startsWith('/api/dataplane/') === true;
        done(error ?? (isFromNode ? null : refusalOfBody(text, parsed)), parsed);
      });
    },
  );
}

const tooMany = (after: string): ApiError =>
  new ApiError('too_many_requests', `Too many requests. Try again in ${after}.`);

/** For the log. What an identity provider sends back with the browser stands for a login, and stays out of it. */
const describeRequest = ({ method, url, host, ip }: FastifyRequest) => ({
  method,
  url: url.replace(/^(\/api\/sso\/callback)\?.*/, '$1?…'),
  host,
  remoteAddress: ip,
});

/** Every thrown thing becomes a problem document here and nowhere else. */
function sendRefusal(error: FastifyError | ApiError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const refusal = error instanceof ApiError ? error : toRefusal(error);
  // of an ApiError, whoever threw it knows; what was turned into one here is told to the operator
  if (refusal.status >= 500 && (refusal !== error || (refusal.code !== 'busy' && refusal.code !== 'not_ready')))
    request.log.error({ err: error }, 'request failed');
  for (const [name, value] of Object.entries(refusal.extras.headers ?? {})) reply.header(name, value);
  return reply
    .code(refusal.status)
    .type('application/problem+json')
    .serializer(JSON.stringify)
    .send(toProblem(refusal, request.id));
}

/** What is no HTTP at all never becomes a request; whoever sent it hears that in the same form. */
function sendUnreadable(error: Error, socket: Socket): void {
  if (!socket.writable || (error as NodeJS.ErrnoException).code === 'ECONNRESET') return void socket.destroy();
  const refusal = new ApiError(
    'malformed_request',
    'The request cannot be read: it is not HTTP/1.1, its head is larger than 16 KiB, or it came too slowly.',
  );
  const body = JSON.stringify(toProblem(refusal, randomUUID()));
  socket.end(
    `HTTP/1.1 400 Bad Request\r\nContent-Type: application/problem+json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}

const outages = {
  unreachable:
    'The database does not answer. Try again in a moment; if this was a change, look first whether it was saved.',
  disk: 'The disk is full or takes no writes: nothing can be saved. Make room where the database or DATA_DIR lies.',
} as const;

function toRefusal(error: FastifyError): ApiError {
  if (error.code === 'FST_ERR_CTP_BODY_TOO_LARGE')
    return new ApiError('body_too_large', 'The body is larger than this route takes.', { cause: error });
  if (error.code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE')
    return new ApiError('media_type_unsupported', 'Send application/json.', { cause: error });
  if (error.code === 'FST_ERR_BAD_URL')
    return new ApiError('malformed_request', 'The path cannot be read: what follows a % has to be UTF-8.', {
      cause: error,
    });
  if (error.code === 'FST_ERR_MAX_PARAM_LENGTH')
    return new ApiError('not_found', 'There is nothing under a name that long.', { cause: error });
  if (error.statusCode === 429) return new ApiError('too_many_requests', error.message, { cause: error });
  if (error.statusCode !== undefined && error.statusCode >= 400 && error.statusCode < 500)
    return new ApiError('malformed_request', 'The request cannot be read: check that the body is valid JSON.', {
      cause: error,
    });
  const outage = findOutage(error);
  if (outage !== null)
    return new ApiError('not_ready', outages[outage], { headers: { 'retry-after': '5' }, cause: error });
  // nothing about the inside leaves the house; the log has it, findable by the instance
  return new ApiError('internal', 'The server failed. The log has an entry with this instance.', { cause: error });
}
