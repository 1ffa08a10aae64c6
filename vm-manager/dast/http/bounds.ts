// Where a scan may go: the origin of its target, the paths in scope, never an excluded one. A path is judged as it is
// written, decoded, and with its dots resolved, because a server may read it in each of these ways.
import type { ScanMethod } from '../model.js';

export interface ScanWindow {
  readonly days: readonly number[];
  readonly from: string;
  readonly to: string;
}

export interface Bounds {
  /** Origins that may be asked; the first is the target's. */
  readonly origins: readonly string[];
  readonly scopePaths: readonly string[];
  readonly excludedPaths: readonly string[];
  readonly methods: readonly ScanMethod[];
  readonly requestsMax: number;
  readonly perSecond: number;
  readonly secondsMax: number;
  readonly windows: readonly ScanWindow[];
}

/** Ends a session, or destroys what it names: never asked for by a link or a form that was found. */
const harmfulNames =
  'log-?_?(?:out|off)|sign-?_?(?:out|off)|(?:end|close|kill)-?_?sessions?|delete|destroy|remove|purge|unsubscribe|' +
  'deactivate|shutdown|drop|reset-?_?password|wipe|erase|terminate|truncate|uninstall|revoke|' +
  '(?:auth|sessions?|account|login)[/_-](?:end|exit|leave|quit|close|kill|stop|finish)|' +
  'abmelden|ausloggen|loeschen|entfernen|deconnexion|supprimer|cerrar-?_?sesion|eliminar';
const harmful = new RegExp(`(?:^|[/_.?=&-])(?:${harmfulNames})(?:[/_.?=&-]|$)`, 'i');
const harmfulSaid =
  'log\\s?(?:me\\s)?(?:out|off)|sign\\s?(?:me\\s)?(?:out|off)|(?:end|close) session|delete|destroy|remove|deactivate|' +
  'wipe|erase|purge|uninstall|terminate|revoke|abmelden|ausloggen|löschen|entfernen|déconnexion|supprimer|' +
  'cerrar sesión|eliminar';
const harmfulWords = new RegExp(`\\b(?:${harmfulSaid})(?![\\p{L}\\p{N}_])`, 'iu');

/** Whether a link or form, by its address or its words, would log out or destroy. */
export const isHarmful = (address: string, words = ''): boolean => harmful.test(address) || harmfulWords.test(words);

function decoded(text: string): string {
  let value = text;
  for (let turn = 0; turn < 3; turn++) {
    let next: string;
    try {
      next = decodeURIComponent(value);
    } catch {
      return value;
    }
    if (next === value) break;
    value = next;
  }
  return value;
}

function resolved(path: string): string {
  const parts: string[] = [];
  for (const part of path.replaceAll('\\', '/').split('/')) {
    const name = part.split(';', 1)[0] ?? '';
    if (name === '..') parts.pop();
    else if (name !== '' && name !== '.') parts.push(name);
  }
  return `/${parts.join('/')}`;
}

/** Each way in which the path may be read, in small letters. */
function readingsOf(path: string): string[] {
  const plain = decoded(path);
  const trimmed = (text: string): string => (text.length > 1 ? text.replace(/\/+$/, '') : text);
  return [...new Set([path, plain, resolved(path), resolved(plain)])].map((one) => trimmed(one.toLowerCase()) || '/');
}

/** `*` stands for any text; without one the path itself and what lies below it is meant. */
function matcherOf(pattern: string): (path: string) => boolean {
  const small = pattern.toLowerCase();
  if (!small.includes('*')) {
    const bare = small.replace(/\/+$/, '');
    return (path) => path === bare || path.startsWith(`${bare}/`) || bare === '';
  }
  const source = small
    .split('*')
    .map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'))
    .join('.*');
  const form = new RegExp(`^${source}$`, 's');
  return (path) => form.test(path);
}

export type Judge = (url: string, method: ScanMethod) => 'out_of_scope' | 'excluded' | 'method' | null;

/** null: it may be asked. */
export function judgeOf({ origins, scopePaths, excludedPaths, methods }: Bounds): Judge {
  const excluded = excludedPaths.map(matcherOf);
  const within = scopePaths.map(matcherOf);
  return (address, method) => {
    if (!methods.includes(method)) return 'method';
    if (!URL.canParse(address)) return 'out_of_scope';
    const url = new URL(address);
    if (!origins.includes(url.origin) || url.username !== '' || url.password !== '') return 'out_of_scope';
    const readings = readingsOf(url.pathname);
    if (excluded.some((matches) => readings.some(matches))) return 'excluded';
    if (within.length > 0 && !readings.every((path) => within.some((matches) => matches(path)))) return 'out_of_scope';
    return null;
  };
}

const minuteOf = (text: string): number => Number(text.slice(0, 2)) * 60 + Number(text.slice(3, 5));

/** Whether scans may run at this moment; a window that ends before it begins goes on after midnight. */
export function isInWindow(windows: readonly ScanWindow[], at: Date): boolean {
  if (windows.length === 0) return true;
  const minute = at.getUTCHours() * 60 + at.getUTCMinutes();
  const day = at.getUTCDay();
  return windows.some(({ days, from, to }) => {
    const [begin, end] = [minuteOf(from), minuteOf(to)];
    if (begin < end) return days.includes(day) && minute >= begin && minute < end;
    return (days.includes(day) && minute >= begin) || (days.includes((day + 6) % 7) && minute < end);
  });
}
