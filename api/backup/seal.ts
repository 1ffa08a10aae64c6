// Encryption of backups in the age format (age-encryption.org/v1): users open them with `age` as well. With a recipient
// the server holds only the public half, so that whoever takes the server cannot read older backups.
//
// Passphrases go by the scrypt of Node.js ("scrypt recipient stanza" of the format): it takes half a second on a
// thread of the pool, where that of the library holds the event loop for several.
import { createCipheriv, createDecipheriv, randomBytes, scrypt } from 'node:crypto';
import { Readable } from 'node:stream';
import {
  Decrypter,
  Encrypter,
  generateX25519Identity,
  identityToRecipient,
  Stanza,
  type Identity,
  type Recipient,
} from 'age-encryption';
import { BackupError } from './manifest.js';

/** Who can read what is sealed. */
export type Lock = { readonly recipients: readonly string[] } | { readonly passphrase: string };
/** What opens it. */
export type Key = { readonly identity: string } | { readonly passphrase: string };

const header = 'age-encryption.org/v1';

/** A new pair: the identity opens, the recipient seals. */
export async function createKey(): Promise<{ readonly identity: string; readonly recipient: string }> {
  const identity = await generateX25519Identity();
  return { identity, recipient: await identityToRecipient(identity) };
}

/** Whether a file begins like one that was sealed. */
export const looksSealed = (start: Buffer): boolean => start.toString('latin1').startsWith(header);

const scryptLabel = Buffer.from('age-encryption.org/v1/scrypt', 'latin1');
const cipher = 'chacha20-poly1305';
const [saltBytes, keyBytes, tagBytes, fileKeyBytes] = [16, 32, 16, 16];
/** Each key is used once, for one file key. */
const nonce = Buffer.alloc(12);
/** Logarithms of the cost: that of new backups, which `age` takes as well, and the largest that is tried. */
const [cost, costMax] = [18, 20];
const [blockSize, parallel] = [8, 1];

function keyOf(passphrase: string, salt: Uint8Array, costLog: number): Promise<Buffer> {
  const N = 2 ** costLog;
  const options = { N, r: blockSize, p: parallel, maxmem: 128 * blockSize * (N + 64) };
  return new Promise((resolve, reject) => {
    scrypt(passphrase, Buffer.concat([scryptLabel, salt]), keyBytes, options, (error, key) =>
      error === null ? resolve(key) : reject(error),
    );
  });
}

const toText = (bytes: Buffer): string => bytes.toString('base64').replaceAll('=', '');

/** Null unless it is exactly how bytes are written: base64 without padding. */
function fromText(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64');
  return toText(bytes) === text ? bytes : null;
}

/** Seals for whoever knows the passphrase. */
function recipientOf(passphrase: string): Recipient {
  return {
    async wrapFileKey(fileKey) {
      const salt = randomBytes(saltBytes);
      const sealing = createCipheriv(cipher, await keyOf(passphrase, salt, cost), nonce, { authTagLength: tagBytes });
      const body = Buffer.concat([sealing.update(fileKey), sealing.final(), sealing.getAuthTag()]);
      return [new Stanza(['scrypt', toText(salt), String(cost)], new Uint8Array(body))];
    },
  };
}

/** Opens what was sealed with the passphrase; finds no key where it was another. Rejects for a header that is wrong. */
function identityOf(passphrase: string): Identity {
  return {
    async unwrapFileKey(stanzas) {
      const [stanza] = stanzas.filter(({ args: [kind] }) => kind === 'scrypt');
      if (stanza === undefined) return null;
      if (stanzas.length !== 1) throw new Error('a passphrase is not the only recipient in the header');
      const [, saltText = '', costText = '', ...more] = stanza.args;
      const salt = fromText(saltText);
      if (salt?.length !== saltBytes || more.length > 0 || !/^[1-9]\d*$/.test(costText))
        throw new Error('the passphrase in the header is not written as it should be');
      if (Number(costText) > costMax) throw new Error('the work factor of the passphrase is too high');
      if (stanza.body.length !== fileKeyBytes + tagBytes) throw new Error('the sealed key has a wrong length');
      return openFileKey(stanza.body, await keyOf(passphrase, salt, Number(costText)));
    },
  };
}

function openFileKey(body: Uint8Array, key: Buffer): Uint8Array | null {
  const opening = createDecipheriv(cipher, key, nonce, { authTagLength: tagBytes });
  opening.setAuthTag(body.subarray(fileKeyBytes));
  const fileKey = opening.update(body.subarray(0, fileKeyBytes));
  try {
    opening.final();
    return new Uint8Array(fileKey);
  } catch {
    return null; // another passphrase
  }
}

function encrypter(lock: Lock): Encrypter {
  const made = new Encrypter();
  if ('passphrase' in lock) made.addRecipient(recipientOf(lock.passphrase));
  else for (const recipient of lock.recipients) made.addRecipient(recipient);
  return made;
}

function decrypter(key: Key): Decrypter {
  const made = new Decrypter();
  if ('passphrase' in key) made.addIdentity(identityOf(key.passphrase));
  else made.addIdentity(key.identity);
  return made;
}

/** Throws BackupError for a recipient that is none. */
export function checkLock(lock: Lock): void {
  try {
    encrypter(lock);
  } catch {
    throw new BackupError(
      'The recipient is not an age public key. It begins with age1; `gatehouse backup key` makes one.',
    );
  }
}

export const sealText = (text: string, lock: Lock): Promise<Uint8Array> => encrypter(lock).encrypt(text);

/** Throws BackupError where the key does not fit or the content was changed. */
export async function openSealed(bytes: Uint8Array, key: Key): Promise<string> {
  try {
    return await decrypter(key).decrypt(bytes, 'text');
  } catch (error) {
    throw wrongKey(error);
  }
}

export async function sealStream(plain: Readable, lock: Lock): Promise<Readable> {
  const web = Readable.toWeb(plain) as unknown as ReadableStream<Uint8Array>;
  return Readable.fromWeb(await encrypter(lock).encrypt(web));
}

export async function openStream(sealed: Readable, key: Key): Promise<Readable> {
  try {
    const web = Readable.toWeb(sealed) as unknown as ReadableStream<Uint8Array>;
    return Readable.fromWeb(await decrypter(key).decrypt(web));
  } catch (error) {
    throw wrongKey(error);
  }
}

/** The library repeats a key whose checksum is wrong: all of a real one but a letter. */
function wrongKey(error: unknown): BackupError {
  const reason = error instanceof Error ? error.message : String(error);
  return new BackupError(
    'The backup cannot be opened with this key or passphrase, or it was changed ' +
      `(${reason.replace(/AGE-SECRET-KEY\S*[^\s.,;)]/gi, 'the key')}).`,
  );
}
