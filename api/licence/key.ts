// Licence keys: `GH1.<payload>.<signature>`, payload and signature in base64url, RSA PKCS#1 v1.5 with SHA-256 over the
// payload's bytes. Verified offline; the product carries a public key and nothing else.
import { createPublicKey, verify } from 'node:crypto';
import { Type, type Static } from '@sinclair/typebox';
import { Ajv } from 'ajv';

export const LicencePayload = Type.Object(
  {
    customer: Type.String({ minLength: 1, maxLength: 200 }),
    max_domains: Type.Integer({ minimum: 1, maximum: 1_000_000 }),
    issued: Type.String({ maxLength: 40 }),
    expires: Type.Union([Type.String({ maxLength: 40 }), Type.Null()]),
    edition: Type.String({ minLength: 1, maxLength: 100 }),
  },
  { additionalProperties: false },
);
export type LicencePayload = Static<typeof LicencePayload>;

const trialDomains = 1;
const rsaBitsMin = 2048;

/** The four states of the specification. */
export type LicenceState = 'trial' | 'valid' | 'expired' | 'forged';

export type ReadLicence =
  | { readonly kind: 'genuine'; readonly payload: LicencePayload }
  | { readonly kind: 'forged'; readonly reason: string };

const fits = new Ajv({ strict: false }).compile(LicencePayload);

/** Never throws on a key's content; throws when `publicKeyPem` is not an RSA key of at least 2048 bits. */
export function readLicence(key: string, publicKeyPem: string | null): ReadLicence {
  const forged = (reason: string): ReadLicence => ({ kind: 'forged', reason });
  if (publicKeyPem === null) return forged('this build carries no vendor key, so no licence can be verified');
  const publicKey = createPublicKey(publicKeyPem);
  if (publicKey.asymmetricKeyType !== 'rsa' || (publicKey.asymmetricKeyDetails?.modulusLength ?? 0) < rsaBitsMin)
    throw new Error(`the vendor key must be RSA with at least ${rsaBitsMin} bits`);
  const [, payloadText, signatureText] =
    // programs for mail and terminals wrap it
    /^GH1\.([A-Za-z0-9_-]{10,4096})\.([A-Za-z0-9_-]{100,2048})$/.exec(key.replace(/\s+/g, '')) ?? [];
  if (payloadText === undefined || signatureText === undefined) return forged('it is not a licence key');
  const payload = Buffer.from(payloadText, 'base64url');
  if (!verify('sha256', payload, publicKey, Buffer.from(signatureText, 'base64url')))
    return forged('its signature is not ours');
  let content: unknown;
  try {
    content = JSON.parse(payload.toString('utf8'));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return forged('its content cannot be read');
  }
  if (!fits(content)) return forged('its content is not a licence');
  const licence = content;
  if (
    Number.isNaN(Date.parse(licence.issued)) ||
    (licence.expires !== null && Number.isNaN(Date.parse(licence.expires)))
  )
    return forged('its dates cannot be read');
  return { kind: 'genuine', payload: licence };
}

export interface LicenceStatus {
  readonly state: LicenceState;
  /** Sites that may be configured; the limit for ADDING. What is configured already keeps running. */
  readonly allowed: number;
  readonly payload: LicencePayload | null;
  readonly reason: string;
}

/** The state of a stored key (null: none was ever activated) at `nowMs`. */
export function judgeLicence(key: string | null, publicKeyPem: string | null, nowMs: number): LicenceStatus {
  if (key === null)
    return { state: 'trial', allowed: trialDomains, payload: null, reason: 'no licence key was activated' };
  const read = readLicence(key, publicKeyPem);
  if (read.kind === 'forged') return { state: 'forged', allowed: trialDomains, payload: null, reason: read.reason };
  const { payload } = read;
  if (payload.expires !== null && Date.parse(payload.expires) <= nowMs)
    return {
      state: 'expired',
      allowed: trialDomains,
      payload,
      reason: `the licence ended on ${payload.expires}; configured sites stay protected, new ones need a new licence`,
    };
  return { state: 'valid', allowed: payload.max_domains, payload, reason: '' };
}

/** Null when the change of sites is within the allowance, else why not. Removing and changing are always allowed. */
export function refuseSites(before: readonly string[], after: readonly string[], status: LicenceStatus): string | null {
  const known = new Set(before);
  const added = after.filter((identity) => !known.has(identity));
  if (added.length === 0 || after.length <= status.allowed) return null;
  const allowed = `${status.allowed} ${status.allowed === 1 ? 'site' : 'sites'}`;
  const names = `${added.slice(0, 3).join(', ')}${added.length > 3 ? ' …' : ''}`;
  return `The licence (${status.state}) allows ${allowed}; this would make ${after.length}, adding ${names}.`;
}
