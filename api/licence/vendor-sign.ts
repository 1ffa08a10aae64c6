// For vendors, by `gatehouse licence`: makes a key pair, signs licences and managed feeds. No server needs it.
import { createPrivateKey, generateKeyPairSync, sign } from 'node:crypto';
import type { LicencePayload } from './key.js';

export interface KeyPair {
  readonly privateKey: string;
  readonly publicKey: string;
}

export function makeKeyPair(bits = 3072): KeyPair {
  return generateKeyPairSync('rsa', {
    modulusLength: bits,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
}

/** RSASSA-PKCS1-v1_5 with SHA-256 over the payload's JSON bytes. */
export function signLicence(payload: LicencePayload, privateKeyPem: string): string {
  const bytes = Buffer.from(JSON.stringify(payload));
  const signature = sign('sha256', bytes, createPrivateKey(privateKeyPem));
  return `GH1.${bytes.toString('base64url')}.${signature.toString('base64url')}`;
}

/** A managed feed (api/managed-feed/document.ts) as it is published: the same key, another prefix. */
export function signManagedFeed(document: string, privateKeyPem: string): string {
  const signed = `GHF1.${Buffer.from(document).toString('base64url')}`;
  const signature = sign('sha256', Buffer.from(signed, 'latin1'), createPrivateKey(privateKeyPem));
  return `${signed}.${signature.toString('base64url')}`;
}
