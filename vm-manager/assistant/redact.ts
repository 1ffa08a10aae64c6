// What leaves for a model: never a secret, and, where names are left out, nothing that tells where something is either.
import { maskSecrets, maskValues } from '../secrets/mask.js';
import type { Redaction } from './settings.js';

/** Endings that are no ordinary words of texts or versions, and those of countries. */
const endings = 'com|net|org|io|dev|app|cloud|local|internal|lan|corp|intra|example|test|[a-z]{2}';
const hostName = new RegExp(`\\b(?:[a-z0-9][a-z0-9-]{0,62}\\.)+(?:${endings})\\b(?!\\()`, 'gi');

/** Addresses, hosts, people and paths; each with what stands in its place. */
const telling: readonly (readonly [RegExp, string])[] = [
  [/\b[a-z][a-z0-9+.-]*:\/\/[^\s"'<>)]+/gi, '[address]'],
  [/[\p{L}\p{N}._%+-]+@[\p{L}\p{N}.-]+\.\p{L}{2,}/gu, '[mail address]'],
  [/\b(?:\d{1,3}\.){3}\d{1,3}(?:\/\d{1,2})?(?::\d{1,5})?\b/g, '[network address]'],
  // with two colons, or with eight groups: a time of day and a hash have neither
  [
    /(?<![\w:.])(?=[0-9a-f:]*::)(?:[0-9a-f]{0,4}:){2,7}[0-9a-f]{0,4}(?:\[network address\])?(?![\w:])/gi,
    '[network address]',
  ],
  [/(?<![\w:])(?:[0-9a-f]{1,4}:){2,7}(?::?[0-9a-f]{1,4}|:)(?![\w:])/gi, '[network address]'],
  [/(?:\b[a-z]:|\\)(?:\\[^\s\\/:*?"<>|]+)+/gi, '[path]'],
  [/(?<![\w./@-])(?:[\w@.-]{1,100}\/){1,30}[\w@.-]{0,100}\.[a-z]\w{0,9}\b/gi, '[path]'],
  [hostName, '[host]'],
  [/(?<![\w.])(?:\/[\w.@{}:%+-]+){2,}\/?/g, '[path]'],
];

/** A text that is nothing but the path of a request, as places of findings are. */
const onlyPath = /^\/[^\s/]*\/?$/;

const withoutPlaces = (text: string): string =>
  onlyPath.test(text) ? '[path]' : telling.reduce((left, [pattern, instead]) => left.replace(pattern, instead), text);

const escapePattern = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** `names`: of applications and projects, which become what they stand for, such as `application:3`. */
export function redact<T>(value: T, redaction: Redaction, names: ReadonlyMap<string, string>): T {
  const masked = maskValues(value);
  if (redaction === 'secrets') return masked;
  const known = [...names].filter(([name]) => name.length >= 3).sort(([a], [b]) => b.length - a.length);
  const hide = (text: string): string => {
    const named = known.reduce(
      (left, [name, instead]) => left.replaceAll(new RegExp(escapePattern(name), 'giu'), `[${instead}]`),
      text,
    );
    return withoutPlaces(named);
  };
  return deep(masked, hide) as T;
}

/** Texts only: names of members are ours. */
function deep(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((one) => deep(one, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, deep(one, change)]));
}

export const maskAnswer = (text: string): string => maskSecrets(text);
