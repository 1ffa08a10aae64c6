// A secret that a tool names is masked however the other texts of its record write it; over HTTP for Nuclei and bills.
import t from 'tap';
import { startTestApp } from '#api/testing/app';
import { onBothDatabases } from '#api/testing/databases';
import { testMsMax } from '#api/testing/waiting';
import { Client } from '../../testing/import-client.js';
import { maskSecrets, namedSecrets } from '../mask.js';
import { maskRewritten } from './rewritten.js';

t.setTimeout(testMsMax);

const secrets = ['Zq9!pL%77xV', 'blue horse+17', "o'Neil<7>&x", 'gr\u00fcn/Wiese@9', 'a.b*c(7)[x]$^'];
const bytes = (text: string): string =>
  [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
const ways: Readonly<Record<string, (text: string) => string>> = {
  encoded: encodeURIComponent,
  'small letters of hexadecimal': (text) => encodeURIComponent(text).replace(/%../g, (one) => one.toLowerCase()),
  'each byte': bytes,
  twice: (text) => encodeURIComponent(encodeURIComponent(text)),
  'each byte, twice': (text) => encodeURIComponent(bytes(text)),
  form: (text) => encodeURIComponent(text).replaceAll('%20', '+'),
  'one letter': (text) =>
    encodeURIComponent(text.slice(0, 3)) + bytes(text.slice(3, 4)) + encodeURIComponent(text.slice(4)),
  json: (text) => text.replace(/[^a-z]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`),
  html: (text) => text.replace(/[^\w]/gu, (one) => `&#${one.codePointAt(0)};`),
  entities: (text) =>
    text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll("'", '&apos;'),
};

t.test('22 Q5: a named secret in every spelling', async (t) => {
  for (const secret of secrets)
    for (const [name, write] of Object.entries(ways)) {
      const written = write(secret);
      const masked = maskSecrets(`x ${written}, y`, namedSecrets([secret]));
      t.notOk(masked.includes(written), `${name}: ${written} => ${masked}`);
      t.match(masked, /^x /, name);
      t.match(masked, / y$/, name);
    }
  t.equal(maskRewritten('https://h.example/a%20b?c=%7B%7D', ['Zq9!pL%77xV']), 'https://h.example/a%20b?c=%7B%7D');
});

t.test('22 Q5: names and values of addresses, encoded', async (t) => {
  for (const secret of ['zq kv 77!Lm', 'P@ssw0rd/99', 'S3cret?Plum#4'])
    for (const address of [
      `https://h.example/a?pass%77ord=${encodeURIComponent(secret)}`,
      `https://h.example/a?%70assword=${bytes(secret)}`,
      `https://h.example/a?next=%2Fx%3Fpassword%3D${encodeURIComponent(secret)}`,
      `https://me:${encodeURIComponent(secret)}@h.example/x`,
      `https://h.example/x?u=https%3A%2F%2Fme%3A${encodeURIComponent(secret)}%40h.example%2F`,
    ]) {
      const masked = decodeURIComponent(maskSecrets(address));
      for (const part of secret.split(/[\s@/?#]/)) t.notOk(masked.includes(part), `${address} => ${masked}`);
      t.match(masked, 'h.example', address);
    }
  for (const text of ['https://h.example:8080/a%20b@c', 'https://h.example/a?next=%2Fx%3Fpage%3D2%26sort%3Dname'])
    t.equal(maskSecrets(text), text);
});

await onBothDatabases(t, '22 Q5: reports', async (t, database) => {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const client = new Client(at, (await at.user('admin')).token);
  const app = await client.application();
  const secret = 'Zq9!pL%77xV';
  const line = (n: number, more: object): string =>
    JSON.stringify({ 'template-id': 'default-login', info: { name: `Login ${n}`, severity: 'high' }, ...more });
  const lines = Object.values(ways).flatMap((write, n) => [
    line(n * 2, { 'matched-at': `https://h.example/${n}?x=${write(secret)}`, 'extracted-results': [secret] }),
    line(n * 2 + 1, { 'matched-at': `https://h.example/${n}/b?psw=${write(secret)}`, meta: { password: secret } }),
  ]);
  await client.send(app, lines.join('\n'), { format: 'nuclei', mode: 'add' });
  const found = JSON.stringify(await client.findings(app));
  for (const [name, write] of Object.entries(ways))
    t.notOk(found.includes(JSON.stringify(write(secret)).slice(1, -1)), name);
  const source = `git+https://me:${encodeURIComponent(secret)}@h.example/x`;
  const bill = {
    ...{ bomFormat: 'CycloneDX', specVersion: '1.5', serialNumber: `urn:uuid:1` },
    metadata: { component: { type: 'application', 'bom-ref': 'root', name: `https://me:${secret}@h.example/x` } },
    components: [
      {
        ...{
          type: 'library',
          name: 'left',
          version: source,
          purl: `pkg:npm/left@1?vcs_url=${encodeURIComponent(source)}`,
        },
        licenses: [{ license: { name: `net use \\\\srv\\x ${secret} /user:me` } }],
        properties: [{ name: 'build:command', value: `net use \\\\srv\\x /user:me ${secret}` }],
      },
    ],
    vulnerabilities: [
      {
        ...{ id: 'CVE-2024-1', detail: `net use z: \\\\srv\\x "${secret}" /user:me`, affects: [{ ref: 'root' }] },
        analysis: { state: 'exploitable', detail: `net use z: https://h.example/x ${secret} /user:me` },
      },
    ],
  };
  t.equal((await client.send(app, bill, {}, '/sca/sboms')).status, 201);
  const { sql } = database;
  const tables = ['vm_sboms', 'vm_sbom_components', 'vm_components', 'vm_finding_details', 'vm_findings'];
  for (const table of tables) {
    const rows = JSON.stringify(await sql`select * from ${sql(table)}`);
    for (const write of [String, ...Object.values(ways)])
      t.notOk(rows.includes(JSON.stringify(write(secret)).slice(1, -1)), `${table}: ${write(secret)}`);
  }
});
