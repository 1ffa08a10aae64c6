// Heads of responses as text, latin1: written by hand, since this is done for every response.
import { STATUS_CODES } from 'node:http';
import { isNamed } from '../../http/header-fields.js';
import { statusLine } from '../status-text.js';

/** By status; what reason phrases most applications send. */
const usualLines = new Map(
  Object.keys(STATUS_CODES).map((status) => [Number(status), `HTTP/1.1 ${statusLine(Number(status), '')}\r\n`]),
);

/** A status line and fields, each with its line end; the blank line is missing. */
export function headText(status: number, reason: string, headers: readonly string[]): string {
  const usual = usualLines.get(status);
  let text =
    usual !== undefined && (reason === '' || reason === STATUS_CODES[status])
      ? usual
      : `HTTP/1.1 ${statusLine(status, reason)}\r\n`;
  for (let index = 0; index < headers.length; index += 2) text += `${headers[index]}: ${headers[index + 1]}\r\n`;
  return text;
}

export function hasField(headers: readonly string[], lowerName: string): boolean {
  for (let index = 0; index < headers.length; index += 2) if (isNamed(headers[index] as string, lowerName)) return true;
  return false;
}

/** The Date field (RFC 9110 section 6.6.1), made once a second. */
export class DateField {
  private second = 0;
  private text = '';

  /** With its line end. */
  get line(): string {
    const second = Math.floor(Date.now() / 1000);
    if (second !== this.second) {
      this.second = second;
      this.text = `Date: ${new Date(second * 1000).toUTCString()}\r\n`;
    }
    return this.text;
  }
}
