// Variables of the request: its head, its arguments, its body as it came.
import { pathMembers } from '../parse/path-keys.js';
import { requestLine } from '../parse/request-target.js';
import type { Collection } from '../transaction/collection.js';
import type { Transaction } from '../transaction/transaction.js';
import { cached, names, scalar, values, type Variable } from './variable.js';

function combinedSize(collections: readonly Collection[], withNames: boolean): number {
  let size = 0;
  for (const collection of collections) {
    for (let index = 0; index < collection.size; index += 1) {
      size += (collection.values[index] as string).length;
      if (withNames) size += (collection.names[index] as string).length;
    }
  }
  return size;
}

/** The header block and the body, as ModSecurity v3 rebuilds them. */
function fullRequest(transaction: Transaction): string {
  const { names: headerNames, values: headerValues } = transaction.requestHeaders;
  let text = '';
  for (let index = 0; index < headerNames.length; index += 1)
    text += `${headerNames[index] as string}: ${headerValues[index] as string}\n`;
  return `${text}\n\n${transaction.requestBody === null ? '' : transaction.requestBody.toString('latin1')}`;
}

/**
 * REQUEST_BODY exists for URLENCODED bodies and where forceRequestBodyVariable asks for it and no other processor took
 * the body, as the reference manual says and the CRS regression suite expects. (ModSecurity v3 always fills it, which
 * CRS lists as a deviation: XML and JSON bodies would be judged twice, once undecoded.)
 */
function requestBody(transaction: Transaction): string {
  const { requestBody: body, requestBodyProcessor: processor } = transaction;
  if (body === null) return '';
  const wanted =
    processor === 'URLENCODED' || processor === 'RAW' || (transaction.forceRequestBodyVariable && processor === '');
  return wanted ? body.toString('latin1') : '';
}

function header(transaction: Transaction, lowerName: string): string {
  return transaction.requestHeaders.find(lowerName) ?? '';
}

/** The user of Basic credentials, else ''. */
function remoteUser(transaction: Transaction): string {
  const value = header(transaction, 'authorization');
  if (value.slice(0, 6).toLowerCase() !== 'basic ') return '';
  const decoded = Buffer.from(value.slice(6), 'base64').toString('latin1');
  const colon = decoded.indexOf(':');
  return colon < 0 ? decoded : decoded.slice(0, colon);
}

function authType(transaction: Transaction): string {
  const value = header(transaction, 'authorization');
  const blank = value.indexOf(' ');
  return blank < 0 ? value : value.slice(0, blank);
}

/** Host without port (an IPv6 literal keeps its brackets). */
function serverName(transaction: Transaction): string {
  const host = header(transaction, 'host');
  if (host.charCodeAt(0) === 0x5b) {
    const end = host.indexOf(']');
    return end < 0 ? host : host.slice(0, end + 1);
  }
  const colon = host.indexOf(':');
  return colon < 0 ? host : host.slice(0, colon);
}

const argsGet = (transaction: Transaction): Collection => transaction.argsGet;
const argsPost = (transaction: Transaction): Collection => transaction.body.argsPost;
const requestHeaders = (transaction: Transaction): Collection => transaction.requestHeaders;
const requestCookies = (transaction: Transaction): Collection => transaction.requestCookies;

export const requestVariables: readonly Variable[] = [
  values('ARGS', 2, argsGet, argsPost),
  names('ARGS_NAMES', 2, argsGet, argsPost),
  values('ARGS_GET', 1, argsGet),
  names('ARGS_GET_NAMES', 1, argsGet),
  values('ARGS_POST', 2, argsPost),
  names('ARGS_POST_NAMES', 2, argsPost),
  cached('ARGS_COMBINED_SIZE', 2, (t) => String(combinedSize([t.argsGet, t.body.argsPost], true))),
  scalar('AUTH_TYPE', 1, authType),
  values('REQUEST_HEADERS', 1, requestHeaders),
  names('REQUEST_HEADERS_NAMES', 1, requestHeaders),
  values('REQUEST_COOKIES', 1, requestCookies),
  names('REQUEST_COOKIES_NAMES', 1, requestCookies),
  scalar('REQUEST_METHOD', 1, (t) => t.request.method),
  scalar('REQUEST_PROTOCOL', 1, (t) => t.request.protocol),
  cached('REQUEST_LINE', 1, (t) => requestLine(t.request.method, t.request.uri, t.request.protocol)),
  scalar('REQUEST_URI', 1, (t) => t.requestUri),
  scalar('REQUEST_URI_RAW', 1, (t) => t.request.uri),
  scalar('REQUEST_FILENAME', 1, (t) => t.requestFilename),
  scalar('REQUEST_BASENAME', 1, (t) => t.requestBasename),
  values('PATH_READINGS', 1, (t) => pathMembers(t.request.uri)),
  scalar('PATH_INFO', 1, (t) => t.requestFilename),
  scalar('QUERY_STRING', 1, (t) => t.queryString),
  cached('REQUEST_BODY', 2, requestBody),
  scalar('REQUEST_BODY_LENGTH', 2, (t) => String(t.requestBody?.length ?? 0)),
  cached('FULL_REQUEST', 2, fullRequest),
  cached('FULL_REQUEST_LENGTH', 2, (t) => String(fullRequest(t).length)),
  scalar('REMOTE_ADDR', 1, (t) => t.request.clientIp),
  scalar('REMOTE_HOST', 1, (t) => t.request.clientIp),
  scalar('USERAGENT_IP', 1, (t) => t.request.clientIp),
  scalar('REMOTE_PORT', 1, (t) => String(t.request.clientPort)),
  scalar('REMOTE_USER', 1, remoteUser),
  scalar('SERVER_ADDR', 1, (t) => t.request.serverIp),
  scalar('SERVER_NAME', 1, serverName),
  scalar('SERVER_PORT', 1, (t) => String(t.request.serverPort)),
  scalar('UNIQUE_ID', 1, (t) => t.environment.uniqueId),
];
