// Secrets at rest: AES-256-GCM under keys derived (HKDF-SHA256) from one generated secret, one key per purpose. The
// place a secret belongs to is authenticated with it, so a ciphertext copied into another field does not open.
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';

export interface Sealing {
  /** `place` names where the secret lives, such as `settings:/auth_secret`. */
  seal(plain: string, place: string): string;
  /** Throws when the text was changed, moved to another place, or sealed under another secret. */
  open(sealed: string, place: string): string;
  isSealed(text: string): boolean;
  /** HMAC-SHA256 (hex) under a key of its own, for seals over public data such as the audit chain's end. */
  sign(text: string): string;
}

const prefix = 'sealed:v1:';

/** `secret` is SETTINGS_ENCRYPTION_SECRET (at least 32 characters). */
export function createSealing(secret: string): Sealing {
  const derive = (purpose: string): Buffer => Buffer.from(hkdfSync('sha256', secret, 'gatehouse', purpose, 32));
  const sealKey = derive('secrets at rest v1');
  const signKey = derive('seals v1');
  return {
    seal(plain, place) {
      const iv = randomBytes(12);
      const cipher = createCipheriv('aes-256-gcm', sealKey, iv).setAAD(Buffer.from(place));
      const body = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
      return prefix + Buffer.concat([iv, cipher.getAuthTag(), body]).toString('base64url');
    },
    open(sealed, place) {
      const bytes = Buffer.from(sealed.slice(prefix.length), 'base64url');
      if (!sealed.startsWith(prefix) || bytes.length < 28)
        throw new Error(`The secret at ${place} is damaged: set it again.`);
      try {
        const decipher = createDecipheriv('aes-256-gcm', sealKey, bytes.subarray(0, 12))
          .setAAD(Buffer.from(place))
          .setAuthTag(bytes.subarray(12, 28));
        return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString('utf8');
      } catch (cause) {
        throw new Error(
          `The secret at ${place} does not open: SETTINGS_ENCRYPTION_SECRET changed, ` +
            'or the stored text was altered or moved. Set it again.',
          { cause },
        );
      }
    },
    isSealed: (text) => text.startsWith(prefix),
    sign: (text) => createHmac('sha256', signKey).update(text).digest('hex'),
  };
}
