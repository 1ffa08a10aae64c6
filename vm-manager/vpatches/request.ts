// The request that a finding is about: what a report or a sensor wrote down, or else made of the place that it names.
// Secrets are masked before anything is done with it, so that the same request is stored, replayed and shown.
import type { DetailsRow, FindingRow } from '../findings/fields.js';
import { maskText } from '../runtime/mask.js';
import type { FirewallRequest } from './firewall.js';
import type { WeaknessClass } from './weakness-classes.js';

/** Where it comes from. `sample`: the place is the finding's, the attack is one of ours for its class. */
export type RequestOrigin = 'given' | 'evidence' | 'sample' | 'catalogue';

export interface Place {
  readonly method: string;
  /** Path with its query, as the finding names it; '' where it names none. */
  readonly target: string;
  readonly parameter: string | null;
  readonly host: string | null;
}

type Fields = Readonly<Record<string, unknown>>;
const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
const textIn = (fields: Fields, name: string): string => (typeof fields[name] === 'string' ? fields[name] : '');

const methodForm = /^[A-Z]{3,10}$/;
/** Credentials and what only belongs to one connection: neither is needed to show that a request is refused. */
const leftOut =
  /^(?:(?:proxy-)?authorization|cookie|x-api-key|content-length|connection|(?:transfer|accept)-encoding)$/i;

const charactersMax = 8000;
const headersMax = 40;

/** Path and query of an address or of a path; '' for what is neither. */
function targetOf(address: string): { readonly target: string; readonly host: string | null } {
  if (address.startsWith('/') && !address.startsWith('//')) return { target: encodeTarget(address), host: null };
  const url = URL.canParse(address) ? new URL(address) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) return { target: '', host: null };
  // as it was written: a URL object resolves the dots that are the attack
  const written = /^https?:\/\/[^/?#]*([^#]*)/i.exec(address)?.[1] ?? '/';
  return { target: encodeTarget(written.startsWith('/') ? written : `/${written}`), host: url.host };
}

/** As a browser writes an address: blanks, control characters and what is no ASCII are encoded. */
const encodeTarget = (typed: string): string =>
  typed.slice(0, charactersMax).replaceAll(/[^\x21-\x7e]/gu, (one) => encodeURIComponent(one));

/** Of a finding of a scanner, or of the line that somebody wrote: `GET /search [q]`, `POST https://a.example/x`. */
export function placeOf(row: FindingRow, details: DetailsRow | null, named?: string): Place {
  const place = placeIn(row, details);
  return named === undefined ? place : { ...place, parameter: named };
}

function placeIn(row: FindingRow, details: DetailsRow | null): Place {
  const location = fieldsOf(details?.location);
  const address = textIn(location, 'url');
  if (address !== '') {
    const method = textIn(location, 'method').toUpperCase();
    const parameter = textIn(location, 'param');
    return { method: methodForm.test(method) ? method : 'GET', ...targetOf(address), parameter: parameter || null };
  }
  const line = /^\s*(?:([A-Z]{3,10})\s+)?((?:https?:\/\/|\/)\S*)(?:\s+\[([^\]]{1,200})\])?\s*$/.exec(row.location);
  if (line === null) return { method: 'GET', target: '', parameter: null, host: null };
  const { target, host } = targetOf(line[2] ?? '');
  const [path = '', query = ''] = target.split('?', 2);
  const named = line[3] ?? null;
  // `GET /search?q`: a name without a value is the parameter that is meant
  const bare = query !== '' && !/[=&]/.test(query) ? decodeURIComponent(query) : null;
  return { method: line[1] ?? 'GET', target: bare === null ? target : path, parameter: named ?? bare, host };
}

/** A request as it stood on the wire, as text; null for what is none. */
export function parseRaw(text: string): Omit<FirewallRequest, 'name'> | null {
  const [head = '', ...rest] = text.split(/\r?\n\r?\n/);
  const [line = '', ...lines] = head.split(/\r?\n/);
  const found = /^([A-Z]{3,10}) (\S+) HTTP\/\d/.exec(line);
  if (found === null) return null;
  const { target } = targetOf(found[2] ?? '');
  if (target === '') return null;
  const headers = lines.flatMap((one): [string, string][] => {
    const colon = one.indexOf(':');
    return colon < 1 ? [] : [[one.slice(0, colon).trim(), one.slice(colon + 1).trim()]];
  });
  return { method: found[1] ?? 'GET', uri: target, headers, body: rest.join('\r\n\r\n') };
}

