// Who stands behind a request, as far as a decision may rest on it. Two sorts of credentials are enough for that: a
// token whose signature site-auth verified names its subject, and any other credential is one only as a whole. A claim
// that nobody verified is never read here: whoever writes a token could name somebody else. So a verdict over a
// principal can be earned only with what its owner has, the key, the password, the cookie, or a token that is signed.
//
// Not told here: fields that differ with every request (Digest of RFC 7616, signatures), X-Forwarded-Client-Cert, which
// every client can write, and session cookies of requests that another site caused (Sec-Fetch-Site: cross-site), since
// a page of an attacker can have a browser send them.
//
// Ids are keyed hashes, the same on all nodes and, for keys, sessions and tokens without claims, those of discovery
// (observation/key.ts); no value is kept but in this memory of a worker:
// 2,048 credentials, of 8,192 characters at most, in two generations; those used longest ago are hashed again.
import type { GivenValues } from '#engine';
import { findField } from '../http/header-fields.js';
import { apiKeyFields, CredentialFields, isSessionName, keyedHash } from '../observation/credential.js';

export const principalKinds = ['jwt', 'bearer', 'basic', 'api_key', 'session'] as const;
export type PrincipalKind = (typeof principalKinds)[number];

/** `id`: 16 hexadecimal digits, the keyed hash of what names the principal. */
export interface PrincipalName {
  readonly kind: PrincipalKind;
  readonly id: string;
}

const credentialCharsMax = 8192;
const remembered = 1024;
/** Credentials a second that are hashed for counting; the requests of others are counted for their address alone. */
const newPerSecondMax = 2000;
/** Shorter ones are settings (`auth=true`), not secrets. */
const sessionCharsMin = 8;
const keyCharsMin = 4;
/** Credentials of one request that are compared with a list; hashing a new one takes 3 µs. */
const comparedMax = 64;

interface Written {
  readonly kind: PrincipalKind;
  readonly value: string;
}

/** What is a credential as a whole of an `Authorization` value (RFC 9110 section 11.4); null: nothing. */
function ofAuthorization(field: string): Written | null {
  const space = field.indexOf(' ');
  if (space < 1) return null;
  const scheme = field.slice(0, space).toLowerCase();
  const value = field.slice(space + 1).trim();
  if (value.length < keyCharsMin) return null;
  if (scheme === 'bearer') return { kind: 'bearer', value };
  if (scheme === 'basic') return { kind: 'basic', value };
  return scheme === 'apikey' || scheme === 'token' ? { kind: 'api_key', value } : null;
}

function ofApiKey(field: string): Written | null {
  const value = field.trim();
  return value.length < keyCharsMin ? null : { kind: 'api_key', value };
}

/** Each cookie that looks like a session's (RFC 6265 section 4.2), in order; `visit` answers whether to go on. */
function eachSession(field: string, visit: (written: Written) => boolean): boolean {
  for (const part of field.split(';')) {
    const equals = part.indexOf('=');
    if (equals < 1 || !isSessionName(part.slice(0, equals).trim().toLowerCase())) continue;
    const value = part.slice(equals + 1).trim();
    if (value.length < sessionCharsMin) continue;
    if (!visit({ kind: 'session', value: `${part.slice(0, equals).trim().toLowerCase()}=${value}` })) return false;
  }
  return true;
}

/** The subject of a token that was verified; null: none was, or it names nobody. */
function verifiedSubject(given: GivenValues): string | null {
  let issuer = '';
  let subject: string | null = null;
  let client: string | null = null;
  for (const [name, value] of given)
    if (name === 'auth_iss') issuer = value;
    else if (name === 'auth_sub') subject = value;
    else if (name === 'auth_client') client = value;
  if (subject !== null) return `${issuer}\0sub\0${subject}`;
  return client === null ? null : `${issuer}\0client_id\0${client}`;
}

export class Principals {
  private readonly fields = new CredentialFields();
  private young = new Map<string, PrincipalName>();
  private old = new Map<string, PrincipalName>();
  private second = 0;
  private made = 0;

  /** `key`: of the hashes, 32 bytes. */
  constructor(private readonly key: Uint8Array) {}

