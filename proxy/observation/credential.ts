// Who asks, as far as the request says it: the kind of credential, and a keyed hash of the one that it names. The hash
// stands for a person in records and findings; without the key nobody can try names against it.
import { createHmac } from 'node:crypto';

/** The order is that of the counters in observations: new kinds go to the end. */
export const credentialKinds = ['none', 'jwt', 'bearer', 'basic', 'api_key', 'session', 'mtls', 'other'] as const;
export type CredentialKind = (typeof credentialKinds)[number];

export interface Principal {
  readonly kind: CredentialKind;
  /** 16 hexadecimal digits; of a client without credentials, of its address. '': too many new ones at once. */
  readonly id: string;
  /** Keyed hash of the roles that its token claims; absent: none. They are not verified here. */
  readonly role?: string;
}

/** Of each kind of source, in each of two generations. */
const remembered = 2048;
/** New principals a second that are hashed; beyond it only their kind is known. */
const newPerSecondMax = 2000;
const credentialCharsMax = 8192;

/** The keyed hash of a value: 64 bits of HMAC-SHA-256 (RFC 2104), in hexadecimal. */
export function keyedHash(key: Uint8Array, what: string, value: string): string {
  return createHmac('sha256', key).update(`${what}\0${value}`, 'latin1').digest('hex').slice(0, 16);
}

/** The claims of a JWT that was not verified here: whom it names, not whether that is true. null: it is none. */
export function jwtSubject(token: string): string | null {
  const first = token.indexOf('.');
  const second = token.indexOf('.', first + 1);
  if (first < 4 || second < 0 || !token.startsWith('eyJ')) return null;
  const claims = parseObject(Buffer.from(token.slice(first + 1, second), 'base64url').toString('utf8'));
  if (claims === null) return null;
  const issuer = typeof claims['iss'] === 'string' ? claims['iss'] : '';
  for (const name of ['sub', 'user_id', 'uid', 'client_id', 'email']) {
    const subject = claims[name];
    if (typeof subject === 'string' || typeof subject === 'number') return `${issuer}\0${name}\0${subject}`;
  }
  return token;
}

const roleClaims = [
  'role',
  'roles',
  'groups',
  'authorities',
  'permissions',
  'is_admin',
  'isAdmin',
  'user_type',
] as const;

/** The roles that a JWT claims, in one order (also those of Keycloak's `realm_access`); '': none. */
export function jwtRoles(token: string): string {
  const first = token.indexOf('.');
  const second = token.indexOf('.', first + 1);
  if (first < 4 || second < 0 || !token.startsWith('eyJ')) return '';
  const claims = parseObject(Buffer.from(token.slice(first + 1, second), 'base64url').toString('utf8'));
  if (claims === null) return '';
  const named: string[] = [];
  for (const name of roleClaims) named.push(...rolesOf(name, claims[name]));
  const realm = claims['realm_access'];
  if (typeof realm === 'object' && realm !== null && 'roles' in realm) named.push(...rolesOf('roles', realm.roles));
  return named.toSorted().join('\0').slice(0, 2000);
}

const rolesOf = (name: string, claim: unknown): string[] =>
  (Array.isArray(claim) ? claim.slice(0, 50) : [claim]).flatMap((one: unknown) =>
    typeof one === 'string' || typeof one === 'boolean' ? [`${name}=${one}`] : [],
  );

function parseObject(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return null;
  }
}

/** The kind of an `Authorization` value (RFC 9110 section 11.4), and what names its owner. */
export function readAuthorization(value: string): { readonly kind: CredentialKind; readonly subject: string } {
  const space = value.indexOf(' ');
  const scheme = (space < 0 ? value : value.slice(0, space)).toLowerCase();
  const rest = space < 0 ? '' : value.slice(space + 1).trim();
  if (scheme === 'bearer') {
    const subject = jwtSubject(rest);
    return subject === null ? { kind: 'bearer', subject: rest } : { kind: 'jwt', subject };
  }
  if (scheme === 'basic') {
    const pair = Buffer.from(rest, 'base64').toString('latin1');
    const colon = pair.indexOf(':');
    return { kind: 'basic', subject: colon < 0 ? pair : pair.slice(0, colon) };
  }
  if (scheme === 'apikey' || scheme === 'token') return { kind: 'api_key', subject: rest };
  return { kind: 'other', subject: value };
}

/** The cookie that carries a session, of a `Cookie` value (RFC 6265 section 4.2); null: none looks like one. */
export function sessionCookie(value: string): string | null {
  for (const part of value.split(';')) {
    const equals = part.indexOf('=');
    if (equals < 1) continue;
    const name = part.slice(0, equals).trim().toLowerCase();
    if (isSessionName(name)) return `${name}=${part.slice(equals + 1).trim()}`;
  }
  return null;
}

const sessionWords = ['sess', 'auth', 'token', 'jwt', 'remember'] as const;
/** Whether a cookie of this name, in lower case, looks like a session's. */
export const isSessionName = (name: string): boolean =>
  !(name.includes('csrf') || name.includes('xsrf')) &&
  (name.endsWith('sid') || name.startsWith('sid') || sessionWords.some((word) => name.includes(word)));

function readCookie(value: string): { readonly kind: CredentialKind; readonly subject: string } | null {
  const cookie = sessionCookie(value);
  if (cookie === null) return null;
  const token = cookie.slice(cookie.indexOf('=') + 1);
  return { kind: 'session', subject: jwtSubject(token) ?? cookie };
}

