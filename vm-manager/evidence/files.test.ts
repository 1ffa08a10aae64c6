// Files that people add: which are taken, what they are for, and whether a change of one is seen.
import t, { type Test } from 'tap';
import { onOneDatabase } from '#api/testing/databases';
import { writeZip } from './pack/zip.js';
import { start, type Started } from './testing/stage.js';

async function files(t: Test, { addFile, client, inject, database }: Started): Promise<void> {
  const office = (path: string) => writeZip([{ path, content: Buffer.from('<x/>') }]);
  const png = Buffer.from('\x89PNG\r\n\x1a\nrest', 'latin1');
  for (const [name, bytes, status] of [
    ['a.png', png, 201],
    ['b.pdf', '%PDF-1.7', 201],
    ['c.json', '{}', 201],
    ['d.PNG', '<svg/>', 422],
    ['e.html', '<script>', 422],
    ['f.svg', '<svg/>', 422],
    ['g', 'x', 422],
    ['h.txt', Buffer.from([0xff, 0xfe, 0]), 422],
    ['i.json', '{', 422],
    ['../../j.txt', 'x', 201],
    ['m.docx', 'PK\x03\x04', 422],
    ['m.docx', await office('word/document.xml'), 201],
    ['m.xlsx', await office('word/document.xml'), 422],
    ['m.xlsx', await office('xl/workbook.xml'), 201],
    ['m.odt', await office('content.xml'), 422],
    ['m.odt', Buffer.from(`PK\x03\x04${'\0'.repeat(26)}mimetypeapplication/vnd.oasis.opendocument.text`), 201],
    [`${'n'.repeat(198)}.txt`, 'x', 422],
  ] as const) {
    const reply = await addFile(name, bytes);
    t.equal(reply.status, status, `${name}: ${JSON.stringify(reply.body)}`);
    t.notMatch(String(reply.body['name'] ?? ''), /[/\\]/);
  }
  t.match(await addFile('a\u202egpj.txt', 'x'), { status: 201, body: { name: 'a_gpj.txt' } });
  for (const days of ['1e3', '1.5', ' 7', '0x10'])
    t.match(await addFile('n.txt', 'x', `&keep_days=${encodeURIComponent(days)}`), {
      status: 422,
      body: { detail: /keep_days is no whole number/ },
    });
  t.match(await addFile('k.txt', 'x', '&controls=pci-dss:99'), {
    status: 422,
    body: { detail: /pci-dss:99.*no framework/ },
  });
  t.equal((await addFile('l.txt', Buffer.alloc(16 * 1024 * 1024 + 1, 'x'))).status, 413);
  const made = (await addFile('policy.md', '# Policy', '&controls=pci-dss:6.2.4,pci-dss:6.2.4&keep_days=10')).body;
  const path = `/evidence/files/${String(made['id'])}`;
  t.strictSame(made['controls'], ['pci-dss:6.2.4']);
  t.match((await client.call('GET', '/evidence/files?control=pci-dss:6.2.4')).body, { items: [{ id: made['id'] }] });
  t.equal((await inject('GET', `/files/${String(made['id'])}/download`)).body, '# Policy');
  t.match(await client.call('POST', `${path}/verify`), { body: { ok: true, recorded: true, sha256: made['sha256'] } });
  await database.sql`update vm_evidence_file_contents set content = 'x' where file_id = ${String(made['id'])}`;
  t.match(await client.call('POST', `${path}/verify`), { body: { ok: false, recorded: false } });
  await database.sql`
    update vm_evidence_files set sha256 = encode(sha256('x'), 'hex') where id = ${String(made['id'])}`;
  t.match(
    await client.call('POST', `${path}/verify`),
    { body: { ok: false, recorded: false } },
    'bytes and sum changed together: the audit log has no such upload',
  );
  t.match(await client.call('DELETE', path), { status: 409, body: { detail: /is kept until/ } });
  t.match(await client.call('PATCH', path, { keep_days: 5 }), { status: 409, body: { detail: /only be kept longer/ } });
  t.match(await client.call('PATCH', path, { hold: true, description: 'd' }), {
    body: { hold: true, description: 'd', keep_until: made['keep_until'] },
  });
}

t.test('files of evidence', (t) =>
  onOneDatabase(t, 'files of evidence', async (t, database) => {
    const started = await start(t, database);
    await t.test('30.evidence: files of people: kinds, controls, sums', (t) => files(t, started));
  }),
);
