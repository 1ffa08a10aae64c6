import { statusLine } from '../status-text.js';

/** A response head for a bare socket, with its blank line. */
export function headText(status: number, reason: string, headers: readonly string[]): string {
  let text = `HTTP/1.1 ${statusLine(status, reason)}\r\n`;
  for (let index = 0; index < headers.length; index += 2) text += `${headers[index]}: ${headers[index + 1]}\r\n`;
  return `${text}\r\n`;
}
