// `gatehouse licence`: keys and licences for whoever distributes builds, also for one's own installation only.
import { chmodSync, copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  judgeLicence,
  makeKeyPair,
  readLicence,
  signLicence,
  signManagedFeed,
  vendorPublicKey,
  type LicencePayload,
} from '#api/main';
import { parseOptions } from '../command-line.js';
import { root, shown } from '../environment/directories.js';
import { readNamed, Refusal, withFiles, wrongUsage } from '../refusal.js';

const options = {
  out: { type: 'string' },
  key: { type: 'string' },
  feed: { type: 'string' },
  customer: { type: 'string' },
  'max-domains': { type: 'string' },
  expires: { type: 'string' },
  edition: { type: 'string' },
  'public-key': { type: 'string' },
} as const;
type Asked = { readonly [K in keyof typeof options]?: string | undefined };

/** Where a build looks for the public key by itself. */
const publicKeyOfBuild = join(root, 'licence-public-key.pem');

/** Throws Refusal for wrong words, files that cannot be used, and a licence that does not verify. */
export async function runLicence(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseOptions({ args: [...args], allowPositionals: true, options });
  const [action, ...rest] = positionals;
  if (action === 'keygen' && rest.length === 0) return keygen(values);
  if (action === 'issue' && rest.length === 0) return issue(values);
  if (action === 'show' && rest.length === 1) return show(rest[0] ?? '', values);
  if (action === 'sign-feed' && rest.length === 0) return signFeed(values);
  throw wrongUsage('licence takes "keygen", "issue", "show FILE|KEY|-" or "sign-feed".');
}

function given(asked: Asked, name: keyof Asked, example: string): string {
  const value = asked[name];
  if (value === undefined || value.trim() === '') throw wrongUsage(`--${name} is missing, for example ${example}.`);
  return value;
}

function keygen(asked: Asked): number {
  const directory = given(asked, 'out', '--out ~/gatehouse-vendor');
  const [secret, open] = [join(directory, 'private.pem'), join(directory, 'public.pem')];
  for (const file of [secret, open])
    if (existsSync(file)) throw new Refusal(`${file} is there already; another pair needs another directory.`);
  const pair = makeKeyPair();
  withFiles(() => {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    writeFileSync(secret, pair.privateKey, { mode: 0o600, flag: 'wx' });
    chmodSync(secret, 0o600);
    writeFileSync(open, pair.publicKey, { flag: 'wx' });
  });
  const isTaken = !existsSync(publicKeyOfBuild);
  if (isTaken) withFiles(() => copyFileSync(open, publicKeyOfBuild));
  console.log(
    `${secret}   the private key: keep it away from machines that serve\n` +
      `${open}   the public key` +
      (isTaken
        ? `, copied to ${shown(publicKeyOfBuild)}, which the next build (make run) takes`
        : `; ${shown(publicKeyOfBuild)} holds another one: replace it, or set LICENCE_PUBLIC_KEY, and build`),
  );
  return 0;
}

function issue(asked: Asked): number {
  const file = given(asked, 'key', '--key private.pem');
  const customer = given(asked, 'customer', '--customer "Example Ltd"').trim();
  const domains = given(asked, 'max-domains', '--max-domains 5');
  if (!/^[1-9]\d{0,6}$/.test(domains) || Number(domains) > 1_000_000)
    throw wrongUsage(`--max-domains takes a whole number from 1 to 1000000; "${domains}" is none.`);
  if (customer.length > 200) throw wrongUsage('--customer takes at most 200 characters.');
  const payload: LicencePayload = {
    customer,
    max_domains: Number(domains),
    issued: new Date().toISOString(),
    expires: expiryOf(asked.expires),
    edition: asked.edition?.trim() || 'standard',
  };
  console.log(signWith(file, (key) => signLicence(payload, key)));
  return 0;
}

/** The end of the day that is named, in UTC. */
function expiryOf(text: string | undefined): string | null {
  if (text === undefined) return null;
  const at = new Date(`${text}T23:59:59Z`);
  if (!/^\d{4}-\d\d-\d\d$/.test(text) || Number.isNaN(at.getTime()) || at.toISOString().slice(0, 10) !== text)
    throw wrongUsage(`--expires takes a day such as 2027-12-31; "${text}" is none.`);
  if (at.getTime() < Date.now()) throw wrongUsage(`--expires ${text} has passed: the licence would have ended.`);
  return at.toISOString();
}

function signWith(file: string, sign: (key: string) => string): string {
  const key = readNamed(file).toString('utf8');
  if (!key.includes('PRIVATE KEY'))
    throw new Refusal(`${file} is no private key in PEM; \`licence keygen\` makes one.`);
  try {
    return sign(key);
  } catch (error) {
    throw new Refusal(`${file} cannot sign: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function signFeed(asked: Asked): number {
  const feed = readNamed(given(asked, 'feed', '--feed feed.json')).toString('utf8');
  console.log(signWith(given(asked, 'key', '--key private.pem'), (key) => signManagedFeed(feed, key)));
  return 0;
}

function show(named: string, asked: Asked): number {
  const text = named.startsWith('GH1.') ? named : readNamed(named).toString('utf8');
  const publicKey = asked['public-key'] === undefined ? vendorPublicKey : readNamed(asked['public-key']).toString();
  if (publicKey === null)
    throw new Refusal('this build has no vendor key to verify a licence with; name one with --public-key FILE.');
  let status: ReturnType<typeof judgeLicence>;
  try {
    status = judgeLicence(text, publicKey, Date.now());
  } catch (error) {
    throw new Refusal(`the public key cannot be used: ${error instanceof Error ? error.message : String(error)}`);
  }
  const read = readLicence(text, publicKey);
  if (read.kind === 'forged') throw new Refusal(`the licence is rejected: ${read.reason}.`);
  const { customer, max_domains, issued, expires, edition } = read.payload;
  console.log(
    [
      `state     ${status.state}`,
      `customer  ${customer}`,
      `sites     ${max_domains}`,
      `edition   ${edition}`,
      `issued    ${issued}`,
      `expires   ${expires ?? 'never'}`,
    ].join('\n'),
  );
  return 0;
}
