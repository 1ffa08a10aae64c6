// Keys of backups as the command line names them.
import type { Key, Lock } from '#api/main';
import { readNamed, Refusal, wrongUsage } from '../refusal.js';

export interface KeyOptions {
  readonly recipient?: string | undefined;
  readonly 'key-file'?: string | undefined;
  readonly 'passphrase-file'?: string | undefined;
}

const passphraseCharactersMin = 12;

function passphraseIn(file: string): string {
  const passphrase = readNamed(file)
    .toString('utf8')
    .replace(/\r?\n$/, '');
  if (passphrase.length < passphraseCharactersMin)
    throw new Refusal(`${file}: a passphrase needs at least ${passphraseCharactersMin} characters.`);
  return passphrase;
}

/** What seals; null where nothing is named. `fallback`: BACKUP_RECIPIENT. */
export function lockOf(options: KeyOptions, fallback: string): Lock | null {
  const file = options['passphrase-file'];
  if (file !== undefined && options.recipient !== undefined)
    throw wrongUsage('--recipient and --passphrase-file exclude each other; name one.');
  if (file !== undefined) return { passphrase: passphraseIn(file) };
  const recipients = (options.recipient ?? fallback).split(',').filter((one) => one !== '');
  return recipients.length === 0 ? null : { recipients };
}

/** What opens; null where nothing is named. */
export function keyOf(options: KeyOptions): Key | null {
  const [file, passphraseFile] = [options['key-file'], options['passphrase-file']];
  if (file !== undefined && passphraseFile !== undefined)
    throw wrongUsage('--key-file and --passphrase-file exclude each other; name one.');
  if (passphraseFile !== undefined) return { passphrase: passphraseIn(passphraseFile) };
  if (file === undefined) return null;
  const identity = /AGE-SECRET-KEY-1[0-9A-Z]+/.exec(readNamed(file).toString('utf8'))?.[0];
  if (identity === undefined)
    throw new Refusal(`${file}: no age secret key is in it. It is one line that begins with AGE-SECRET-KEY-1.`);
  return { identity };
}
