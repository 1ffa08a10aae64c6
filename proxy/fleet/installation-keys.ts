// Secrets and names that all nodes of an installation have in common, derived from the token between the two planes
// (HKDF-SHA256, RFC 5869). A node that has the token derives them itself. A node that enrolled gets the derived keys
// and never the token: nobody can compute the token from them, so a stolen node opens no other node's admin
// interface.
import { hkdfSync } from 'node:crypto';

/** Name of each key → its length in bytes. The name is part of the derivation: a new name is a new key. */
const keyBytes = {
  'rate keys': 8,
  'rate prefix': 8,
  certificates: 32,
  challenge: 32,
  observation: 32,
  simulation: 32,
} as const;
export type KeyName = keyof typeof keyBytes;
/** Every key in base64url, as an enrolled node stores it. */
export type KeyTable = Readonly<Record<KeyName, string>>;
export type InstallationKeys = (name: KeyName) => Buffer;

const names = Object.keys(keyBytes) as KeyName[];

export const keysOfToken =
  (token: string): InstallationKeys =>
  (name) =>
    Buffer.from(hkdfSync('sha256', token, '', `gatehouse ${name}`, keyBytes[name]));

/** What the control plane gives a node that enrols. */
export function keyTableOf(token: string): KeyTable {
  const keys = keysOfToken(token);
  return Object.fromEntries(names.map((name) => [name, keys(name).toString('base64url')])) as KeyTable;
}

/** Throws RangeError where a key is missing or has another length. */
export function keysOfTable(table: Readonly<Record<string, string>>): InstallationKeys {
  const keys = new Map(names.map((name) => [name, Buffer.from(table[name] ?? '', 'base64url')]));
  for (const [name, key] of keys)
    if (key.length !== keyBytes[name]) throw new RangeError(`the key "${name}" must have ${keyBytes[name]} bytes`);
  return (name) => keys.get(name) as Buffer;
}

export function seedsFor(keys: InstallationKeys): readonly [number, number] {
  const bytes = keys('rate keys');
  return [bytes.readUInt32LE(0), bytes.readUInt32LE(4)];
}

/** Nodes of one installation find each other's limits under it. */
export const sharingPrefix = (
  redis: { readonly prefix: string | null } | null | undefined,
  keys: InstallationKeys,
): string => redis?.prefix ?? `gatehouse:${keys('rate prefix').toString('hex')}`;
