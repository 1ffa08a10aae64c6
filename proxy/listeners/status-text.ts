import { STATUS_CODES } from 'node:http';

/** `200 OK` for a status line; an upstream's own reason phrase wins when it has one. */
export function statusLine(status: number, reason: string): string {
  const text = reason !== '' ? reason : (STATUS_CODES[status] ?? 'Unknown');
  return `${status} ${text}`;
}
