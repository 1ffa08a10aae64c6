// Uploads: what can serve serves, what cannot is refused with words that say which part is wrong; names, schedule.
import { createPrivateKey, generateKeyPairSync, X509Certificate } from 'node:crypto';
import fc from 'fast-check';
import { generate } from 'selfsigned';
import t, { type Test } from 'tap';
import type { Database } from '../db/client.js';
import { startTestApp } from '../testing/app.js';
import { onBothDatabases } from '../testing/databases.js';
import { fixOf } from './acme/fix.js';
import { canonicalNames } from './names.js';
import { pauseMs, renewAtMs, warningOf } from './schedule.js';

const dayMs = 86_400_000;
fc.configureGlobal({ seed: Number(process.env['SEED'] ?? 12) });

interface Wish {
  readonly names?: readonly string[];
  readonly from?: number;
  readonly to?: number;
  readonly isAuthority?: boolean;
  readonly by?: { readonly cert: string; readonly key: string };
}

async function make(nowMs: number, { names = ['shop.example.test'], from = -1, to = 90, isAuthority, by }: Wish = {}) {
  const made = await generate([{ name: 'commonName', value: names[0] ?? 'nobody' }], {
    keyType: 'ec',
    curve: 'P-256',
    notBeforeDate: new Date(nowMs + from * dayMs),
    notAfterDate: new Date(nowMs + to * dayMs),
    ...(by === undefined ? {} : { ca: by }),
    extensions: [
      ...(isAuthority === true ? [{ name: 'basicConstraints', cA: true, critical: true } as const] : []),
      {
        name: 'subjectAltName',
        // the generator makes up a name where the field is missing
        altNames: names.length === 0 ? [{ type: 7, ip: '192.0.2.1' }] : names.map((value) => ({ type: 2, value })),
      },
    ],
  });
  return { chain: made.cert, key: made.private };
}

async function suite(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const { nowMs } = at.clock;
  const admin = await at.user('admin');
  const upload = (body: object, { token } = admin) => at.call('POST', '/api/certificates/upload', { token, body });
  const good = await make(nowMs);
  const other = await make(nowMs);
  const authority = await make(nowMs, { names: ['An authority'], isAuthority: true });
  const encrypted = createPrivateKey(good.key)
    .export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'secret' })
    .toString();
  const foreign = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({
    type: 'pkcs8',
    format: 'pem',
  });
  for (const [what, body, says] of [
    ['no certificate', { ...good, chain: 'x' }, /holds no certificate/],
    ['damaged', { ...good, chain: good.chain.replace(/\n..../, '\nAAAA') }, /certificate 1 cannot be read|not belong/],
    ['the key in the wrong field', { ...good, chain: good.chain + good.key }, /put it into the field for the key/],
    ['no key', { ...good, key: 'x' }, /holds no private key/],
    ['an encrypted key', { ...good, key: encrypted }, /is encrypted: take the passphrase off/],
    ['the key of another', { ...good, key: other.key }, /does not belong/],
    ['a key of another kind', { ...good, key: foreign.toString() }, /does not belong/],
    ['over', await make(nowMs, { from: -90, to: -1 }), /ended on .*: order a new one/],
    ['not begun', await make(nowMs, { from: 30 }), /begins only on/],
    ['without names', await make(nowMs, { names: [] }), /names no host/],
    ['an authority', authority, /begins with the certificate of an authority/],
    ['out of order', { ...good, chain: good.chain + other.chain }, /did not issue certificate 1/],
  ] as const) {
    const reply = await upload(body);
    t.match(reply, { status: 400, body: { detail: says, errors: [{ path: /^\/(chain|key)$/ }] } }, what);
    t.notMatch(reply.text, /PRIVATE KEY-----\\n/, 'and the key is not sent back');
  }
  for (const role of ['viewer', 'operator'] as const)
    t.equal((await upload(good, await at.user(role))).status, 403, role);
  const taken = await upload(good);
  t.match(taken, { status: 201, body: { names: ['shop.example.test'], source: 'upload', next_attempt_at: null } });
  t.equal(taken.body['issued'].serial, new X509Certificate(good.chain).serialNumber);
  const again = await upload(other);
  t.equal(again.body['id'], taken.body['id'], 'one for the same names is replaced');
  const viewer = await at.user('viewer');
  const list = await at.call('GET', '/api/certificates', { token: viewer.token });
  t.match(list.body, { items: [{ state: 'serving' }] });
  t.notMatch(list.text, /BEGIN|PRIVATE|sealed:/);
  const id = String(taken.body['id']);
  t.match(await at.call('POST', `/api/certificates/${id}/revoke`, { token: admin.token }), { status: 409 });
  t.equal((await at.call('DELETE', `/api/certificates/${id}`, { token: admin.token })).status, 204);
  t.equal((await at.call('DELETE', `/api/certificates/${id}`, { token: admin.token })).status, 404);
  const logged = await database.sql<{ text: string }[]>`select audit_entries::text as text from audit_entries`;
  t.ok(logged.some(({ text }) => text.includes('certificate.upload')));
  t.notOk(logged.some(({ text }) => text.includes('PRIVATE')));
}

