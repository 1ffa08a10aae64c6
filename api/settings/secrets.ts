// Secrets inside settings: sealed in what is stored, eight asterisks in what is read, plain only for the code that uses
// them. Which fields are secret is the schema's word (`x-secret`), so a new secret cannot be forgotten here. What is a
// credential only in part (URLs, `x-url`) or only by its name (`x-named-secrets`) is stored as it is and hidden from
// every reader; sent back as it was shown, it keeps its value.
import { ApiError } from '../http-kit/problem.js';
import type { ProblemField } from '../http-kit/problem.js';
import type { Sealing } from '../auth/sealing.js';
import { keptSecret, SettingsSchema, type Settings } from '#settings';
import { maskUrl, type UrlKind } from './url-credentials.js';

interface SecretPlace {
  readonly list: string | null;
  readonly field: string;
}

/** Top-level secrets and secrets of named list elements, found in the schema. */
export const secretPlaces: readonly SecretPlace[] = Object.entries(SettingsSchema.properties).flatMap(
  ([name, schema]): SecretPlace[] => {
    if (isSecret(schema)) return [{ list: null, field: name }];
    const members = (schema as { items?: { properties?: Record<string, unknown> } }).items?.properties ?? {};
    return Object.entries(members).flatMap(([member, inner]) =>
      isSecret(inner) ? [{ list: name, field: member }] : [],
    );
  },
);

function isSecret(schema: unknown): boolean {
  return (schema as Record<string, unknown>)['x-secret'] === true;
}

type Loose = Record<string, unknown>;

/** Every secret of a settings object: its place (stable under reordering) and the object that holds it. */
function* secretsOf(settings: Settings): Generator<{ place: string; pointer: string; holder: Loose; field: string }> {
  for (const { list, field } of secretPlaces) {
    if (list === null) yield { place: `settings:/${field}`, pointer: `/${field}`, holder: settings, field };
    else
      for (const [index, item] of ((settings as unknown as Loose)[list] as Loose[]).entries())
        yield {
          place: `settings:/${list}/${String(item['name'])}/${field}`,
          pointer: `/${list}/${index}/${field}`,
          holder: item,
          field,
        };
  }
}

type Hide = (value: string) => string;

interface PartlyHidden {
  readonly list: string | null;
  readonly field: string;
  readonly hide: Hide;
}

/** Fields of which readers see a part, found in the schema. */
const partlyHidden = Object.entries(SettingsSchema.properties).flatMap(([name, schema]): PartlyHidden[] => {
  const kind = urlKindOf(schema);
  if (kind !== null) return [{ list: null, field: name, hide: (url) => maskUrl(url, kind) }];
  const members = (schema as { items?: { properties?: Record<string, unknown> } }).items?.properties ?? {};
  return Object.entries(members).flatMap(([field, inner]): PartlyHidden[] => {
    const memberKind = urlKindOf(inner);
    return memberKind === null ? [] : [{ list: name, field, hide: (url) => maskUrl(url, memberKind) }];
  });
});

/** Records whose members are secret by their names, or URLs, in lists of named things. */
const namedSecrets = Object.entries(SettingsSchema.properties).flatMap(([list, schema]) => {
  const members = (schema as { items?: { properties?: Record<string, Loose> } }).items?.properties ?? {};
  return Object.entries(members).flatMap(([field, inner]) =>
    inner['x-named-secrets'] === true ? [{ list, field }] : [],
  );
});
const secretMember = /token|secret|key|pass|pwd|auth|sign|credential|cookie|sas|cert|bearer|jwt|hmac|header|dsn/;

function urlKindOf(schema: unknown): UrlKind | null {
  return ((schema as Loose)['x-url'] as UrlKind | undefined) ?? null;
}

/** Every text of which readers see a part: its place, the object that holds it, and how it is hidden. */
function* partlyHiddenOf(
  settings: Settings,
): Generator<{ place: string; pointer: string; holder: Loose; field: string; hide: Hide }> {
  const loose = settings as unknown as Loose;
  for (const { list, field, hide } of partlyHidden) {
    if (list === null) yield { place: `/${field}`, pointer: `/${field}`, holder: loose, field, hide };
    else
      for (const [index, item] of (loose[list] as Loose[]).entries()) {
        const place = `/${list}/${String(item['name'])}/${field}`;
        yield { place, pointer: `/${list}/${index}/${field}`, holder: item, field, hide };
      }
  }
  for (const { list, field } of namedSecrets)
    for (const [index, item] of (loose[list] as Loose[]).entries())
      for (const member of Object.keys(item[field] as Loose)) {
        const hide: Hide = secretMember.test(member) ? () => keptSecret : (text) => maskUrl(text, 'keyed');
        const place = `/${list}/${String(item['name'])}/${field}/${member}`;
        const pointer = `/${list}/${index}/${field}/${member}`;
        yield { place, pointer, holder: item[field] as Loose, field: member, hide };
      }
}

/** What readers get: a copy with every stored secret as eight asterisks, and every URL without its credentials. */
export function hideSecrets(settings: Settings): Settings {
  const copy = structuredClone(settings);
  for (const { holder, field } of secretsOf(copy)) if (holder[field] !== null) holder[field] = keptSecret;
  for (const { holder, field, hide } of partlyHiddenOf(copy)) holder[field] = hide(holder[field] as string);
  return copy;
}

