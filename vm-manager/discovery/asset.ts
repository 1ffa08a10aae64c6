// What discovery comes upon, and how it is named: the same host, service or API is one asset whoever names it.
import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';

export const assetKinds = ['host', 'service', 'api'] as const;
export const assetStates = ['new', 'known', 'ignored'] as const;
export const ownSources = ['traffic', 'site', 'certificate', 'specification', 'findings'] as const;
export const sources = [...ownSources, 'zone', 'nmap', 'seed'] as const;
export type Source = (typeof sources)[number];

export interface Sighting {
  readonly kind: (typeof assetKinds)[number];
  /** Small letters, ASCII. */
  readonly host: string;
  readonly port: number | null;
  readonly url: string | null;
  readonly source: Source;
  /** Where it was read. */
  readonly detail: string;
  readonly site: string | null;
  /** null: the source does not say whether others reach it. */
  readonly isExposed: boolean | null;
}

const label = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/;

/** The canonical name of a host, or an address; null: it is none. A wildcard names no host. */
export function hostOf(given: string): string | null {
  const text = given
    .trim()
    .replace(/\.$/, '')
    .replace(/^\[(.*)\]$/, '$1');
  if (text.length > 253 || /[\s/?#@:\\%]/.test(isIP(text) === 0 ? text : '')) return null;
  if (isIP(text) !== 0) return text.toLowerCase();
  const name = domainToASCII(text);
  if (name === '' || !name.split('.').every((one) => label.test(one))) return null;
  return /^\d+$/.test(name.split('.').at(-1) ?? '') ? null : name;
}

const inner4 = /^(?:0|10|127|169\.254|192\.168|172\.(?:1[6-9]|2\d|3[01])|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7]))\./;
/** Multicast, and what is kept for later. */
const beyond4 = /^2(?:2[4-9]|[3-5]\d)\./;
const isInner4 = (text: string): boolean => inner4.test(`${text}.`) || beyond4.test(`${text}.`);
const inner6 = /^(?:::1?$|f[cd]|fe[89ab]|ff|2001:0?db8:)/i;

/** Whether the address is one of the internet; null: it is no address. */
export function isPublicAddress(text: string): boolean | null {
  const version = isIP(text);
  if (version === 0) return null;
  if (version === 4) return !isInner4(text);
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(text)?.[1];
  return mapped === undefined ? !inner6.test(text) : !isInner4(mapped);
}

export const keyOf = ({ kind, host, port, url }: Sighting): string =>
  kind === 'api' ? `api ${url ?? host}` : kind === 'service' ? `service ${host}:${port ?? ''}` : `host ${host}`;

/** The name itself, and each domain that it is below. */
export function* upwards(host: string): Generator<string> {
  yield host;
  if (isIP(host) !== 0) return;
  for (let dot = host.indexOf('.'); dot >= 0; dot = host.indexOf('.', dot + 1)) yield host.slice(dot + 1);
}

/** Whether it is one of the seeds, or below one. */
export function isWithin(host: string, seeds: ReadonlySet<string>): boolean {
  if (seeds.size === 0) return true;
  for (const name of upwards(host)) if (seeds.has(name)) return true;
  return false;
}
