import t from 'tap';
import { pbkdf2Sync } from 'node:crypto';
import { HOTP, Secret } from 'otpauth';
import { checkPasswordPolicy, createPasswordHasher, passwordIterationsDefault } from './password.js';
import { createSealing } from './sealing.js';
import { acceptTotp, createRecoveryCodes, createTotpSecret, hashRecoveryCode, toTotpUri } from './totp.js';

t.test('PBKDF2 agrees with the published vectors and the format carries its parameters', async (t) => {
  t.equal(passwordIterationsDefault, 600_000);
  t.equal(
    pbkdf2Sync('password', 'salt', 4096, 32, 'sha256').toString('hex'),
    'c5e478d59288c841aa530db6845c4c8d962893a001ce4e11a4963873aa98134a',
  );
  const hasher = createPasswordHasher(4096);
  const unpadded = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '');
  const hash = Buffer.from('c5e478d59288c841aa530db6845c4c8d962893a001ce4e11a4963873aa98134a', 'hex');
  const stored = `$pbkdf2-sha256$i=4096$${unpadded(Buffer.from('salt'))}$${unpadded(hash)}`;
  t.equal(await hasher.verify('password', stored), true);
  t.equal(await hasher.verify('Password', stored), false);
  const made = await hasher.hash('correct horse');
  t.match(made, /^\$pbkdf2-sha256\$i=4096\$/);
  t.not(made, await hasher.hash('correct horse'), 'salted');
  t.equal(await hasher.verify('correct horse', made), true);
  t.equal(createPasswordHasher(5000).isOutdated(made), true);
  t.equal(hasher.isOutdated(made), false);
  for (const broken of [null, '', '$pbkdf2-sha256$i=0$$', '$argon2id$x', `${made}x!`])
    t.equal(await hasher.verify('correct horse', broken), false, String(broken));
});

t.test('the queue of hashes is bounded', async (t) => {
  const hasher = createPasswordHasher(20_000);
  const results = await Promise.allSettled(Array.from({ length: 200 }, () => hasher.verify('x', null)));
  t.equal(results.filter((r) => r.status === 'fulfilled').length, 34);
  t.equal(results.filter((r) => r.status === 'rejected' && (r.reason as { code: string }).code === 'busy').length, 166);
  t.equal(await hasher.verify('x', null), false, 'and it drains');
});

t.test('password policy', async (t) => {
  const policy = { lengthMin: 12, classesMin: 3 };
  t.same(checkPasswordPolicy('Correct-horse-9', policy, ['ann@example.org']), []);
  t.equal(checkPasswordPolicy('short', policy).length, 2);
  t.match(checkPasswordPolicy('AAAAaaaa1111', { lengthMin: 12, classesMin: 0 }).join(), /different characters/);
  t.match(checkPasswordPolicy('My-Annabel-2000', policy, ['annabel']).join(), /name or e-mail/);
  t.match(checkPasswordPolicy('x'.repeat(300), policy).join(), /at most 256/);
});

t.test('RFC 6238 vectors, six digits, SHA-1', async (t) => {
  const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';
  const vectors: [number, string][] = [
    [59, '287082'],
    [1111111109, '081804'],
    [1111111111, '050471'],
    [1234567890, '005924'],
    [2000000000, '279037'],
    [20000000000, '353130'],
  ];
  for (const [seconds, code] of vectors) {
    const step = Math.floor(seconds / 30);
    t.equal(acceptTotp(secret, code, seconds * 1000, 0), step, code);
    t.equal(acceptTotp(secret, code, (seconds + 30) * 1000, 0), step, 'one step late');
    t.equal(acceptTotp(secret, code, (seconds - 30) * 1000, 0), step, 'one step early');
    t.equal(acceptTotp(secret, code, (seconds + 61) * 1000, 0), null, 'two steps late');
    t.equal(acceptTotp(secret, code, seconds * 1000, step), null, 'a replay is refused');
  }
  for (const bad of ['', '28708', '2870822', '28708a', ' 287082']) t.equal(acceptTotp(secret, bad, 59_000, 0), null);
});

t.test('an older step is refused after a newer one was accepted', async (t) => {
  const secret = createTotpSecret();
  const at = (step: number): string => HOTP.generate({ secret: Secret.fromBase32(secret), counter: step });
  t.equal(acceptTotp(secret, at(101), 100 * 30_000, 0), 101);
  t.equal(acceptTotp(secret, at(100), 100 * 30_000, 101), null);
  t.match(
    toTotpUri(secret, 'ann@example.org', 'Gatehouse'),
    new RegExp(
      '^otpauth://totp/Gatehouse:ann%40example\\.org\\?issuer=Gatehouse' +
        '&secret=[A-Z2-7]{32}&algorithm=SHA1&digits=6&period=30$',
    ),
  );
});

t.test('recovery codes', async (t) => {
  const codes = createRecoveryCodes();
  t.equal(new Set(codes).size, 10);
  for (const code of codes) t.match(code, /^[0-9a-f]{5}-[0-9a-f]{5}-[0-9a-f]{5}-[0-9a-f]{5}$/);
  t.equal(hashRecoveryCode('ABCDE-12345'), hashRecoveryCode(' abcde12345 '));
});

t.test('sealed secrets open only where they belong', async (t) => {
  const sealing = createSealing('s'.repeat(32));
  const sealed = sealing.seal('hunter2', 'settings:/auth_secret');
  t.equal(sealing.open(sealed, 'settings:/auth_secret'), 'hunter2');
  t.not(sealed, sealing.seal('hunter2', 'settings:/auth_secret'));
  t.throws(() => sealing.open(sealed, 'settings:/sso_client_secret'), /does not open/);
  t.throws(() => createSealing('t'.repeat(32)).open(sealed, 'settings:/auth_secret'), /does not open/);
  t.throws(
    () => sealing.open(`${sealed.slice(0, -2)}${sealed.endsWith('AA') ? 'BA' : 'AA'}`, 'settings:/auth_secret'),
    /does not open/,
  );
  t.throws(() => sealing.open('hunter2', 'settings:/auth_secret'), /damaged/);
  t.notMatch(sealed, /hunter2/);
});
