// Packs of evidence through the API: what is in them is what the API answers, they verify with openssl, sha256sum and
// minisign alone, and each way to change one is seen.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import { onOneDatabase } from '#api/testing/databases';
import { whenQuiet } from '../kit/runs/background.js';
import { exercise } from '../testing/api/examples.js';
import { Client, type Json } from '../testing/import-client.js';
import { contentMax, period, start, type Started } from './testing/stage.js';
import { readZip, writeZip } from './pack/zip.js';
import { removeExpired } from './retention.js';

const failed = ({ checks }: Json): string[] =>
  (checks as Json[]).filter(({ ok }) => ok === false).map(({ name }) => String(name));
const linesOf = (files: ReadonlyMap<string, Buffer>, name: string): Json[] =>
  String(files.get(`items/${name}.jsonl`))
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Json);

async function content(t: Test, { client, build, download, addFile, database, other }: Started): Promise<void> {
  const held = { name: 'held', scopes: ['read'], application_ids: [other], allowed_cidrs: ['10.0.0.0/8'] };
  t.equal((await client.call('POST', '/tokens', held)).status, 201);
  const added = await addFile('minutes of May.txt', 'We met.', '&controls=pci-dss:6.2.4&description=minutes');
  t.match(added, { status: 201, body: { media_type: 'text/plain', bytes: 7, controls: ['pci-dss:6.2.4'] } });
  const pack = await build({ framework: 'pci-dss', title: 'Audit of spring' });
  t.match(pack, { state: 'ready', error: null, title: 'Audit of spring', hold: false, root: /^[0-9a-f]{64}$/ });
  const files = await readZip(await download(String(pack['id'])), contentMax);
  const manifest = JSON.parse(String(files.get('manifest.json'))) as Json;
  t.strictSame(manifest['items'], pack['items'], 'the manifest is what the API shows');
  t.match(manifest, { framework: 'pci-dss', scope: 'organisation', audit_log: { ok: true }, previous: null });
  const [finding] = linesOf(files, 'findings').filter(({ title }) => title === 'SQL injection');
  t.match(finding, { severity: 'high', status: 'triaged', cwe: ['CWE-89'] });
  t.match(linesOf(files, 'finding-history').at(-1), { from_status: 'new', to_status: 'triaged', reason: 'seen' });
  t.match(linesOf(files, 'scans'), [{ kind: 'import', status: 'succeeded' }]);
  t.match(linesOf(files, 'coverage'), [
    { name: 'shop', scans_in_period: 1 },
    { name: 'other', scans_in_period: 0 },
  ]);
  const control = linesOf(files, 'compliance').find((one) => one['control'] === '6.2.4');
  const { items } = (await client.call('GET', '/compliance/assessment?framework=pci-dss&limit=500')).body;
  const shown = (items as Json[]).find(({ number }) => number === '6.2.4');
  t.match(shown?.['files'], [{ id: added.body['id'], name: 'minutes of May.txt' }], 'the control names its file');
  t.match(control, { result: 'gap', reason: shown?.['reason'], open_findings: 1 }, 'as the API assesses');
  t.match(linesOf(files, 'users')[0], { role: 'admin', mfa: Boolean, confined: false });
  t.match(linesOf(files, 'tokens'), [{ name: 'held', application_ids: [other], allowed_cidrs: ['10.0.0.0/8'] }]);
  t.notMatch(String(files.get('items/tokens.jsonl')), /secret|hash/);
  const settings = JSON.parse(String(files.get('items/settings.json'))) as Json;
  t.match(settings, { version: Number, settings: { retention_audit_days: Number } });
  const [place = ''] = (control?.['files'] ?? []) as string[];
  t.equal(String(files.get(place)), 'We met.', 'the control in the pack says where its file lies');
  t.match(place, /^files\/\d+-minutes_of_May\.txt$/);
  const audit = String(files.get('items/audit.jsonl')).split('\n').filter(Boolean);
  const [log] = await database.sql<{ n: number }[]>`select count(*)::int as n from audit_entries`;
  t.ok(audit.length > 5 && audit.length <= Number(log?.n), 'the log up to then');
  const scans = (pack['items'] as Json[]).find(({ path }) => path === 'items/scans.jsonl');
  t.match(scans, { source: 'runs', rows: 1, cut: false, collected_at: /Z$/ });
  t.ok(
    scans?.['controls'].includes('pci-dss:11.3.1') || scans?.['controls'].length > 0,
    'for controls of the framework',
  );
  const { items: sections } = (await client.call('GET', '/evidence/sections?framework=pci-dss')).body;
  const section = (sections as Json[]).find(({ name }) => name === 'scans');
  t.strictSame(section?.['controls'], scans?.['controls'], 'as the sections say');
}

