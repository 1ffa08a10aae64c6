// For vendors, on a machine of their own: makes a key pair, signs licences and managed feeds. The product never needs
// this file.
//   node build/api/licence/vendor-sign.js keygen --out DIRECTORY
//   node build/api/licence/vendor-sign.js sign --key private.pem --customer NAME --max-domains N
//     [--expires YYYY-MM-DD] [--edition NAME]
//   node build/api/licence/vendor-sign.js sign-feed --key private.pem --feed FILE.json > feed.ghf
import { createPrivateKey, generateKeyPairSync, sign } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { fileURLToPath } from 'node:url';
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

const usage =
  'vendor-sign keygen --out DIRECTORY | sign-feed --key private.pem --feed FILE.json | ' +
  'sign --key private.pem --customer NAME --max-domains N [--expires YYYY-MM-DD] [--edition NAME]';

async function main(argv: readonly string[], nowMs: number): Promise<string> {
  const { values, positionals } = parseArgs({
    args: [...argv],
    allowPositionals: true,
    options: {
      out: { type: 'string' },
      key: { type: 'string' },
      feed: { type: 'string' },
      customer: { type: 'string' },
      'max-domains': { type: 'string' },
      expires: { type: 'string' },
      edition: { type: 'string' },
    },
  });
  if (positionals[0] === 'keygen' && values.out !== undefined) {
    const pair = makeKeyPair();
    await mkdir(values.out, { recursive: true, mode: 0o700 });
    await writeFile(join(values.out, 'private.pem'), pair.privateKey, { mode: 0o600, flag: 'wx' });
    await writeFile(join(values.out, 'public.pem'), pair.publicKey, { flag: 'wx' });
    return (
      `Keep ${join(values.out, 'private.pem')} away from the product. ` +
      'Put the text of public.pem into api/licence/vendor-key.ts.'
    );
  }
  if (positionals[0] === 'sign-feed' && values.key !== undefined && values.feed !== undefined)
    return signManagedFeed(await readFile(values.feed, 'utf8'), await readFile(values.key, 'utf8'));
  const maxDomains = Number(values['max-domains']);
  if (
    positionals[0] === 'sign' &&
    values.key !== undefined &&
    values.customer !== undefined &&
    Number.isInteger(maxDomains) &&
    maxDomains > 0
  ) {
    const expires = values.expires === undefined ? null : new Date(values.expires).toISOString();
    return signLicence(
      {
        customer: values.customer,
        max_domains: maxDomains,
        issued: new Date(nowMs).toISOString(),
        expires,
        edition: values.edition ?? 'standard',
      },
      await readFile(values.key, 'utf8'),
    );
  }
  throw new Error(usage);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  main(process.argv.slice(2), Date.now()).then(
    (text) => process.stdout.write(`${text}\n`),
    (error: unknown) => {
      process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
      process.exitCode = 1;
    },
  );
}