/** Fields, in lower case, that carry an API key. */
export const apiKeyFields: ReadonlySet<string> = new Set([
  'x-api-key',
  'apikey',
  'api-key',
  'x-auth-token',
  'x-access-token',
]);

/** Where the credential of a request stands; nulls: it has none. Flat header lists, as they came. */
export class CredentialFields {
  authorization: string | null = null;
  apiKey: string | null = null;
  cookie: string | null = null;
  contentType: string | null = null;
  /** X-Forwarded-Client-Cert, as Envoy writes it behind mutual TLS. */
  clientCertificate: string | null = null;

  read(headers: readonly string[]): void {
    this.authorization = null;
    this.apiKey = null;
    this.cookie = null;
    this.contentType = null;
    this.clientCertificate = null;
    for (let at = 0; at + 1 < headers.length; at += 2) this.readField(headers[at] as string, headers[at + 1] as string);
  }

  private readField(name: string, value: string): void {
    switch (name.length) {
      case 6:
      case 7:
      case 8:
      case 9:
      case 12:
      case 13:
      case 14:
      case 23: {
        const lower = name.toLowerCase();
        if (lower === 'authorization') this.authorization ??= value;
        else if (lower === 'cookie') this.cookie ??= value;
        else if (lower === 'content-type') this.contentType ??= value;
        else if (lower === 'x-forwarded-client-cert') this.clientCertificate ??= value;
        else if (apiKeyFields.has(lower)) this.apiKey ??= value;
      }
    }
  }
}

/** Remembers who stands behind a credential, so that one that comes again is not hashed again. */
export class Principals {
  private readonly caches = [new Recent(), new Recent(), new Recent(), new Recent()] as const;
  private readonly fields = new CredentialFields();
  private second = 0;
  private made = 0;

  constructor(private readonly key: Uint8Array) {}

  /** `fields` are read already. */
  of(fields: CredentialFields, clientIp: string, nowMs: number): Principal {
    const [authorizations, keys, cookies, addresses] = this.caches;
    const { authorization, apiKey, cookie, clientCertificate } = fields;
    if (authorization !== null && authorization !== '')
      return this.recall(authorizations, authorization, nowMs, readAuthorization);
    if (apiKey !== null && apiKey !== '') return this.recall(keys, apiKey, nowMs, ofApiKey);
    if (cookie !== null) {
      const principal = this.recall(cookies, cookie, nowMs, readCookie);
      if (principal.kind !== 'none') return principal;
    }
    if (clientCertificate !== null) return this.recall(keys, clientCertificate, nowMs, ofCertificate);
    return this.recall(addresses, clientIp, nowMs, ofAddress);
  }

  /** The same of a header list. */
  ofHeaders(headers: readonly string[], clientIp: string, nowMs: number): Principal {
    this.fields.read(headers);
    return this.of(this.fields, clientIp, nowMs);
  }

  private recall(
    cache: Recent,
    given: string,
    nowMs: number,
    read: (value: string) => { readonly kind: CredentialKind; readonly subject: string } | null,
  ): Principal {
    const known = cache.get(given);
    if (known !== undefined) return known;
    const value = given.length > credentialCharsMax ? given.slice(0, credentialCharsMax) : given;
    const found = read(value);
    if (!this.maySpend(nowMs)) return found === null ? nobody : (unnamed[found.kind] as Principal);
    const principal = found === null ? nobody : this.make(found, value);
    cache.set(value, principal);
    return principal;
  }

  private make(
    { kind, subject }: { readonly kind: CredentialKind; readonly subject: string },
    value: string,
  ): Principal {
    const id = keyedHash(this.key, kind, subject);
    const from = value.indexOf('eyJ');
    const roles = from < 0 ? '' : jwtRoles(value.slice(from));
    return roles === '' ? { kind, id } : { kind, id, role: keyedHash(this.key, 'role', roles) };
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

const ofApiKey = (subject: string) => ({ kind: 'api_key', subject }) as const;
const ofCertificate = (value: string) => ({ kind: 'mtls', subject: certificateSubject(value) }) as const;
const ofAddress = (subject: string) => ({ kind: 'none', subject }) as const;
const nobody: Principal = { kind: 'none', id: '' };
const unnamed: Readonly<Record<string, Principal>> = Object.fromEntries(
  credentialKinds.map((kind) => [kind, { kind, id: '' }]),
);

/** The identity in an XFCC value: its first URI, else its subject, else its hash (Envoy, X-Forwarded-Client-Cert). */
export function certificateSubject(value: string): string {
  const found = /(?:^|[;,])\s*URI=([^;,]+)/i.exec(value) ?? /(?:^|[;,])\s*Subject="?([^;"]+)/i.exec(value);
  return (found?.[1] ?? value).trim();
}

/** The entries used last, in two generations: none is kept longer than twice its size allows. */
class Recent {
  private young = new Map<string, Principal>();
  private old = new Map<string, Principal>();

  get(key: string): Principal | undefined {
    const known = this.young.get(key);
    if (known !== undefined) return known;
    const before = this.old.get(key);
    if (before !== undefined) this.set(key, before);
    return before;
  }

  set(key: string, principal: Principal): void {
    if (this.young.size >= remembered) {
      this.old = this.young;
      this.young = new Map();
    }
    // A copy: a part of a string keeps the whole of it in memory, here the head of a request.
    this.young.set(Buffer.from(key, 'latin1').toString('latin1'), principal);
  }
}
