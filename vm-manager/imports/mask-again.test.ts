// Rows that a release before has stored with a secret that its masks did not know are masked by the migration and the
// job behind it. Over HTTP.
import { readFile } from 'node:fs/promises';
import t from 'tap';
import { startTestApp } from '#api/testing/app';
import { onEmbeddedDatabase } from '#api/testing/databases';
import { Client } from '../testing/import-client.js';

const migration = new URL('../migrations/072-mask-rewritten.sql', import.meta.url);
const secret = 'Sick1CsWo3LZ7Q';
const texts = [
  `https://h.example/p?q=%7B%22password%22:%22${secret}%22%7D`,
  `ｐａｓｓｗｏｒｄ=${secret}`,
  `TOKEN ?= ${secret}`,
  `&quot;password&quot;:&quot;${secret}&quot;`,
  `password = "****" + "${secret}"`,
  `p\u0430ssword=${secret}`,
  `/reset-password/${secret}`,
  `net use z: https://dav.example/x ${secret} /user:me`,
];

t.test('22 K1, K8: what is stored is masked again', (t) =>
  onEmbeddedDatabase(t, 'mask again', async (t, database) => {
    const at = await startTestApp(database);
    t.teardown(() => at.close());
    const client = new Client(at, (await at.user('admin')).token);
    const app = await client.application();
    const report = texts.map((_, index) => `Found ${index},high,a${index}.js,3,r`).join('\n');
    await client.send(app, `title,severity,file,line,rule\n${report}\n`);
    const { sql } = database;
    const bill = {
      bomFormat: 'CycloneDX',
      specVersion: '1.5',
      components: [{ type: 'library', name: 'x', version: '1' }],
    };
    await client.send(app, bill, {}, '/sca/sboms');
    const stored = `git+https://me:${secret}@h.example/x`;
    await sql`update vm_sbom_components set version = ${stored}`;
    await sql`update vm_sboms set name = ${stored}`;
    for (const [index, text] of texts.entries())
      await sql`
        update vm_finding_details d set description = ${text} from vm_findings f
        where f.id = d.finding_id and f.title = ${`Found ${index}`}`;
    const shown = async (): Promise<string> =>
      JSON.stringify([await client.findings(app), await sql`select * from vm_sboms, vm_sbom_components`]);
    t.match(await shown(), secret);
    await sql.unsafe((await readFile(migration, 'utf8')).replace(/^(?:alter|create).*$/gm, ''));
    await at.jobs
      .find(({ name }) => name === 'vm-masking')
      ?.run({ nowMs: at.clock.nowMs, signal: new AbortController().signal });
    const after = await shown();
    t.notMatch(after, secret);
    t.match(after, 'password%22', 'the rest of the address stays');
  }),
);
