// Formats that are enforced: those whose form is beyond doubt. Others (uri, hostname, password, what people invent) say
// something to readers and refuse nothing. Loops instead of regular expressions: the text is a client's.
// Sources: RFC 3339 sections 5.6 and appendix A, RFC 9562 section 4, RFC 2673 section 3.2, OpenAPI 3.1 section 4.4.
import { isIPv4, isIPv6 } from 'node:net';

const digit = (text: string, at: number): number => {
  const code = text.charCodeAt(at) - 0x30;
  return code >= 0 && code <= 9 ? code : -1;
};

/** `count` digits at `at` as a number; -1: there is something else. */
function number(text: string, at: number, count: number): number {
  let value = 0;
  for (let index = at; index < at + count; index += 1) {
    const one = digit(text, index);
    if (one < 0) return -1;
    value = value * 10 + one;
  }
  return value;
}

const daysIn = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

function isDate(text: string): boolean {
  return text.length === 10 && isDateAt(text);
}

function isDateAt(text: string): boolean {
  const year = number(text, 0, 4);
  const month = number(text, 5, 2);
  const day = number(text, 8, 2);
  if (year < 0 || month < 1 || month > 12 || day < 1 || text[4] !== '-' || text[7] !== '-') return false;
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  return day <= (month === 2 && isLeap ? 29 : (daysIn[month - 1] ?? 0));
}

/** From `at` to the end: `23:59:60.123Z`, `12:00:00+02:00`. */
function isTimeAt(text: string, at: number): boolean {
  const hour = number(text, at, 2);
  const minute = number(text, at + 3, 2);
  const second = number(text, at + 6, 2);
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60) return false;
  if (text[at + 2] !== ':' || text[at + 5] !== ':') return false;
  let next = at + 8;
  if (text[next] === '.') {
    const first = ++next;
    while (digit(text, next) >= 0) next += 1;
    if (next === first) return false;
  }
  let offset = 0;
  const sign = text[next];
  if (sign === 'Z' || sign === 'z') next += 1;
  else {
    if (sign !== '+' && sign !== '-') return false;
    const hours = number(text, next + 1, 2);
    const minutes = number(text, next + 4, 2);
    if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59 || text[next + 3] !== ':') return false;
    offset = (sign === '+' ? -1 : 1) * (hours * 60 + minutes);
    next += 6;
  }
  if (next !== text.length) return false;
  // a leap second is the last one of a day in UTC
  return second < 60 || (((hour * 60 + minute + offset) % 1440) + 1440) % 1440 === 1439;
}

function isDateTime(text: string): boolean {
  const between = text[10];
  return (between === 'T' || between === 't' || between === ' ') && isDateAt(text) && isTimeAt(text, 11);
}

function isUuid(text: string): boolean {
  if (text.length !== 36) return false;
  for (let at = 0; at < 36; at += 1) {
    const code = text.charCodeAt(at);
    if (at === 8 || at === 13 || at === 18 || at === 23) {
      if (code !== 0x2d) return false;
    } else if (!((code >= 0x30 && code <= 0x39) || ((code | 0x20) >= 0x61 && (code | 0x20) <= 0x66))) return false;
  }
  return true;
}

/** RFC 5322 section 3.2.3 atext; beyond ASCII whatever comes (RFC 6531). */
function isAtext(code: number): boolean {
  if (isLetterOrDigit(code) || code > 0x7f) return true;
  return code > 0x20 && code < 0x7f && !'"(),.:;<>@[\\]'.includes(String.fromCharCode(code));
}

const isLetterOrDigit = (code: number): boolean =>
  (code >= 0x30 && code <= 0x39) || ((code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a);

/** Names between dots, from `from` to before `to`; none of them is empty. */
function isDotted(text: string, from: number, to: number, takes: (code: number) => boolean): boolean {
  let start = from;
  for (let at = from; at < to; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x2e) {
      if (at === start) return false;
      start = at + 1;
    } else if (!takes(code)) return false;
  }
  return start < to;
}

const isHostCode = (code: number): boolean => isLetterOrDigit(code) || code === 0x2d || code > 0x7f;

/** Names of a host: no hyphen at an end of one (RFC 1123 section 2.1). */
function isHostFrom(text: string, from: number): boolean {
  if (!isDotted(text, from, text.length, isHostCode)) return false;
  for (let at = from; at < text.length; at += 1)
    if (text[at] === '-' && (at === from || at === text.length - 1 || text[at - 1] === '.' || text[at + 1] === '.'))
      return false;
  return true;
}

function isQuoted(text: string, end: number): boolean {
  if (end < 2 || text[0] !== '"' || text[end - 1] !== '"') return false;
  for (let at = 1; at < end - 1; at += 1) {
    const code = text.charCodeAt(at);
    if (code < 0x20 || code === 0x7f || code === 0x22) return false;
    if (code === 0x5c) at += 1;
    if (at === end - 1) return false;
  }
  return true;
}

/** A Mailbox of RFC 5321 section 4.1.2, also of a host without a dot, of an address in brackets, and beyond ASCII. */
function isEmail(text: string): boolean {
  const at = text.lastIndexOf('@');
  if (at < 1 || at > 256 || text.length - at > 256) return false;
  if (!(text[0] === '"' ? isQuoted(text, at) : isDotted(text, 0, at, isAtext))) return false;
  if (text[at + 1] !== '[') return isHostFrom(text, at + 1);
  const inner = text.endsWith(']') ? text.slice(at + 2, -1) : '';
  return isIPv4(inner) || (/^IPv6:/i.test(inner.slice(0, 5)) && isIPv6(inner.slice(5)));
}

function isBase64(text: string): boolean {
  const end = text.endsWith('==') ? text.length - 2 : text.endsWith('=') ? text.length - 1 : text.length;
  if (text.length % 4 !== 0) return false;
  for (let at = 0; at < end; at += 1) {
    const code = text.charCodeAt(at);
    const isLetter = (code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a;
    if (!isLetter && !(code >= 0x30 && code <= 0x39) && code !== 0x2b && code !== 0x2f) return false;
  }
  return true;
}

export const textFormats: ReadonlyMap<string, (text: string) => boolean> = new Map([
  ['date', isDate],
  ['date-time', isDateTime],
  ['time', (text) => isTimeAt(text, 0)],
  ['uuid', isUuid],
  ['ipv4', isIPv4],
  ['ipv6', (text) => isIPv6(text) && !text.includes('%')],
  ['email', isEmail],
  ['byte', isBase64],
]);

/** A number of 64 bits that JavaScript cannot hold exactly still compares right with these. */
export const numberFormats: ReadonlyMap<string, (value: number) => boolean> = new Map([
  ['int32', (value) => Number.isInteger(value) && value >= -(2 ** 31) && value < 2 ** 31],
  ['int64', (value) => Number.isInteger(value) && value >= -(2 ** 63) && value <= 2 ** 63],
]);
