// Secrets that show by no form of their own what they are: what the texts of tools say beside them tells it. Each row
// is a way how some tool quotes one; after its import no answer, no export and no table has it, and another import of
// the same report finds the same findings.
import t, { type Test } from 'tap';
import { startTestApp } from '#api/testing/app';
import { onBothDatabases } from '#api/testing/databases';
import { dump, holds } from '../testing/canary.js';
import { Client } from '../testing/import-client.js';
import {
  honestAddresses,
  honestMessages,
  honestSnippets,
  nuclei,
  parameters,
  sarif,
  tokenWays,
  ways,
  zap,
} from '../testing/reports-with-secrets.js';

type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];

/** Made by chance: letters of one case, letters with digits and signs, hexadecimal digits. */
const word = 'qzkvplmr';
const mixed = 'Winter-77xGarden';
const hex = 'fa1c257c6f561c5cb347611a3ce9d97d';
const hex40 = '67efc2f91624a8940f1f836f99eee3692f09e2e8';

async function suite(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const client = new Client(at, (await at.user('admin')).token);

  /** Imports it twice: nothing of it comes out, and the second import knows the findings of the first. */
  async function imported(t: Test, report: unknown, secret: string, what: string): Promise<void> {
    const app = await client.application();
    const preview = await client.send(app, report, {}, '/imports/preview');
    const done = await client.send(app, report);
    t.equal(done.status, 202, `${what}: ${JSON.stringify(done.body).slice(0, 200)}`);
    const { created } = done.body['report'] ?? {};
    t.ok(created > 0, `${what} makes findings`);
    holds(t, JSON.stringify([preview, done, await client.findings(app)]), secret, what);
    for (const format of ['csv', 'json', 'sarif'])
      holds(
        t,
        (await client.call('GET', `/findings/export?format=${format}&application_id=${app}`)).text,
        secret,
        `${what} as ${format}`,
      );
    const again = await client.send(app, report, { mode: 'sync' });
    t.match(again.body['report'], { created: 0, unchanged: created, closed: 0 }, `${what} stays what it is`);
  }

  await t.test('22 Q5: what tools quote', async (t) => {
    for (const [what, report] of Object.entries(ways))
      for (const secret of [word, mixed, 'Tr0ub4dor!x', 'mvtrwqpkzz'])
        await imported(t, report(secret), secret, `${what}: ${secret}`);
  });

  await t.test('22 Q5: tokens that tools quote', async (t) => {
    for (const [what, report] of Object.entries(tokenWays))
      for (const secret of [hex, hex40]) {
        await imported(t, report(secret), secret, what);
        holds(t, await dump(database.sql), secret.toUpperCase(), what);
      }
  });

  await t.test('22 Q5: parameters of addresses', async (t) => {
    for (const name of parameters)
      for (const secret of [hex, 'Ab3xYq9TkZ'])
        await imported(t, nuclei(`https://h.example/?a=1&${name}=${secret}`), secret, name);
    await imported(t, zap(`https://s.example/s?session=${hex}`), hex, 'ZAP');
    await imported(t, nuclei(`https://h.example/a;jsessionid=${hex}`), hex, 'a parameter of the path');
    await imported(t, nuclei(`https://h.example/cb#access_token=${hex}`), hex, 'a fragment');
    await imported(t, nuclei('https://h.example/?otp=418203'), '418203', 'a number of one time');
  });

  await t.test('22 Q5: of an address only the secret is hidden', async (t) => {
    const app = await client.application();
    await client.send(app, nuclei(`https://h.example/?page=7&sid=${hex}&sort=name`));
    t.match(JSON.stringify(await client.findings(app)), 'https://h.example/?page=7&sid=fa1c****&sort=name');
  });

  await t.test('22 Q7: the root of a report can be sent back, and a token in it cannot be read', async (t) => {
    const at7 = (root: string, path: string) => {
      const report = sarif({});
      for (const one of report.runs[0]?.results[0]?.locations ?? [])
        one.physicalLocation.artifactLocation.uri = `${root}/${path}`;
      return report;
    };
    for (const root of [
      '/private/var/folders/zz/T/shop-8812',
      '/home/Runner-7/Work_2/Shop1/aB3/x9Y',
      '/builds/K7/3f9a/passwords=2/Auth7Token/x',
      'D:/Agent7/_work/12/s',
    ]) {
      const app = await client.application();
      const done = await client.send(app, at7(root, 'src/a.js'), { root });
      t.equal(done.body['report']?.['root'], root);
      const again = await client.send(app, at7(root, 'src/a.js'), {
        root: String(done.body['report']?.['root']),
        mode: 'sync',
      });
      t.match(again.body['report'], { created: 0, unchanged: 1 }, root);
      t.match((await client.findings(app))[0]?.['location'], /^src\/a\.js/);
    }
    const token = `ghp_${hex}abcd`;
    const masked = await client.send(await client.application(), at7(`/home/${token}/shop`, 'a.js'), {
      root: `/home/${token}/shop`,
    });
    t.equal(masked.body['report']?.['root'], '/home/ghp_****/shop');
  });

  await t.test('22 E: the package of a result of Snyk keeps its version', async (t) => {
    for (const name of ['lodash', '@angular/core', 'org.apache.logging.log4j:log4j-core']) {
      const report = sarif({
        tool: 'Snyk Open Source',
        rule: 'SNYK-JS-X-1',
        message: `This file introduces a vulnerable ${name} package.`,
      });
      Object.assign(report.runs[0]?.tool.driver.rules[0] ?? {}, {
        fullDescription: { text: `(CVE-2021-23337) ${name}@4.17.20` },
      });
      const app = await client.application();
      await client.send(app, report);
      const [found] = await client.findings(app);
      t.match(String(found?.['location']), `${name}@4.17.20`, name);
    }
  });

  await t.test('22 Q5: rows from before', async (t) => {
    const app = await client.application();
    await client.send(app, ways['CodeQL js']?.('placeholder1'));
    await client.send(app, nuclei(`https://h.example/?sid=${hex}`));
    await database.sql`
      update vm_findings set is_masked = false, title = ${`The hard-coded value "${word}" is used as a key`}
      where application_id = ${app} and source = 'sast'`;
    await database.sql`
      update vm_finding_details set description = ${`Hard-coded password "${word}"`},
        location = ${database.sql.json({ kind: 'code', path: 'src/a.js', line: 7, snippet: `f("${word}")` })}
      where finding_id in (select id from vm_findings where application_id = ${app} and source = 'sast')`;
    await database.sql`
      update vm_findings set is_masked = false, location = ${`https://h.example/?sid=${hex}`}
      where application_id = ${app} and source <> 'sast'`;
    await at.jobs
      .find(({ name }) => name === 'vm-masking')
      ?.run({ nowMs: at.clock.nowMs, signal: new AbortController().signal });
    holds(t, await dump(database.sql), word, 'the database');
    holds(t, await dump(database.sql), hex, 'the database');
  });

  await t.test('22 Q5: what is no secret stays readable', async (t) => {
    for (const address of honestAddresses) {
      const app = await client.application();
      await client.send(app, nuclei(address));
      t.match(JSON.stringify((await client.findings(app))[0]?.['location']), address, address);
    }
    for (const one of honestMessages) {
      const app = await client.application();
      await client.send(app, sarif(one));
      const text = JSON.stringify((await client.findings(app))[0]);
      t.ok(text.includes(JSON.stringify(one.message).slice(1, -1)), `${one.message}: ${text.slice(0, 300)}`);
    }
    for (const snippet of honestSnippets) {
      const app = await client.application();
      await client.send(app, sarif({ snippet }));
      const text = JSON.stringify((await client.findings(app))[0]);
      t.ok(text.includes(JSON.stringify(snippet).slice(1, -1)), `${snippet}: ${text.slice(0, 600)}`);
    }
  });

  await t.test('22 Q5: nothing of it is stored', async (t) => {
    const all = await dump(database.sql);
    for (const secret of [word, mixed, hex, hex40, 'Tr0ub4dor!x', 'mvtrwqpkzz', 'Ab3xYq9TkZ', '418203'])
      holds(t, all, secret, 'the database');
  });
}

t.test('secrets that tools quote', { timeout: 600_000 }, (t) => onBothDatabases(t, 'canary-credentials', suite));
