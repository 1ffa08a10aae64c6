// How this API says no: `{"detail": string}` and the status; where a program is to ask again, what it has to send, too.
// What the room did not expect is passed on to the server's own handler, which logs it.
import { ApiError, wantsPage } from '#http-kit';
import { maskSecrets } from '../secrets/mask.js';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';

/** Statuses that this API names otherwise than the control plane: what does not fit a schema is 422 here. */
const statusOf = (error: ApiError): number => {
  if (error.code === 'validation_failed' || error.code === 'bad_cursor') return 422;
  return error.code === 'precondition_failed' ? 409 : error.status;
};

export function answerRefusal(error: FastifyError | ApiError, request: FastifyRequest, reply: FastifyReply): unknown {
  if (wantsPage(request)) throw error; // the server's own handler sends the page
  if (error instanceof ApiError) {
    for (const [name, value] of Object.entries(error.extras.headers ?? {})) reply.header(name, value);
    if (statusOf(error) >= 500 && error.code === 'internal') throw error;
    return send(reply, statusOf(error), detailOf(error), askedOf(error));
  }
  if (error.validation !== undefined) return send(reply, 422, error.message);
  if (error.code === 'FST_ERR_CTP_BODY_TOO_LARGE')
    return send(reply, 413, 'The body is larger than this endpoint takes.');
  if (error.code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return send(reply, 415, 'Send application/json.');
  if (error.statusCode === 429) return send(reply, 429, error.message);
  if (error.statusCode !== undefined && error.statusCode >= 400 && error.statusCode < 500)
    return send(reply, 400, 'The request cannot be read: check that the body is valid JSON.');
  throw error;
}

const fieldsShown = 3;

/** What to do about it stands beside the message where there is room for a list of fields; here it is in the text. */
function detailOf({ code, message, extras }: ApiError): string {
  const { errors = [] } = extras;
  if (code !== 'validation_failed' || !errors.some(({ fix = '' }) => fix !== '')) return message;
  const shown = errors
    .slice(0, fieldsShown)
    .map(({ path, reason, fix = '' }) => `${path || '/'} ${reason}${fix === '' ? '' : ` (${fix})`}`);
  return `${message.split(':', 1)[0] ?? ''}: ${shown.join('; ')}.`;
}

/** What a program has to know to ask again (`needs_confirm_close`), and the field that it has to send. */
function askedOf({ code, extras: { errors, extensions } }: ApiError): Readonly<Record<string, unknown>> {
  return code !== 'conflict' || errors === undefined || extensions === undefined ? {} : { ...extensions, errors };
}

const send = (
  reply: FastifyReply,
  status: number,
  detail: string,
  asked: Readonly<Record<string, unknown>> = {},
): FastifyReply =>
  reply
    .code(status)
    .type('application/json; charset=utf-8')
    .serializer(JSON.stringify)
    .send({ detail: maskSecrets(detail), ...asked });
