// Variables of the response.
import type { Collection } from '../transaction/collection.js';
import type { Transaction } from '../transaction/transaction.js';
import { cached, flag, names, scalar, values, type Variable } from './variable.js';

const responseHeaders = (transaction: Transaction): Collection => transaction.responseHeaders;

/** Of the upstream's response; of the reply that an interruption sends instead (for the logging phase). */
function status(transaction: Transaction): string {
  const code = transaction.response?.status ?? transaction.interruption?.status;
  return code === undefined ? '' : String(code);
}

export const responseVariables: readonly Variable[] = [
  values('RESPONSE_HEADERS', 3, responseHeaders),
  names('RESPONSE_HEADERS_NAMES', 3, responseHeaders),
  scalar('RESPONSE_STATUS', 3, status),
  scalar('STATUS', 3, status),
  scalar('STATUS_LINE', 3, (t) => (t.response === null ? '' : `${t.response.protocol} ${t.response.status}`)),
  scalar('RESPONSE_PROTOCOL', 3, (t) => t.response?.protocol ?? ''),
  scalar('RESPONSE_CONTENT_TYPE', 3, (t) => t.responseContentType),
  scalar('RESPONSE_CONTENT_LENGTH', 4, (t) => (t.responseBody === null ? '' : String(t.responseBody.length))),
  cached('RESPONSE_BODY', 4, (t) => t.responseBody?.toString('latin1') ?? ''),
  scalar('OUTBOUND_DATA_ERROR', 4, (t) => flag(t.outboundDataError)),
];
