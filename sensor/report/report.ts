// From a value that reached something dangerous to an event: once for each place, with its stack, without secrets.
import { createHash, randomUUID } from 'node:crypto';
import type { Value } from '../requests/values.js';
import { isAmbiguous, runAlone, type Visit } from '../requests/visit.js';
import { isOwnText } from './known.js';
import { maskShape, maskTexts } from './masks.js';
import { placeNow, type Place } from './stack.js';

export type AttackType =
  | 'sql_injection'
  | 'nosql_injection'
  | 'command_injection'
  | 'code_injection'
  | 'path_traversal'
  | 'ssrf'
  | 'ssrf_metadata';

export interface Seen {
  readonly attack: AttackType;
  /** What was called: `pg.query`, `child_process.spawn`. */
  readonly sink: string;
  readonly value: Value;
  /** What it was called with. */
  readonly text: string;
  /** Where the value stands in it, or -1. */
  readonly at: number;
  /** In a sentence, what the value does there. */
  readonly effect: string;
  /** What must not stand in the program's own files; the value where it is left out, nothing where null. */
  readonly foreign?: string | null;
  /** Says whether the place speaks against it: then the event is a suspicion. */
  readonly doubt?: (place: Place) => string | null;
}

export interface SensorEvent {
  readonly event_id: string;
  readonly request_id?: string;
  readonly attack_type: AttackType;
  readonly confirmed: boolean;
  readonly action: 'observed';
  readonly method: string;
  readonly route: string;
  readonly file: string;
  readonly line?: number;
  readonly sink: string;
  readonly stack: readonly string[];
  readonly proof: Readonly<Record<string, string>>;
  readonly at: string;
}

const reportsOfRequestMax = 5;
const againMs = 600_000;
const toldMax = 1000;
const around = 160;

const told = new Map<string, number>();
let take: (event: SensorEvent) => void = () => undefined;

/** Who gets the events. */
export function reportTo(taker: (event: SensorEvent) => void): void {
  take = taker;
  told.clear();
}

const isVariable = /^(?:\d+|[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{16,}|[0-9A-HJKMNP-TV-Z]{26}|.*\d.*\d.*\d.*\d.*)$/i;

/** What keys and marks of sessions look like that stand in a path; names of routes in camel case have no digit. */
const isToken = /^(?=.*[a-z])(?=.*[A-Z])(?=.*\d)[\w-]{20,}$/;

/** The path with `{}` where its parts are numbers, identities, or the value itself. */
export function routeOf(url: string, value: string): string {
  const path = url.split('?', 1)[0] ?? '';
  const parts = path.split('/').map((part) => {
    if (part === '') return part;
    const text = plain(part);
    const isChosen = value !== '' && text.length >= 3 && (text.includes(value) || value.includes(text));
    return isChosen || isVariable.test(text) || isToken.test(text) ? '{}' : part;
  });
  return parts.join('/').slice(0, 1000);
}

const plain = (part: string): string => {
  try {
    return decodeURIComponent(part);
  } catch (error) {
    if (error instanceof URIError) return part;
    throw error;
  }
};

/** Whether it is told now: once in ten minutes for each kind, operation, place and parameter. */
function isNew(key: string, now: number): boolean {
  const last = told.get(key);
  if (last !== undefined && now - last < againMs) return false;
  if (told.size >= toldMax)
    for (const oldest of told.keys()) {
      told.delete(oldest);
      break;
    }
  told.delete(key);
  told.set(key, now);
  return true;
}

function proofOf(seen: Seen): Record<string, string> {
  const { value, text, at } = seen;
  const shown = maskShape(value.name, value.text);
  const start = Math.max(0, at - around);
  const end = Math.min(text.length, Math.max(at, 0) + value.text.length + around);
  const isThere = at >= 0 && text.startsWith(value.text, at);
  const reached = isThere
    ? `${maskTexts(text.slice(start, at))}${shown}${maskTexts(text.slice(at + value.text.length, end))}`
    : maskShape(value.name, text.slice(0, 2 * around));
  return { parameter: value.name, value: shown, effect: seen.effect, reached: reached.slice(0, 1000) };
}

/** Notes what was seen; does nothing where it was told a short while ago, or where the program itself says the same. */
export function report(running: Visit, seen: Seen): void {
  const visit = seen.value.of ?? running;
  if (visit.reports >= reportsOfRequestMax) return;
  const once = `${seen.attack}\n${seen.value.text}\n${seen.text}`;
  if (visit.told?.has(once) === true) return;
  (visit.told ??= new Set()).add(once);
  const now = Date.now();
  const place = placeNow();
  const route = routeOf(visit.head.url ?? '', seen.value.text);
  const method = (visit.head.method ?? '').slice(0, 20);
  const key = [seen.attack, method, route, place.file, place.line, seen.sink, seen.value.name].join('\n');
  if (told.has(key) && now - (told.get(key) ?? 0) < againMs) return;
  const foreign = seen.foreign === undefined ? seen.value.text : seen.foreign;
  if (foreign !== null && runAlone(() => isOwnText(foreign, place.files, now))) return;
  if (!isNew(key, now)) return;
  visit.reports++;
  const doubt = isAmbiguous(visit, seen.value.text)
    ? 'another request at the same time had the same value'
    : (seen.doubt?.(place) ?? null);
  const requestId = visit.head.headers['x-request-id'];
  take({
    event_id: createHash('sha256').update(randomUUID()).digest('hex').slice(0, 32),
    ...(typeof requestId === 'string' ? { request_id: requestId.slice(0, 200) } : {}),
    attack_type: seen.attack,
    confirmed: doubt === null,
    action: 'observed',
    ...{ method, route, file: place.file.slice(0, 1000) },
    ...(place.line === null ? {} : { line: place.line }),
    sink: seen.sink.slice(0, 500),
    stack: place.frames.map((frame) => frame.slice(0, 1000)),
    proof: { ...proofOf(seen), ...(doubt === null ? {} : { doubt }) },
    at: new Date(now).toISOString(),
  });
}
