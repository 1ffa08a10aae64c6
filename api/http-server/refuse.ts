// Every way in which this server says no: whatever is thrown becomes a problem document here and nowhere else.
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { findOutage } from '../db/outage.js';
import { ApiError, toProblem, wantsPage } from '../http-kit/index.js';
import { sendRefusalPage } from './refusal-page.js';

/** The vulnerability manager's own addresses: their specification has refusals of one member, `detail`. */
const detailOnly = /^\/api\/v1(?:[/?]|$)/;

export function sendRefusal(
  error: FastifyError | ApiError,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const refusal = error instanceof ApiError ? error : toRefusal(error, request);
  // of an ApiError, whoever threw it knows; what was turned into one here is told to the operator
  if (refusal.status >= 500 && (refusal !== error || (refusal.code !== 'busy' && refusal.code !== 'not_ready')))
    request.log.error({ err: error }, 'request failed');
  for (const [name, value] of Object.entries(refusal.extras.headers ?? {})) reply.header(name, value);
  if (wantsPage(request)) return sendRefusalPage(refusal, request, reply);
  const isDetailOnly = detailOnly.test(request.url);
  return reply
    .code(refusal.status)
    .type(isDetailOnly ? 'application/json; charset=utf-8' : 'application/problem+json')
    .serializer(JSON.stringify)
    .send(isDetailOnly ? { detail: refusal.message } : toProblem(refusal, request.id));
}

/** What is no HTTP at all never becomes a request; whoever sent it hears that in the same form. */
export function sendUnreadable(error: Error, socket: Socket): void {
  if (!socket.writable || (error as NodeJS.ErrnoException).code === 'ECONNRESET') return void socket.destroy();
  const refusal = new ApiError(
    'malformed_request',
    'The request cannot be read: it is not HTTP/1.1, its head is larger than 16 KiB, or it came too slowly.',
  );
  const body = JSON.stringify(toProblem(refusal, randomUUID()));
  const head = [
    'HTTP/1.1 400 Bad Request',
    'Content-Type: application/problem+json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}

export const tooMany = (after: string): ApiError =>
  new ApiError('too_many_requests', `Too many requests. Try again in ${after}.`);

const outages = {
  unreachable:
    'The database does not answer. Try again in a moment; if this was a change, look first whether it was saved.',
  disk: 'The disk is full or takes no writes: nothing can be saved. Make room where the database or DATA_DIR lies.',
  'read-only':
    'The database takes no writes: it is a standby, or was made read-only. Nothing was saved; try again in a moment.',
} as const;

/** What a route takes that parses documents itself; curl calls a file a form unless it is told otherwise. */
function wantedTypes({ routeOptions, headers }: FastifyRequest): string {
  if (routeOptions.config.takesText !== true) return 'Send application/json.';
  const came = headers['content-type'] ?? 'none';
  return `Send application/yaml, application/json or text/plain as Content-Type; it was ${came.slice(0, 100)}.`;
}

function toRefusal(error: FastifyError, request: FastifyRequest): ApiError {
  if (error.code === 'FST_ERR_CTP_BODY_TOO_LARGE')
    return new ApiError('body_too_large', 'The body is larger than this route takes.', { cause: error });
  if (error.code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE')
    return new ApiError('media_type_unsupported', wantedTypes(request), { cause: error });
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
  // nothing about the inside is told; the log has it, findable by the instance
  return new ApiError('internal', 'The server failed. The log has an entry with this instance.', { cause: error });
}
