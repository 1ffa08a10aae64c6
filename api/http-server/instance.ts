// The Fastify instance before any route: how requests are read, validated, logged and refused.
import { Ajv } from 'ajv';
import Fastify, { type FastifyReply, type FastifyRequest } from 'fastify';
import { randomUUID } from 'node:crypto';
import {
  ApiError,
  checkStorable,
  isNestedDeeper,
  refusalOfBody,
  type App,
  type TypeBoxProvider,
} from '../http-kit/index.js';
import { explainErrors } from '#settings';
import { LazySchemas, nothingCompiled } from './lazily.js';
import { sendRefusal, sendUnreadable } from './refuse.js';
import type { Forwarding } from './trusted-proxies.js';

/** Bodies beyond this are answered 413; routes that import data say their own. */
const bodyBytesMax = 1024 * 1024;
const bodyDepthMax = 32;

const documentTypes = [
  'application/yaml',
  'application/x-yaml',
  'application/openapi+yaml',
  'application/openapi+json',
  'application/vnd.oai.openapi',
  'application/vnd.oai.openapi+json',
  'text/yaml',
  'text/x-yaml',
  'text/plain',
];

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The body is handed to the route as text, also where it says that it is JSON: positions in it matter. */
    readonly takesText?: boolean;
  }
}

export interface InstanceOptions {
  /** pino options, or false for silence. */
  readonly logger: boolean | { readonly level: string };
  readonly forwarding: Forwarding;
}

export function createInstance({ logger, forwarding }: InstanceOptions): App {
  const app = Fastify({
    logger:
      logger === false
        ? false
        : {
            ...(logger === true ? {} : logger),
            redact: ['req.headers.authorization', 'req.headers.cookie'],
            serializers: { req: describeRequest },
          },
    bodyLimit: bodyBytesMax,
    trustProxy: forwarding.isBelieved,
    rewriteUrl: (request) => {
      forwarding.forgetClaims(request);
      return request.url ?? '/';
    },
    genReqId: () => randomUUID(),
    frameworkErrors: (error, request, reply) =>
      void sendRefusal(error, request as FastifyRequest, reply as FastifyReply),
    clientErrorHandler: sendUnreadable,
    // a client that was let in is answered while it closes: behind a socket that stays, the next process takes over
    return503OnClosing: false,
    requestTimeout: 60_000,
    routerOptions: { maxParamLength: 200 },
  }).withTypeProvider<TypeBoxProvider>();
  registerValidation(app);
  app.addHook('preValidation', checkStorable);
  app.setErrorHandler(sendRefusal);
  registerBodyParser(app);
  refuseUnknownParameters(app);
  return app;
}

/** For the log. What an identity provider sends back with the browser stands for a login, and stays out of it. */
const describeRequest = ({ method, url, host, ip }: FastifyRequest) => ({
  method,
  url: url.replace(/^(\/api\/sso\/callback)\?.*/, '$1?…'),
  host,
  remoteAddress: ip,
});

/** Of all servers of this process, whose named schemas are the same. */
const compiled = nothingCompiled();
const checks = { allErrors: true, useDefaults: true, strict: false, verbose: true } as const;
const strict = new Ajv({ ...checks, coerceTypes: false });
const fromText = new Ajv({ ...checks, coerceTypes: 'array' });

/**
 * Bodies are taken literally; query strings and path parameters are text and are converted. Unknown members are
 * refused, never dropped.
 */
function registerValidation(app: App): void {
  const schemas = new LazySchemas(() => app.getSchemas(), compiled);
  app.decorate('schemas', schemas);
  app.setValidatorCompiler(({ schema, httpPart }) =>
    schemas.validator(httpPart === 'body' ? strict : fromText, schema as object),
  );
  app.setSerializerCompiler(({ schema }) => schemas.serializer(schema as object));
  app.setSchemaErrorFormatter((errors, part) => {
    const fields = explainErrors(errors);
    const shown = fields.slice(0, 3).map(({ path, reason }) => `${path || '/'} ${reason}`);
    return new ApiError('validation_failed', `The ${part} does not fit: ${shown.join('; ')}.`, { errors: fields });
  });
}

/**
 * A route that takes no parameters refuses them, like one that takes some: a filter that was misspelt would be answered
 * with everything, and a write with `?dry_run=true` would be saved. Routes that anybody may ask (health, login pages)
 * get parameters of monitors and browsers, and those of nodes are called by other releases: both stay open.
 */
function refuseUnknownParameters(app: App): void {
  app.addHook('onRoute', (route) => {
    const { schema } = route;
    const isOurs = route.url.startsWith('/api/') && !route.url.startsWith('/api/dataplane/');
    if (!isOurs || schema === undefined || schema.hide === true || schema.security?.length === 0) return;
    schema.querystring ??= { type: 'object', properties: {}, additionalProperties: false };
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
      if (request.routeOptions.config.takesText === true) return done(null, text);
      if (text === '') return done(null, undefined);
      if (isNestedDeeper(text, bodyDepthMax))
        return done(new ApiError('nested_too_deep', `The body nests deeper than ${bodyDepthMax} levels.`), undefined);
      void parse(request, text, (error: Error | null, parsed: unknown) => {
        const isFromNode = request.routeOptions.url?.startsWith('/api/dataplane/') === true;
        done(error ?? (isFromNode ? null : refusalOfBody(text, parsed)), parsed);
      });
    },
  );
  // Documents that people write as text; a route that takes no text answers 415, as for any type that is not known.
  app.addContentTypeParser(documentTypes, { parseAs: 'string' }, (request, body, done) => {
    if (request.routeOptions.config.takesText === true) done(null, body);
    else done(new ApiError('media_type_unsupported', 'This route takes application/json.'), undefined);
  });
}