/** The request of a piece of evidence: whole as text (Nuclei, ZAP), or as members (a sensor, somebody's own). */
function fromEvidence(evidence: unknown): Omit<FirewallRequest, 'name'> | null {
  const fields = fieldsOf(evidence);
  for (const name of ['request', 'request-header']) {
    const raw = textIn(fields, name);
    const parsed = raw === '' ? null : parseRaw(raw);
    if (parsed !== null) return { ...parsed, body: parsed.body || textIn(fields, 'request-body') };
    const members = fieldsOf(fields[name]);
    const { target } = targetOf(textIn(members, 'uri') || textIn(members, 'url'));
    if (target === '') continue;
    const headers = Object.entries(fieldsOf(members['headers'])).flatMap(([header, value]): [string, string][] =>
      typeof value === 'string' ? [[header, value]] : [],
    );
    const method = textIn(members, 'method').toUpperCase();
    return { method: methodForm.test(method) ? method : 'GET', uri: target, headers, body: textIn(members, 'body') };
  }
  return fields['proof'] === undefined ? null : fromEvidence(fields['proof']);
}

/** The attack that a scanner sent in the parameter; null where none is told. */
function attackIn(evidence: readonly unknown[]): string | null {
  for (const one of evidence) {
    const attack = textIn(fieldsOf(one), 'attack');
    if (attack !== '') return attack;
  }
  return null;
}

/** The place with this value in its parameter; without a parameter it stands at the end of the path. */
export function withValue({ method, target, parameter }: Place, value: string, name: string): FirewallRequest {
  const [path = '/', query = ''] = target.split('?', 2);
  if (parameter === null) {
    const uri = `${path}?value=${encodeURIComponent(value)}`;
    return { name, method, uri: query === '' ? uri : `${uri}&${query}`, headers: [], body: '' };
  }
  const fields = new URLSearchParams(query);
  fields.set(parameter, value);
  if (/^(?:GET|HEAD|DELETE|OPTIONS)$/.test(method))
    return { name, method, uri: `${path}?${fields.toString()}`, headers: [], body: '' };
  return {
    name,
    method,
    uri: path,
    headers: [['Content-Type', 'application/x-www-form-urlencoded']],
    body: fields.toString(),
  };
}

/** Secrets are masked, but not the value of the parameter that the attack stands in, whatever it is called. */
function maskAround(text: string, parameter: string | null): string {
  if (parameter === null) return maskText(text);
  const names = [...new Set([parameter, encodeURIComponent(parameter)])].map((one) =>
    one.replace(/[^\w%]/g, (character) => `\\${character}`),
  );
  const value = new RegExp(
    `(?<=(?:^|[?&])(?:${names.join('|')})=)[^&#]*|(?<="(?:${names.join('|')})"\\s*:\\s*")[^"]*`,
    'g',
  );
  let [masked, at] = ['', 0];
  for (const found of text.matchAll(value)) {
    masked += maskText(text.slice(at, found.index)) + found[0];
    at = found.index + found[0].length;
  }
  return masked + maskText(text.slice(at));
}

/** Without credentials, secrets masked, bounded. `parameter`: the one whose value is the attack. */
export function maskRequest(request: FirewallRequest, parameter: string | null = null): FirewallRequest {
  const { name, method, uri, headers, body } = request;
  return {
    name,
    method,
    uri: maskAround(uri.slice(0, charactersMax), parameter),
    headers: headers
      .filter(([header]) => !leftOut.test(header))
      .slice(0, headersMax)
      .map(([header, value]): [string, string] => [header, maskText(value)]),
    body: maskAround(body.slice(0, charactersMax), parameter),
  };
}

/** The finding's request, and where it comes from; null: it names neither a request nor a path. */
export function attackOf(
  row: FindingRow,
  details: DetailsRow | null,
  weakness: WeaknessClass | null,
  named?: string,
): { readonly request: FirewallRequest; readonly origin: RequestOrigin } | null {
  const place = placeOf(row, details, named);
  const { parameter } = place;
  const evidence = [...(details?.evidence ?? [])].reverse();
  for (const one of evidence) {
    const found = fromEvidence(one);
    if (found === null) continue;
    return { request: maskRequest({ name: "the finding's request", ...found }, parameter), origin: 'evidence' };
  }
  if (place.target === '') return null;
  const told = attackIn(evidence);
  const value = told ?? weakness?.attack ?? null;
  const carries = told === null && place.target.includes('?') && place.parameter === null;
  const host: readonly (readonly [string, string])[] = place.host === null ? [] : [['Host', place.host]];
  if (carries || value === null) {
    if (!carries) return null;
    const request = { name: "the finding's address", method: place.method, uri: place.target, headers: host, body: '' };
    return { request: maskRequest(request), origin: 'evidence' };
  }
  const made = withValue(place, value, told === null ? `a sample of ${weakness?.name ?? ''}` : "the finding's attack");
  return {
    request: maskRequest({ ...made, headers: [...host, ...made.headers] }, parameter),
    origin: told === null ? 'sample' : 'evidence',
  };
}
