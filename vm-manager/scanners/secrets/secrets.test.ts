// What is a secret and what only looks like one: a table of both, and properties of the parts.
import fc from 'fast-check';
import t from 'tap';
import { madeAwsKey, madeAwsSecret, madeChecked, madePrivateKey, madeText } from '../testing/made-secrets.js';
import { secretsEngine } from './engine.js';
import { KeywordSearch } from './keyword-search.js';
import { secretRules } from './rules.js';
import { secretsScanner } from './scanner.js';

const seed = Number(process.env['SEED'] ?? 28);

const find = async (text: string | Buffer, path = 'src/app.ts') => {
  const { findings } = await secretsEngine.take({ path, bytes: Buffer.from(text) });
  return findings.map(({ rule, line, severity }) => `${rule}:${line}${severity === undefined ? '' : ` ${severity}`}`);
};

const hexes = '0123456789abcdef';
const secrets: readonly (readonly [what: string, text: string, found: string])[] = [
  ['a token of GitHub', `const t = '${madeChecked('ghp_', 1)}';`, 'github-token:1'],
  ['in the third line', `a\nb\nTOKEN=${madeChecked('gho_', 2)}\n`, 'github-token:3'],
  ['of npm', `//r/:_authToken=${madeChecked('npm_', 3)}`, 'npm-token:1'],
  ['of GitLab', `token: ${'gl' + 'pat-'}${madeText(20, 4)}`, 'gitlab-token:1'],
  ['an id of AWS', `key = "${madeAwsKey(5)}"`, 'aws-access-key:1'],
  ['a secret of AWS', `aws_secret_access_key = ${madeAwsSecret(6)}`, 'aws-secret-key:1'],
  ['Stripe, live', `k = '${'sk_' + 'live_'}${madeText(24, 7)}'`, 'stripe-key:1'],
  ['Stripe, test', `k = '${'sk_' + 'test_'}${madeText(24, 8)}'`, 'stripe-key:1 low'],
  ['a private key', `x\n${madePrivateKey(9)}\n`, 'private-key:2'],
  ['one of JSON', JSON.stringify({ key: madePrivateKey(10, '') }), 'private-key:1'],
  ['an encrypted one', madePrivateKey(11, 'ENCRYPTED '), 'private-key:1 low'],
  [
    'a password of a database',
    `url: postgres://shop:${madeText(9, 12)}@db.shop.test:5432/shop`,
    'password-in-address:1',
  ],
  ['of this machine', `redis://app:${madeText(12, 13)}@localhost:6379`, 'password-in-address:1 medium'],
  ['a value behind its name', `client_secret: "${madeText(32, 14)}"`, 'named-secret:1'],
  ['in a file of the environment', `SESSION_SECRET=${madeText(40, 15)}`, 'named-secret:1'],
  ['hexadecimal', `const apiKey = '${madeText(32, 16, hexes)}';`, 'named-secret:1'],
  [
    'a webhook',
    `https://hooks.slack.com/services/T${madeText(8, 17)}/B${madeText(8, 18)}/${madeText(24, 19)}`,
    'slack-webhook:1',
  ],
  ['one that looks made up', `k = '${'sk_' + 'live_'}${'A'.repeat(24)}'`, 'stripe-key:1 info'],
];
const lookAlikes: readonly (readonly [what: string, text: string, path?: string])[] = [
  ['a wrong checksum', `const t = '${madeChecked('ghp_', 1, false)}';`],
  ['the manual’s example', 'AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE'],
  ['a publishable key', `k = '${'pk_' + 'live_'}${madeText(24, 20)}'`],
  ['a certificate', `-----BEGIN CERTIFICATE-----\n${madeText(640, 21)}\n-----END CERTIFICATE-----`],
  ['a public key', `-----BEGIN PUBLIC KEY-----\n${madeText(300, 22)}\n-----END PUBLIC KEY-----`],
  ['a commit', `"commit": "${madeText(40, 23, hexes)}"`],
  ['a digest', `token_digest: sha256:${madeText(64, 24, hexes)}`],
  ['an integrity', `"integrity": "sha512-${madeText(86, 25)}=="`],
  ['a UUID', 'api_key_request: 16b5a9b8-5e50-4d76-ae85-bdfffeb3c43f'],
  ['a template', 'password: ${DB_PASSWORD_FROM_THE_ENVIRONMENT}'],
  ['of GitHub Actions', 'token: ${{ secrets.GITHUB_TOKEN_OF_DEPLOYMENT }}'],
  ['of a program', `const token = process.${'env'}.SERVICE_TOKEN_2024_PRODUCTION;`],
  ['a call', 'const token = await service.getAccessToken1234(user);'],
  ['a name of a class', 'tokenProvider = "com.example.auth.AccessTokenProvider2"'],
  ['words', 'secret = "this-is-where-your-secret-goes"'],
  ['an address without a password', 'postgres://db.internal.test:5432/app'],
  ['a placeholder in an address', 'https://user:password@shop.test/'],
  ['a template in an address', 'https://${USER}:${PASSWORD}@shop.test/'],
  ['user and password the same', 'mysql://shopuser:shopuser@db.shop.test/shop'],
  ['a reference', 'client_secret: "arn:aws:secretsmanager:eu-1:123456789012:secret:shop-AbC123"'],
  ['a lock file', `"token": "${madeText(40, 26)}"`, 'package-lock.json'],
  ['an image', `secret_image = "iVBORw0KGgo${madeText(80, 27)}"`],
];