  /**
   * Whom a request is counted for: the subject of its verified token, else its first credential. null: nobody who could
   * be told from others. `given`: what site-auth told of it (auth_sub and others).
   */
  of(headers: readonly string[], given: GivenValues, nowMs: number): PrincipalName | null {
    const { fields } = this;
    fields.read(headers);
    const { authorization, apiKey, cookie } = fields;
    if (authorization === null && apiKey === null && cookie === null) return null;
    const written = this.firstOf(authorization, apiKey, cookie, given);
    if (written === null || written.value.length > credentialCharsMax) return null;
    if (written.kind === 'session' && findField(headers, 'sec-fetch-site') === 'cross-site') return null;
    return this.recall(written) ?? (this.maySpend(nowMs) ? this.name(written) : null);
  }

  private firstOf(
    authorization: string | null,
    apiKey: string | null,
    cookie: string | null,
    given: GivenValues,
  ): Written | null {
    const subject = given.length === 0 ? null : verifiedSubject(given);
    if (subject !== null) return { kind: 'jwt', value: subject };
    const own = authorization === null ? null : ofAuthorization(authorization);
    if (own !== null) return own;
    const keyed = apiKey === null ? null : ofApiKey(apiKey);
    if (keyed !== null || cookie === null) return keyed;
    let first: Written | null = null;
    eachSession(cookie, (written) => {
      first = written;
      return false;
    });
    return first;
  }

  /**
   * The first value of `listed` under any credential that a request carries: all of its fields, also those that stand
   * twice, and all of its cookies, since nobody knows which of them an application reads. undefined: none is listed.
   */
  find<T>(
    headers: readonly string[],
    given: GivenValues,
    listed: ReadonlyMap<string, T>,
  ): readonly [PrincipalName, T] | undefined {
    let left = comparedMax;
    let found: readonly [PrincipalName, T] | undefined;
    const compare = (written: Written | null): boolean => {
      if (written === null || written.value.length > credentialCharsMax) return true;
      if (left === 0) return false;
      left -= 1;
      const name = this.recall(written) ?? this.name(written);
      const value = listed.get(keyOf(name));
      if (value !== undefined) found = [name, value];
      return value === undefined;
    };
    const subject = given.length === 0 ? null : verifiedSubject(given);
    if (subject !== null && !compare({ kind: 'jwt', value: subject })) return found;
    for (let at = 0; at + 1 < headers.length; at += 2) {
      const field = (headers[at] as string).toLowerCase();
      const value = headers[at + 1] as string;
      let goesOn = true;
      if (field === 'authorization') goesOn = compare(ofAuthorization(value));
      else if (field === 'cookie') goesOn = eachSession(value, compare);
      else if (apiKeyFields.has(field)) goesOn = compare(ofApiKey(value));
      if (!goesOn) return found;
    }
    return found;
  }

  private recall({ kind, value }: Written): PrincipalName | undefined {
    const text = `${kind} ${value}`;
    const known = this.young.get(text);
    if (known !== undefined) return known;
    const before = this.old.get(text);
    if (before !== undefined) this.remember(text, before);
    return before;
  }

  private name({ kind, value }: Written): PrincipalName {
    const made = { kind, id: keyedHash(this.key, kind === 'basic' ? 'basic pair' : kind, value) };
    this.remember(`${kind} ${value}`, made);
    return made;
  }

  private remember(text: string, name: PrincipalName): void {
    if (this.young.size >= remembered) {
      this.old = this.young;
      this.young = new Map();
    }
    // A copy: a part of a string keeps the whole of it in memory, here the head of a request.
    this.young.set(Buffer.from(text, 'latin1').toString('latin1'), name);
  }

  private maySpend(nowMs: number): boolean {
    const second = Math.floor(nowMs / 1000);
    if (second !== this.second) {
      this.second = second;
      this.made = 0;
    }
    this.made += 1;
    return this.made <= newPerSecondMax;
  }
}

/** How lists have a principal: `jwt:0123456789abcdef`. No network is written like that. */
export const keyOf = ({ kind, id }: PrincipalName): string => `${kind}:${id}`;

/** null: not written as `keyOf` writes a principal. */
export function readKey(text: string): PrincipalName | null {
  const [kind = '', id = '', more] = text.split(':', 3);
  const known = principalKinds.find((one) => one === kind);
  return known === undefined || more !== undefined || !/^[0-9a-f]{16}$/.test(id) ? null : { kind: known, id };
}
