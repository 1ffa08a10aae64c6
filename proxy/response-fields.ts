import { connectionListed, findField, hopByHopFields } from './header-fields.js';

/** An upstream's response headers as the client gets them: without the hop's own fields, with the request id. */
export function relayedFields(headers: readonly string[], requestId: string): string[] {
  const connection = findField(headers, 'connection');
  const listed = connection === null || connection === 'keep-alive' || connection === 'close' ? null : connectionListed(connection);
  const relayed: string[] = [];
  for (let index = 0; index < headers.length; index += 2) {
    const name = headers[index] as string;
    const lower = name.toLowerCase();
    if (lower === 'content-length' || lower === 'x-request-id' || hopByHopFields.has(lower)) continue;
    if (listed !== null && listed.has(lower)) continue;
    relayed.push(name, headers[index + 1] as string);
  }
  relayed.push('X-Request-Id', requestId);
  return relayed;
}

/** Responses that never end or must not wait: relayed as they come, whatever the rules would like to see. */
export function isStream(headers: readonly string[]): boolean {
  const type = findField(headers, 'content-type');
  if (type === null) return false;
  const lower = type.toLowerCase();
  return lower.startsWith('text/event-stream') || lower.startsWith('application/grpc') || lower.startsWith('multipart/x-mixed-replace');
}
