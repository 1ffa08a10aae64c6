// Encryption of backups in the age format (age-encryption.org/v1): users open them with `age` as well. With a recipient
// the server holds only the public half, so that whoever takes the server cannot read older backups.
import { Readable } from 'node:stream';
import { Decrypter, Encrypter, generateX25519Identity, identityToRecipient } from 'age-encryption';
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

function encrypter(lock: Lock): Encrypter {
  const made = new Encrypter();
  if ('passphrase' in lock) made.setPassphrase(lock.passphrase);
  else for (const recipient of lock.recipients) made.addRecipient(recipient);
  return made;
}

function decrypter(key: Key): Decrypter {
  const made = new Decrypter();
  if ('passphrase' in key) made.addPassphrase(key.passphrase);
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
