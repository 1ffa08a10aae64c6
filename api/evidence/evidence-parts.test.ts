// The counting of evidence in parts: what it asks of the database at once, and that its shortcut leaves nothing out.
import t, { type Test } from 'tap';
import type { Database } from '../db/client.js';
import { onBothDatabases } from '../testing/databases.js';
import { countEvidence } from './counting.js';
import { pathPattern, roughPattern, type Exclusion } from './scope.js';

const now = new Date('2026-03-01T12:00:00Z');
const exclusion = (id: number, path: string | null, over: Partial<Exclusion> = {}): Exclusion => ({
  id,
  rule_id: 942100,
  tag: null,
  target: 'ARGS:q',
  path,
  method: null,
  sites: [],
  reason: '',
  owner: '',
  expires_at: null,
  enabled: true,
  ...over,
});

async function suite(t: Test, database: Database): Promise<void> {
  const { sql } = database;
  await sql`
    create table request_records_20260301 partition of request_records
    for values from ('2026-03-01') to ('2026-03-02')`;
  const add = (uris: readonly string[]) => sql`
    insert into request_records (at, request_id, site, client_ip, method, uri, status, verdict, rule_ids)
    select ${now}, 'r', 's', '192.0.2.1', 'GET', value, 200, 'pass', '[942100]'
    from json_array_elements_text(${JSON.stringify(uris)}::text::json)`;
  const countedTo = async (): Promise<number> =>
    Number((await sql`select counted_to from evidence_state`)[0]?.['counted_to']);

  const paths = [
    '/a',
    '/a/b',
    '/ab',
    '/a_b',
    '/a%b',
    '/a\\b',
    '/axb',
    '/a/x/c',
    '/a/x/y/c',
    '/x/1.json',
    '/x/1xjson',
    '/A',
    '//a',
    '/a*b',
    '/a?b',
    '/',
    '/a/x/c#f',
    '/ü',
  ];
  const exclusions = [null, '/', '/a', '/a/*', '/a/*/c', '/a_b', '/a%b', '/a\\b', '/x/*.json', '/*/b', '/ü', '/a*'].map(
    (path, n) => exclusion(1009500 + n, path),
  );
  exclusions.push(
    exclusion(1009600, '/a', { method: 'POST' }),
    exclusion(1009601, '/a', { method: 'GET' }),
    exclusion(1009602, '/a', { method: '*' }),
  );
  await countEvidence(database, exclusions, now);
  await add(paths);
  await add(['/a?x=1', '/a?x=2']);
  t.equal(await countEvidence(database, exclusions, now), paths.length + 2);
  const found = new Map(
    (
      await sql<
        { id: number; n: number }[]
      >`select exclusion_id as id, sum(requests)::bigint as n from exclusion_uses group by 1`
    ).map(({ id, n }) => [id, n]),
  );
  for (const { id, path, method } of exclusions) {
    const pattern = new RegExp(pathPattern(path) ?? '');
    const wanted = method === 'POST' ? 0 : [...paths, '/a?x=1', '/a?x=2'].filter((uri) => pattern.test(uri)).length;
    t.equal(found.get(id), wanted, `${path} as ${roughPattern(path)}`);
  }

  // how far it has come each time it lets others go first
  const stops: number[] = [];
  const watched = {
    sql,
    kind: database.kind,
    copyFiles: null,
    untilQuiet: async () => {
      stops.push(await countedTo());
      return false;
    },
  };
  const before = await countedTo();
  await add(Array.from({ length: 2500 }, (_, n) => `/p/${n}`));
  t.equal(await countEvidence(watched, [], now), 2500);
  t.same(
    stops.map((at) => at - before),
    database.kind === 'embedded' ? [0, 1000, 2000] : [0],
  );
  stops.length = 0;
  await add(Array.from({ length: 500 }, (_, n) => `/q/${n}`));
  t.equal(
    await countEvidence(
      watched,
      Array.from({ length: 450 }, (_, n) => exclusion(1009700 + n, `/q/${n}`)),
      now,
    ),
    500,
  );
  t.equal(stops.length, database.kind === 'embedded' ? 5 : 1, 'the more exclusions, the fewer records at once');
  t.match(
    await sql`
      select count(*) filter (where requests = 1) as one, count(*) filter (where requests = 0) as none
      from exclusion_uses where exclusion_id >= 1009700`,
    [{ one: 450, none: 0 }],
  );
  t.equal(
    Number((await sql`select sum(hits) as n from rule_hits`)[0]?.['n']),
    paths.length + 2 + 3000,
    'each record once',
  );
}

t.test('evidence in parts', (t) => onBothDatabases(t, 'evidence in parts', suite));