t.test('secrets are found, where they are', async (t) => {
  for (const [what, text, found] of secrets) t.same(await find(text), [found], what);
});

t.test('what only looks like one is none', async (t) => {
  for (const [what, text, path] of lookAlikes) t.same(await find(text, path), [], what);
});

t.test('the secret itself is nowhere in a finding', async (t) => {
  for (const [name, value] of [
    ['aws_secret_key', madeAwsSecret(31)],
    ['token', madeChecked('ghp_', 30)],
    ['client_secret', madeText(32, 32)],
  ] as const) {
    const outcome = await secretsEngine.take({ path: 'a.env', bytes: Buffer.from(`${name} = "${value}"`) });
    const told = JSON.stringify(outcome);
    t.ok(outcome.findings.length === 1 && !told.includes(value.slice(4, -2)), name);
  }
});

t.test('a fingerprint stays while lines move, and tells two secrets of a file apart', async (t) => {
  const [one, two] = [madeChecked('ghp_', 40), madeChecked('ghp_', 41)];
  const marks = async (text: string) =>
    (await secretsEngine.take({ path: 'a', bytes: Buffer.from(text) })).findings.map(({ fingerprint }) => fingerprint);
  const first = await marks(`${one}\n${two}\n`);
  t.equal(new Set(first).size, 2);
  t.same(await marks(`\n\n${one}\n\n${two}\n`), first);
});

t.test('a comment sets one aside, with its reason', async (t) => {
  const token = madeChecked('ghp_', 50);
  for (const [text, isAside] of [
    [`# gatehouse:ignore github-token revoked in May\n${token}`, true],
    [`${token} // gatehouse:ignore github-token,npm-token revoked in May`, true],
    [`# gatehouse:ignore npm-token revoked in May\n${token}`, false],
    [`x = 1 # gatehouse:ignore github-token revoked in May\n${token}`, false],
  ] as const) {
    const [found] = (await secretsEngine.take({ path: 'a', bytes: Buffer.from(text) })).findings;
    t.equal(found?.suppressed, isAside ? 'revoked in May' : undefined, text.slice(0, 40));
  }
});

t.test('binary files are told as left out; UTF-16 is read', async (t) => {
  const binary = await secretsEngine.take({ path: 'a', bytes: Buffer.from(`\0${madeChecked('ghp_', 60)}`) });
  t.match(binary, { findings: [], scanned: [], notScanned: [{ reason: 'binary files', isFault: false }] });
  const text = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(`k=${madeChecked('ghp_', 61)}`, 'utf16le')]);
  t.same(await find(text), ['github-token:1']);
  t.type(secretsScanner.wants('logo.png'), 'string', 'and pictures are not even read');
});

t.test('the search finds every keyword that a plain search finds', async (t) => {
  const words = fc.array(fc.stringMatching(/^[ab:_-]{1,4}$/), { minLength: 1, maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(words, fc.stringMatching(/^[abAB:_-]{0,60}$/), async (keywords, text) => {
      const plain: string[] = [];
      const lower = text.toLowerCase();
      keywords.forEach((word, index) => {
        for (let at = lower.indexOf(word); at !== -1; at = lower.indexOf(word, at + 1))
          plain.push(`${index}@${at + word.length}`);
      });
      const found: string[] = [];
      new KeywordSearch(keywords).search(Buffer.from(text), (index, end) => found.push(`${index}@${end}`));
      t.same(found.sort(), plain.sort());
    }),
    { seed },
  );
});

t.test('no text makes a rule slow', async (t) => {
  const pieces = secretRules.flatMap(({ keywords }) => keywords);
  for (const [what, text] of [
    ['keywords alone', pieces.join('').repeat(60)],
    ['one keyword', 'token'.repeat(40_000)],
    ['beginnings of keys', `-----BEGIN PRIVATE ${'KEY'}-----\n`.repeat(6000)],
    ['beginnings of addresses', 'https://a:b'.repeat(20_000)],
    ['beginnings of tokens', 'eyJaaaaaaaaaaaaaaaaaaaa.'.repeat(8000)],
    ['one letter', 'A'.repeat(200_000)],
  ] as const) {
    const began = process.cpuUsage();
    await secretsEngine.take({ path: 'a', bytes: Buffer.from(text) });
    const { user } = process.cpuUsage(began);
    t.ok(user < 4_000_000, `${what}: ${text.length} bytes in ${user / 1000} ms of the processor`);
  }
});

t.test('rules have what a person needs', async (t) => {
  t.equal(new Set(secretsScanner.rules.map(({ id }) => id)).size, secretsScanner.rules.length, 'each id once');
  for (const { id, title, description, remediation, cwes } of secretsScanner.rules)
    t.ok(title !== '' && description.length > 20 && remediation.length > 40 && cwes.length > 0, id);
});