async function scope(t: Test, { client, build, download, shop, other, database }: Started): Promise<void> {
  const pack = await build({ scope: { application_id: other } });
  t.match(pack, { state: 'ready', application_id: other });
  const files = await readZip(await download(String(pack['id'])), contentMax);
  t.strictSame(
    linesOf(files, 'findings').map(({ title }) => title),
    ['Of the other'],
    'nothing of another application',
  );
  t.notOk(files.has('items/audit.jsonl') || files.has('items/users.jsonl'), 'nor of the organisation');
  const small = await build({ sections: ['scans'], scope: { application_id: shop } });
  t.strictSame(small['sections'], ['scans']);
  for (const [body, words] of [
    [{ period: { from: period.to, to: period.from } }, /\/period\/to is not after/],
    [{ period: { from: '2026-02-30T00:00:00Z', to: period.to } }, /\/period\/from is no moment/],
    [{ period: { from: '2030-01-01T00:00:00Z', to: '2031-01-01T00:00:00Z' } }, /in the future/],
    [
      { period, scope: { application_id: shop }, sections: ['audit', 'scans'] },
      /\/sections has audit, which is about the whole/,
    ],
    [{ period, title: 'a\r\nb' }, /title/],
    [{ period, framework: 'pci' }, /\/framework is not known: name one of asvs/],
    [{ period, sections: ['nothing'] }, /sections/],
    [{}, /period/],
  ] as const)
    t.match(await client.call('POST', '/evidence', body), { status: 422, body: { detail: words } });
  t.equal((await client.call('POST', '/evidence', { period, scope: { application_id: '99999' } })).status, 404);
  const body = { period, sections: ['scans'] };
  const begun = await Promise.all([1, 2, 3, 4, 5, 6].map(() => client.call('POST', '/evidence', body)));
  await whenQuiet();
  const statuses = begun.map(({ status }) => status);
  t.ok(statuses.includes(202) && statuses.every((status) => status === 202 || status === 409), statuses.join());
  const twice = await database.sql`
    select previous from vm_evidence_packs where root is not null group by previous having count(*) > 1`;
  t.strictSame([...twice], [], 'one after another');
}