void onBothDatabases(t, 'uploads', suite);

t.test('renewals and pauses keep their bounds', async (t) => {
  const life = fc.integer({ min: 3_600_000, max: 5 * 365 * dayMs });
  fc.assert(
    fc.property(life, fc.double({ min: 0, max: 1, noNaN: true }), (lifeMs, random) => {
      const at = renewAtMs(0, lifeMs, random, 0);
      return at <= (lifeMs * 2) / 3 && at >= lifeMs * 0.6;
    }),
  );
  fc.assert(
    fc.property(
      life,
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.nat(),
      (lifeMs, random, nowMs) => renewAtMs(0, lifeMs, random, nowMs) >= nowMs + lifeMs / 10 - 1,
    ),
    {},
  );
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 10_000 }), fc.double({ min: 0, max: 1, noNaN: true }), (failures, random) => {
      const hours = pauseMs(failures, random) / 3_600_000;
      return hours >= 0.9 && hours <= 24;
    }),
  );
  for (const [what, lifeDays, leftDays, isRenewed, wanted] of [
    ['three months, renewed', 90, 22, true, null],
    ['three months, renewed', 90, 21, true, 21],
    ['three months, renewed', 90, 7, true, 7],
    ['three months, renewed', 90, 0.5, true, 1],
    ['over', 90, -1, true, 0],
    ['47 days, renewal not due', 47, 20, true, null],
    ['47 days, uploaded', 47, 20, false, 21],
    ['six days', 6, 3, true, null],
    ['six days', 6, 0.9, true, 1],
  ] as const) {
    const times = { notBeforeMs: 0, notAfterMs: lifeDays * dayMs, isRenewed };
    t.equal(warningOf(times, (lifeDays - leftDays) * dayMs), wanted, `${what}, ${leftDays} days left`);
  }
});

t.test('names are canonical, and what an authority says has a remedy', async (t) => {
  t.strictSame(canonicalNames(['WWW.Example.test.', 'a.example.test', 'bücher.example.test', 'a.example.test']), [
    'a.example.test',
    'www.example.test',
    'xn--bcher-kva.example.test',
  ]);
  for (const wrong of ['', 'a', 'a b.test', '-a.test', '127.0.0.1', 'a..test', '*.*.a.test', `${'a'.repeat(64)}.test`])
    t.throws(() => canonicalNames([wrong]), { message: /is|has/ }, wrong);
  for (const [said, fix] of [
    ['too many certificates already issued', /wait/],
    ['connect ECONNREFUSED 127.0.0.1:1', /directory cannot be reached/],
    ['DNS problem: NXDOMAIN looking up A for x', /A or AAAA/],
    ['CAA record for x prevents issuance', /CAA/],
    ['Fetching http://x/: Timeout during connect', /port 80/],
    ['no data-plane node answers', /Nodes/],
    ['whatever', /upload/],
  ] as const)
    t.match(fixOf(said), fix, said);
});