/** Puts back what was sent as it had been shown. What has asterisks otherwise says nothing that could be kept. */
function keepHidden(copy: Settings, stored: Settings | null): ProblemField[] {
  const before = new Map<string, string>();
  if (stored !== null)
    for (const { place, holder, field } of partlyHiddenOf(stored)) before.set(place, holder[field] as string);
  const problems: ProblemField[] = [];
  for (const { place, pointer, holder, field, hide } of partlyHiddenOf(copy)) {
    const value = holder[field] as string;
    if (!value.includes(keptSecret)) continue;
    const kept = before.get(place);
    if (kept !== undefined && (value === hide(kept) || value === kept)) holder[field] = kept;
    else
      problems.push({
        path: pointer,
        reason: 'asterisks stand for what is stored, and they keep it only where nothing around them is changed',
        fix: 'write the whole value',
      });
  }
  return problems;
}

/** Where a secret is sent: the member that names the receiver, beside it, or of the settings. */
const receivers: Readonly<Record<string, string>> = {
  '/vm_model_key': 'vm_model_url',
  '/sso_client_secret': 'sso_issuer',
  'siem_connectors/token': 'target',
  'otel_headers/value': 'otel_endpoint',
};
/** Those that travel in a header, which takes no line break. */
const headerValue = /^[^\u0000-\u0008\u000a-\u001f\u007f]*$/;

/** Scheme, host and port; the text itself where it is no URL. */
function originOf(address: unknown): string {
  const text = typeof address === 'string' ? address : '';
  if (!URL.canParse(text)) return text;
  const { protocol, host } = new URL(text);
  return `${protocol}//${host}`;
}

/** Microsoft Sentinel: the secret goes to where one logs in, and what one gets for it to the target. */
const loginOf = ({ options }: Loose): string[] => {
  const { login_url: login = '' } = (options ?? {}) as { readonly login_url?: string };
  return login === '' ? [] : [originOf(login)];
};

/** Of every secret that is sent somewhere, by its place: where to. */
function receiversOf(settings: Settings): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const { place, holder, field } of secretsOf(settings)) {
    const list = place.split('/').length > 2 ? (place.split('/')[1] ?? '') : '';
    const receiver = receivers[`${list}/${field}`];
    if (receiver !== undefined)
      found.set(
        place,
        [originOf(holder[receiver] ?? (settings as unknown as Loose)[receiver]), ...loginOf(holder)].join(', '),
      );
  }
  return found;
}

/** A key of HS256 is at least as long as the hash: RFC 7518, 3.2. What was stored before stays. */
const signingKeyBytesMin = 32;

/** Nothing is sent where there is no address. */
const isElsewhere = (was: string | undefined, is: string | undefined): boolean =>
  was !== undefined && is !== undefined && is !== '' && was !== is;

/**
 * What is stored: new secrets sealed, asterisks replaced by the ciphertext stored before. Throws when there is none.
 */
export function sealSecrets(settings: Settings, stored: Settings | null, sealing: Sealing): Settings {
  const copy = structuredClone(settings);
  const before = new Map<string, unknown>();
  if (stored !== null) for (const { place, holder, field } of secretsOf(stored)) before.set(place, holder[field]);
  const problems: ProblemField[] = keepHidden(copy, stored);
  const [were, are] = [stored === null ? new Map<string, string>() : receiversOf(stored), receiversOf(copy)];
  for (const { place, pointer, holder, field } of secretsOf(copy)) {
    const value = holder[field];
    if (typeof value !== 'string') continue; // null: none
    const kept = before.get(place);
    if (value === keptSecret && typeof kept !== 'string')
      problems.push({ path: pointer, reason: 'eight asterisks keep the stored secret, and none is stored' });
    else if (value === keptSecret && isElsewhere(were.get(place), are.get(place)))
      // whoever may write an address must not read by it a secret that nobody is shown
      problems.push({
        path: pointer,
        reason: `is needed again: it was given for ${were.get(place) || 'no address'} and is sent nowhere else`,
        fix: 'write it beside the new address, or null',
      });
    else if (sealing.isSealed(value)) problems.push({ path: pointer, reason: 'must be the secret itself' });
    else if (value === keptSecret) holder[field] = kept;
    else if (are.has(place) && !headerValue.test(value))
      problems.push({ path: pointer, reason: 'has a line break or another control character', fix: 'leave it out' });
    else if (pointer === '/auth_secret' && value !== '' && Buffer.byteLength(value) < signingKeyBytesMin)
      problems.push({
        path: pointer,
        reason: `is shorter than ${signingKeyBytesMin} bytes: it can be guessed from any token (RFC 7518, 3.2)`,
        fix: 'make one with: openssl rand -base64 48',
      });
    else holder[field] = sealing.seal(value, place);
  }
  if (problems.length > 0) throw new ApiError('settings_impossible', 'A secret cannot be kept.', { errors: problems });
  return copy;
}

/** Whether a place of the settings, as a difference names it, is hidden from readers in whole or in part. */
export function isHiddenPlace(path: string): boolean {
  const [, first = '', , member = '', ...deeper] = path.split('/');
  if (
    [...secretPlaces, ...partlyHidden].some(
      ({ list, field }) => (list ?? field) === first && (list === null || field === member),
    )
  )
    return true;
  return namedSecrets.some(({ list, field }) => list === first && field === member && deeper.length > 0);
}

/** The settings as the code that uses them needs them. Throws when a secret does not open. */
export function revealSecrets(stored: Settings, sealing: Sealing): Settings {
  const copy = structuredClone(stored);
  for (const { place, holder, field } of secretsOf(copy))
    if (typeof holder[field] === 'string') holder[field] = sealing.open(holder[field], place);
  return copy;
}
