// A match with the advisories beside imports: neither waits for the other on PostgreSQL, and nothing noted is lost.
import t, { type Test } from 'tap';
import { startTestApp } from '#api/testing/app';
import { onOneDatabase, withoutPostgres } from '#api/testing/databases';
import { systemActor } from '#http-kit';
import { noteChanged } from '../components/store.js';
import type { Tx } from '../database.js';
import { Client } from '../testing/import-client.js';
import { matchApplication } from './run.js';

type Database = Parameters<Parameters<typeof onOneDatabase>[2]>[1];

const bill = {
  bomFormat: 'CycloneDX',
  specVersion: '1.5',
  components: [{ type: 'library', name: 'left', version: '1.0.0', purl: 'pkg:npm/left@1.0.0' }],
};
const advisory = {
  ...{ schema_version: '1.6.0', id: 'GHSA-2222-3333-4444', modified: '2026-02-01T00:00:00Z', summary: 'x' },
  affected: [
    {
      package: { ecosystem: 'npm', name: 'left' },
      ranges: [{ type: 'SEMVER', events: [{ introduced: '0' }, { fixed: '1.3.0' }] }],
    },
  ],
};

/** Whoever imports meanwhile holds findings that the match waits for: it must not wait for the match. */
async function meanwhile(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const { token } = await at.user('admin');
  const client = new Client(at, token);
  const id = Number(await client.application());
  await client.send(String(id), bill, { format: 'cyclonedx', mode: 'sync' });
  const sent = await at.app.inject({
    method: 'POST',
    url: '/api/v1/threat-intel/bundles',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/octet-stream' },
    payload: JSON.stringify(advisory),
  });
  t.equal(sent.statusCode, 202, sent.body);
  const { sql } = database;
  const waits = async (): Promise<number> => (await sql`select 1 from vm_osv_pending`).length;
  t.equal(await waits(), 1);
  let noted = 0;
  /** Another transaction notes the application while the match is in the midst of its own. */
  const noting = (tx: Tx): Tx =>
    new Proxy(tx, {
      apply: (target, self, args: [readonly string[]]) =>
        /select project_id/.test(args[0].join?.('?') ?? '')
          ? (async () => {
              await sql.begin(async (other) => {
                await other`set local lock_timeout = 2000`;
                await noteChanged(other, id, new Date());
              });
              noted++;
              return Reflect.apply(target, self, args) as unknown;
            })()
          : (Reflect.apply(target, self, args) as unknown),
    });
  const matching = { applicationId: id, actor: systemActor, now: new Date(), keyed: (text: string) => text };
  const host = { sql, now: () => Date.now() };
  const match = (work: (tx: Tx) => Tx) =>
    matchApplication({ ...matching, host, finish: async (run) => sql.begin(async (tx) => run(work(tx))) });
  t.match(await match(noting), { status: 'succeeded' });
  t.equal(noted, 1);
  t.equal(await waits(), 1, 'what was noted meanwhile waits on');
  t.match(await match((tx) => tx), { status: 'succeeded' });
  t.equal(await waits(), 0, 'and is done with the next match');
}

t.test('a match and imports', { skip: withoutPostgres }, (t) => onOneDatabase(t, 'meanwhile', meanwhile));
