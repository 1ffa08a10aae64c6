// What a head says about the connection it came on.
import type { RequestHead } from '#engine';
import type { Framing } from '../../http/framing.js';
import { findField, joinedField, listHasToken } from '../../http/header-fields.js';
import type { ConnectionWishes } from './exchange.js';

const usual: ConnectionWishes = { keepAlive: true, isExpectant: false, webSocketKey: null };

/** Persistence by RFC 9112 section 9.3, Expect by RFC 9110 section 10.1.1, handshakes by RFC 6455 section 4.2.1. */
export function wishesOf({ method, protocol, headers }: RequestHead, framing: Framing): ConnectionWishes {
  const isCurrent = protocol === 'HTTP/1.1';
  const connection = joinedField(headers, 'connection');
  const isExpectant = isCurrent && framing.kind !== 'none' && findField(headers, 'expect') !== null;
  if (connection === null) return isCurrent && !isExpectant ? usual : { ...usual, keepAlive: isCurrent, isExpectant };
  const isHandshake =
    isCurrent &&
    method === 'GET' &&
    listHasToken(connection, 'upgrade') &&
    (findField(headers, 'upgrade') ?? '').toLowerCase() === 'websocket';
  return {
    keepAlive: !listHasToken(connection, 'close') && (isCurrent || listHasToken(connection, 'keep-alive')),
    isExpectant,
    webSocketKey: isHandshake ? findField(headers, 'sec-websocket-key') : null,
  };
}