/** Unpacks into a directory, lets `change` spoil it, and returns how the script ends. */
function runScript(t: Test, files: ReadonlyMap<string, Buffer>, change: (directory: string) => void) {
  const directory = mkdtempSync(join(tmpdir(), 'gatehouse-evidence-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  for (const [path, bytes] of files) {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), bytes);
  }
  change(directory);
  const { status, stdout, stderr } = spawnSync('sh', ['verify.sh'], { cwd: directory, encoding: 'utf8' });
  return { status, words: stdout + stderr, directory };
}

async function alone(t: Test, { build, download, client }: Started): Promise<void> {
  const pack = await build();
  const files = await readZip(await download(String(pack['id'])), contentMax);
  const { status, words, directory } = runScript(t, files, () => undefined);
  t.match({ status, words }, { status: 0, words: /The pack holds/ }, words);
  const keys = (await client.call('GET', '/evidence/keys')).body['items'] as Json[];
  t.match(words, `Key: ${String(keys[0]?.['id'])}`, 'the script names the key as the API does');
  t.equal(keys[0]?.['public_key'], String(files.get('public-key.pem')));
  const spoilt: [string, (directory: string) => void][] = [
    ['an item', (at) => writeFileSync(join(at, 'items/scans.jsonl'), '{}\n')],
    ['one more file', (at) => writeFileSync(join(at, 'items/more.jsonl'), '{}\n')],
    ['a file that has the name of sums', (at) => writeFileSync(join(at, 'items/SHA256SUMS.jsonl'), '{}\n')],
    ['a link', (at) => symlinkSync('/etc/hosts', join(at, 'items/link'))],
    ['a file less', (at) => rmSync(join(at, 'items/scans.jsonl'))],
    ['another signature', (at) => writeFileSync(join(at, 'SHA256SUMS.sig'), Buffer.alloc(64))],
    ['the sums', (at) => writeFileSync(join(at, 'SHA256SUMS'), `${String(files.get('SHA256SUMS'))}\n`)],
  ];
  const [beneath, pem] = [dirname(directory), `${basename(directory)}.pem`];
  writeFileSync(join(beneath, pem), String(keys[0]?.['public_key']));
  const beside = spawnSync('sh', [`${basename(directory)}/verify.sh`, pem], {
    cwd: beneath,
    encoding: 'utf8',
  });
  t.equal(beside.status, 0, beside.stderr);
  rmSync(join(beneath, pem));
  for (const [what, change] of spoilt) t.not(runScript(t, files, change).status, 0, `${what} is seen`);
  const has = spawnSync('minisign', ['-v']).error === undefined;
  if (!has) return t.comment('minisign is not installed: its signature is not tried');
  const args = ['-Vm', 'SHA256SUMS', '-x', 'SHA256SUMS.minisig', '-p', 'public-key.minisign'];
  t.match(execFileSync('minisign', args, { cwd: directory, encoding: 'utf8' }), /verified/, 'minisign takes it');
}

async function tampering(t: Test, { build, verify, download, inject, database }: Started): Promise<void> {
  const { sql } = database;
  const first = await build({ sections: ['scans', 'audit'] });
  const pack = await build({ sections: ['scans', 'audit'] });
  const id = String(pack['id']);
  const good = await verify(id);
  t.strictSame(failed(good), [], JSON.stringify(good['checks']));
  t.match(good, { ok: true, root: pack['root'] });
  t.match(
    (good['checks'] as Json[]).find(({ name }) => name === 'previous'),
    { ok: true, detail: `pack ${first['id']}` },
  );
  const bytes = await download(id);
  const files = await readZip(bytes, contentMax);
  const packed = (changed: Record<string, string | null>): Promise<Buffer> =>
    writeZip(
      [...files, ...Object.entries(changed).map(([path]): [string, Buffer] => [path, Buffer.alloc(0)])]
        .filter(([path], index, all) => all.findIndex(([one]) => one === path) === index && changed[path] !== null)
        .map(([path, old]) => ({ path, content: Buffer.from(changed[path] ?? old) })),
    );
  const back = async (sent: Buffer): Promise<Json> => JSON.parse((await inject('POST', '/verify', sent)).body) as Json;
  t.match(await back(bytes), { ok: true }, 'a pack that comes back');
  const own = String(files.get('SHA256SUMS'));
  for (const [changed, faults] of [
    [{ 'items/scans.jsonl': '{}\n' }, ['sums', 'manifest']],
    [{ 'items/added.jsonl': '{}\n' }, ['sums']],
    [{ 'items/scans.jsonl': null }, ['sums', 'manifest']],
    [{ SHA256SUMS: own.replace(/^./, 'x') }, ['sums', 'signature', 'recorded']],
    [{ 'SHA256SUMS.sig': 'x' }, ['signature']],
    [{ 'items/audit.jsonl': '[1]\n' }, ['sums', 'manifest', 'audit_excerpt']],
  ] as const) {
    const found = failed(await back(await packed(changed)));
    for (const fault of faults) t.ok(found.includes(fault), `${JSON.stringify(changed)}: ${fault} (${found.join()})`);
  }
  t.match(await back(Buffer.from('no archive')), { ok: false, root: null, checks: [{ name: 'archive', ok: false }] });
  // in the database: the file, then the row as well, so that only the audit log knows better
  const other = await packed({ 'README.txt': 'x' });
  await sql`update vm_evidence_contents set content = ${other} where pack_id = ${id}`;
  t.ok(failed(await verify(id)).includes('stored_file'));
  await sql`update vm_evidence_contents set content = ${bytes} where pack_id = ${id}`;
  await sql`update vm_evidence_packs set root = ${'0'.repeat(64)} where id = ${id}`;
  t.ok(failed(await verify(id)).includes('recorded'));
  await sql`update vm_evidence_packs set root = ${String(pack['root'])} where id = ${id}`;
  const [entry] = await sql<{ id: number; summary: string; hash: string }[]>`
    select id, summary, hash from audit_entries order by id limit 1`;
  await sql`update audit_entries set summary = 'x' where id = ${entry?.id ?? 0}`;
  t.ok(failed(await verify(id)).includes('audit_log'), 'an entry of the log was changed');
  await sql`update audit_entries set hash = 'x' where id = ${entry?.id ?? 0}`;
  t.ok(failed(await verify(id)).includes('audit_excerpt'), 'the excerpt knows another one');
  await sql`update audit_entries set summary = ${entry?.summary ?? ''}, hash = ${entry?.hash ?? ''}
    where id = ${entry?.id ?? 0}`;
  t.match(await verify(id), { ok: true }, 'as it was');
}

async function retention(t: Test, { at, build, client, database, verify }: Started): Promise<void> {
  const host = {
    sql: database.sql,
    audit: { record: async () => undefined },
  } as unknown as Parameters<typeof removeExpired>[0];
  const [short, held] = [
    await build({ keep_days: 1, sections: ['scans'] }),
    await build({ keep_days: 1, sections: ['scans'] }),
  ];
  t.equal((await client.call('DELETE', `/evidence/${String(short['id'])}`)).status, 409);
  t.equal((await client.call('PATCH', `/evidence/${String(held['id'])}`, { hold: true })).status, 200);
  const long = await build({ keep_days: 1095, sections: ['scans'] });
  for (const [pack, hold] of [
    [long, true],
    [long, false],
    [held, true],
  ] as const)
    t.match(
      await client.call('PATCH', `/evidence/${String(pack['id'])}`, { hold }),
      {
        status: 200,
        body: { hold, keep_until: pack['keep_until'] },
      },
      'same end',
    );
  await removeExpired(host, new Date(at.clock.nowMs));
  t.equal((await client.call('GET', `/evidence/${String(short['id'])}`)).status, 200, 'its time is not over');
  const later = new Date(at.clock.nowMs + 2 * 86_400_000);
  await removeExpired(host, later);
  t.equal((await client.call('GET', `/evidence/${String(short['id'])}`)).status, 404, 'its time was over');
  const checks = (await verify(String(held['id'])))['checks'] as Json[];
  t.match(
    checks.find(({ name }) => name === 'previous'),
    { ok: null },
    'gone, which is no fault',
  );
}

async function rights(t: Test, { at, client, download }: Started): Promise<void> {
  const { items } = (await client.call('GET', '/evidence?state=ready&limit=1')).body;
  const id = String((items as Json[])[0]?.['id']);
  t.ok((await download(id)).length > 500);
  for (const role of ['operator', 'viewer'] as const) {
    const { token } = await at.user(role);
    const who = new Client(at, token);
    for (const [method, path] of [
      ['GET', `/evidence/${id}`],
      ['GET', `/evidence/${id}/download`],
      ['POST', '/evidence'],
    ] as const)
      t.equal(
        (await who.call(method, path, method === 'POST' ? { period } : undefined)).status,
        403,
        `${role} ${path}`,
      );
  }
  await client.call('POST', '/rbac/roles', {
    name: 'builder',
    permissions: ['build_evidence', 'view_scans', 'view_assets'],
  });
  const user = await at.user('viewer');
  await client.call('PUT', `/rbac/grants/${user.id}`, { items: [{ scope: 'org', scope_id: '0', role: 'builder' }] });
  const builder = new Client(at, user.token);
  const denied = await builder.call('POST', '/evidence', { period, sections: ['audit'] });
  t.match(denied, { status: 403, body: { detail: /audit needs the permission view_audit/ } }, denied.text);
  const begun = await builder.call('POST', '/evidence', { period });
  await whenQuiet();
  t.equal(begun.status, 202, begun.text);
  t.notOk((begun.body['sections'] as string[]).some((name) => ['audit', 'access', 'backups'].includes(name)));
}

t.test('evidence', (t) =>
  onOneDatabase(t, 'evidence', async (t, database) => {
    const started = await start(t, database);
    await t.test('30.evidence: sections hold what the API answers', (t) => content(t, started));
    await t.test('30.evidence: one application, and what is refused', (t) => scope(t, started));
    await t.test('30.evidence: a pack verifies with openssl, sha256sum and minisign alone', (t) => alone(t, started));
    await t.test('30.evidence: every change to a pack is seen', (t) => tampering(t, started));
    await t.test('30.evidence: what is kept and what goes', (t) => retention(t, started));
    await t.test('30.evidence: who may build and read', (t) => rights(t, started));
    await t.test('30.evidence: the examples of the document', async (t) => {
      const made = (await started.addFile('x.txt', 'x')).body;
      const pack = await started.build({ sections: ['scans'] });
      const idOf = (path: string): string => String((path.includes('/files/') ? made : pack)['id']);
      await exercise(t, started.client, '/evidence', (path) => path.replace(':id', idOf(path)));
      await whenQuiet();
    });
  }),
);
