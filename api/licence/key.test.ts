import t from 'tap';
import { createSign, generateKeyPairSync, sign, createPrivateKey } from 'node:crypto';
import { judgeLicence, readLicence, refuseSites, type LicencePayload } from './key.js';
import { makeKeyPair, signLicence } from './vendor-sign.js';
import { vendorPublicKey } from './vendor-key.js';
import { existsSync, readFileSync } from 'node:fs';

const vendor = makeKeyPair(2048);
const payload: LicencePayload = {
  customer: 'Example Ltd',
  max_domains: 5,
  issued: '2026-01-01T00:00:00Z',
  expires: '2027-01-01T00:00:00Z',
  edition: 'standard',
};
const key = signLicence(payload, vendor.privateKey);
const now = Date.parse('2026-06-01T00:00:00Z');

t.test('the four states', async (t) => {
  t.match(judgeLicence(null, vendor.publicKey, now), { state: 'trial', allowed: 1 });
  t.match(judgeLicence(key, vendor.publicKey, now), { state: 'valid', allowed: 5 });
  t.match(judgeLicence(key, vendor.publicKey, Date.parse('2027-01-01T00:00:00Z')), { state: 'expired', allowed: 1 });
  t.match(
    judgeLicence(
      signLicence({ ...payload, expires: null }, vendor.privateKey),
      vendor.publicKey,
      Date.parse('2099-01-01'),
    ),
    { state: 'valid' },
  );
  t.match(judgeLicence(signLicence(payload, makeKeyPair(2048).privateKey), vendor.publicKey, now), {
    state: 'forged',
    allowed: 1,
  });
});

t.test('every forgery is refused', async (t) => {
  const [, body = '', signature = ''] = key.split('.');
  const richer = Buffer.from(JSON.stringify({ ...payload, max_domains: 9999 })).toString('base64url');
  const flipped = Buffer.from(signature, 'base64url');
  flipped[5] = (flipped[5] ?? 0) ^ 1;
  const pss = sign('sha256', Buffer.from(body, 'base64url'), {
    key: createPrivateKey(vendor.privateKey),
    padding: 6,
  }).toString('base64url');
  const sha1 = createSign('sha1').update(Buffer.from(body, 'base64url')).sign(vendor.privateKey).toString('base64url');
  const cases: [string, string][] = [
    ['another payload', `GH1.${richer}.${signature}`],
    ['a flipped bit', `GH1.${body}.${flipped.toString('base64url')}`],
    ['no signature', `GH1.${body}.`],
    ['a signature of zeros', `GH1.${body}.${'A'.repeat(342)}`],
    ['PSS padding', `GH1.${body}.${pss}`],
    ['SHA-1', `GH1.${body}.${sha1}`],
    ['another version', key.replace('GH1', 'GH2')],
    ['nonsense', 'hello'],
    ['empty', ''],
    ['not JSON', signRaw('not json at all')],
    ['not a licence', signRaw('{"customer":"x"}')],
    ['too many members', signRaw(JSON.stringify({ ...payload, admin: true }))],
    ['no domains', signRaw(JSON.stringify({ ...payload, max_domains: 0 }))],
    ['broken date', signRaw(JSON.stringify({ ...payload, expires: 'never' }))],
  ];
  for (const [name, forged] of cases) t.equal(readLicence(forged, vendor.publicKey).kind, 'forged', name);
  t.equal(readLicence(key, vendor.publicKey).kind, 'genuine');
  t.equal(readLicence(`  ${key}\n`, vendor.publicKey).kind, 'genuine', 'pasted with white space');
  const wrapped = key.replace(/.{64}/g, '$&\r\n  ');
  t.equal(readLicence(wrapped, vendor.publicKey).kind, 'genuine', 'wrapped by a program for mail');
  t.match(readLicence(key, null), { kind: 'forged', reason: /no vendor key/ });
  t.throws(
    () =>
      readLicence(
        key,
        generateKeyPairSync('rsa', {
          modulusLength: 1024,
          publicKeyEncoding: { type: 'spki', format: 'pem' },
          privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
        }).publicKey,
      ),
    /at least 2048/,
  );
});

function signRaw(text: string): string {
  const bytes = Buffer.from(text);
  const signature = sign('sha256', bytes, createPrivateKey(vendor.privateKey));
  return `GH1.${bytes.toString('base64url')}.${signature.toString('base64url')}`;
}

t.test('sites past the allowance: adding is refused, what is there never', async (t) => {
  const trial = judgeLicence(null, vendor.publicKey, now);
  const expired = judgeLicence(key, vendor.publicKey, Date.parse('2028-01-01'));
  const valid = judgeLicence(key, vendor.publicKey, now);
  t.equal(refuseSites([], ['/'], trial), null);
  t.match(refuseSites([], ['/', '/b'], trial), /allows 1 site;/);
  t.equal(refuseSites([], ['/', '/b', '/c', '/d', '/e'], valid), null);
  t.match(refuseSites([], ['/', '/b', '/c', '/d', '/e', '/f'], valid), /would make 6/);
  t.equal(refuseSites(['/', '/b', '/c'], ['/', '/b', '/c'], expired), null, 'three stay three');
  t.equal(refuseSites(['/', '/b', '/c'], ['/', '/b'], expired), null, 'removing is allowed');
  t.match(refuseSites(['/', '/b'], ['/', '/c'], expired), /expired/, 'removing one does not make room for another');
  t.equal(refuseSites(['/', '/b'], ['/c'], expired), null, 'within the trial limit everything is allowed');
});

t.test('no private key is in the product', async (t) => {
  t.equal(vendorPublicKey === null || vendorPublicKey.includes('PUBLIC'), true);
  const source = new URL('../../../api/licence/vendor-key.ts', import.meta.url);
  if (existsSync(source)) t.notMatch(readFileSync(source, 'utf8'), /PRIVATE KEY/);
});
