// Pages of a list of 200,000 findings on the embedded database: page 10,000 and the pages around it, by offset and by
// cursor, are what sorting all rows in memory gives, and no page is made by sorting the table. How long they take is
// told here and measured by `bench/run.js --case vm-list`.
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { startTestApp } from '#api/testing/app';
import { onEmbeddedDatabase } from '#api/testing/databases';
import type { Sql } from '../database.js';
import { renewStatistics } from '../imports/import-store.js';

const count = 200_000;
/** Page 10,000 of twenty rows each is the last. */
const pageRows = 20;
const deepOffset = 9_999 * pageRows;

interface Plain {
  readonly id: number;
  readonly is_open: boolean;
  readonly severity: number;
  readonly source: string;
  readonly words: string;
  readonly priority: number;
  readonly risk: number;
  readonly first: number;
  readonly last: number;
  readonly due: number;
}

/** Rows whose columns are sums of their numbers, with many equal values in each, so that ids decide often. */
async function fill(sql: Sql): Promise<void> {
  await sql`insert into vm_applications (id, name, created_at, updated_at) overriding system value
    select n, 'Application ' || n, now(), now() from generate_series(1, 100) n`;
  const indexes = await sql<{ name: string; made: string }[]>`
    select indexname as name, indexdef as made from pg_indexes
    where tablename = 'vm_findings' and indexname not in (select conname from pg_constraint)`;
  // made again afterwards: a row at a time they would cost ten times as much
  for (const { name } of indexes) await sql`drop index ${sql(name)}`;
  await sql`alter table vm_findings disable trigger user`;
  await sql`
    insert into vm_findings (application_id, title, location, status, severity, source, effective_risk, risk_score,
      priority_score, fingerprint, sla_start, due_at, first_seen, last_seen, created_at, updated_at)
    select 1 + n % 100, 'Finding ' || n % 7, 'src/100%_a\module-' || n % 89 || '/File-' || n % 499 || '.ts',
      case when n * 7 % 10 < 4 then 'triaged' else 'resolved' end, n * 13 % 5,
      (array['sast', 'dast', 'sca'])[1 + n % 3], n * 31 % 101, n * 31 % 101, n * 17 % 9973, n::text, now(),
      case when n % 3 = 0 then timestamptz '2026-01-01' + make_interval(secs => n * 29 % 8009) end,
      timestamptz '2026-01-01' + make_interval(secs => n * 19 % 7001),
      timestamptz '2026-02-01' + make_interval(secs => n * 23 % 6007), now(), now()
    from generate_series(1, ${count}::int) n`;
  await sql`alter table vm_findings enable trigger user`;
  for (const { made } of indexes) await sql.unsafe(made);
  await sql`vacuum analyze vm_findings`;
}

type Of = (row: Plain) => number;
const [byPriority, byFirst, byLast, byRisk, byGravity, byDue]: [Of, Of, Of, Of, Of, Of] = [
  (row) => row.priority,
  (row) => row.first,
  (row) => row.last,
  (row) => row.risk,
  (row) => row.severity,
  (row) => row.due,
];
const every = (): boolean => true;
const isOpen = (row: Plain): boolean => row.is_open;

/** Query, which rows, in which order, and whether the largest come first. */
const questions: readonly (readonly [string, (row: Plain) => boolean, Of, boolean])[] = [
  ['', every, byPriority, true],
  ['sort=-last_seen', every, byLast, true],
  ['sort=last_seen', every, byLast, false],
  ['sort=-last_seen&status=open', isOpen, byLast, true],
  ['sort=last_seen&severity=high', ({ severity }) => severity === 3, byLast, false],
  ['sort=first_seen', every, byFirst, false],
  ['sort=-risk', every, byRisk, true],
  ['sort=-severity', every, byGravity, true],
  ['sort=due_at', every, byDue, false],
  ['status=open', isOpen, byPriority, true],
];

async function sorted(sql: Sql): Promise<Plain[]> {
  return sql<Plain[]>`
    select id, is_open, severity, source, lower(title || ' ' || location) as words, priority_score as priority,
      effective_risk as risk,
      extract(epoch from first_seen)::float8 as first, extract(epoch from last_seen)::float8 as last,
      coalesce(extract(epoch from due_at)::float8, 'infinity'::float8) as due
    from vm_findings`;
}

const orders: Readonly<Record<string, Of>> = {
  priority: byPriority,
  risk: byRisk,
  severity: byGravity,
  first_seen: byFirst,
  last_seen: byLast,
  due_at: byDue,
  id: ({ id }) => id,
};
const severities = ['info', 'low', 'medium', 'high', 'critical'];
/** From all rows to none, with what LIKE and folding take for something else. */
const searches = ['file-77.ts', '.ts', 'E-77', '77.t', 'finding 3', '%_A\\', '100%', '_', 'file_77', 'a\\%', 'nowhere'];

interface Asked {
  readonly severity: readonly number[];
  readonly status: 'open' | 'closed' | null;
  readonly source: string | null;
  readonly sla: 'breached' | 'none' | null;
  readonly words: string | null;
  readonly order: string;
  readonly isDown: boolean;
  readonly place: number;
}
const maybe = <T>(...all: readonly T[]) => fc.option(fc.constantFrom(...all), { nil: null, freq: 1 });
const asked: fc.Arbitrary<Asked> = fc.record({
  severity: fc.subarray([0, 1, 2, 3, 4], { maxLength: 2 }),
  status: maybe('open' as const, 'closed' as const),
  source: maybe('sast', 'dast', 'secret'),
  sla: maybe('breached' as const, 'none' as const),
  words: maybe(...searches),
  order: fc.constantFrom(...Object.keys(orders)),
  isDown: fc.boolean(),
  place: fc.double({ min: 0, max: 1, noNaN: true }),
});

/** As a person would: look at each row, then sort what is left. */
function plainly(all: readonly Plain[], given: Asked, nowSeconds: number): number[] {
  const { severity, status, source, sla, words, isDown } = given;
  const of = orders[given.order] ?? byPriority;
  const rows = all.filter(
    (row) =>
      (severity.length === 0 || severity.includes(row.severity)) &&
      (status === null || row.is_open === (status === 'open')) &&
      (source === null || row.source === source) &&
      (sla !== 'none' || row.due === Infinity) &&
      (sla !== 'breached' || (row.is_open && row.due <= nowSeconds)) &&
      (words === null || row.words.includes(words.toLowerCase())),
  );
  const direction = isDown ? -1 : 1;
  rows.sort((left, right) => {
    const [one, other] = [of(left), of(right)];
    return direction * (one === other ? left.id - right.id : one < other ? -1 : 1);
  });
  return rows.map(({ id }) => id);
}

function queryOf({ severity, status, source, sla, words, order, isDown }: Asked): string {
  const query = new URLSearchParams({ sort: `${isDown ? '-' : ''}${order}` });
  for (const one of severity) query.append('severity', severities[one] ?? '');
  for (const [name, value] of Object.entries({ status, source, sla_state: sla, q: words }))
    if (value !== null) query.set(name, value);
  return query.toString();
}

async function suite(t: Test, database: Parameters<typeof startTestApp>[0]): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const { sql } = database as unknown as { sql: Sql };
  await fill(sql);
  const all = await sorted(sql);
  t.equal(all.length, count);
  const { token } = await at.user('admin');
  const ask = async (query: string) => {
    const reply = await at.call('GET', `/api/v1/vulnerabilities?limit=${pageRows}&${query}`, { token });
    if (reply.status !== 200) throw new Error(reply.text);
    return {
      ids: (reply.body['items'] as { id: string }[]).map(({ id }) => Number(id)),
      total: reply.body['total'] as number,
      isEstimate: reply.body['total_is_estimate'] as boolean,
      next: reply.body['next_cursor'] as string | null,
    };
  };
  for (const [query, takes, of, isDown] of questions) {
    await t.test(`14.9: pages of 200,000 findings: ${query || 'by priority'}`, async (t) => {
      const sign = isDown ? -1 : 1;
      const rows = all.filter(takes).sort((left, right) => sign * (of(left) - of(right) || left.id - right.id));
      const page = (offset: number): number[] => rows.slice(offset, offset + pageRows).map(({ id }) => id);
      const first = await ask(query);
      t.same(first.ids, page(0), 'page 1');
      t.ok(Math.abs(first.total - rows.length) <= rows.length / 10, `Q10: ${first.total} is nearly ${rows.length}`);
      if (rows.length <= 100_000) t.equal(first.total, rows.length, 'Q10: exact up to 100,000');
      const start = performance.now();
      const last = Math.min(deepOffset, rows.length - pageRows);
      t.same((await ask(`${query}&offset=${last}`)).ids, page(last), 'the last page');
      t.comment(`the last page took ${Math.round(performance.now() - start)} ms`);
      const middle = await ask(`${query}&offset=${last - 3 * pageRows}`);
      const next = await ask(`${query}&cursor=${encodeURIComponent(middle.next ?? '')}`);
      t.same(next.ids, page(last - 2 * pageRows), 'the page after one, by its cursor');
    });
  }
  await t.test('14.9: pages of any filters in any order are those of a plain reading', async (t) => {
    const settings = { seed: Number(process.env['SEED'] ?? 20_261_123), numRuns: 40 };
    const check = fc.asyncProperty(asked, async (given) => {
      const [ids, query] = [plainly(all, given, at.clock.nowMs / 1000), queryOf(given)];
      const offset = Math.floor(given.place * ids.length);
      const page = await ask(`${query}&offset=${offset}`);
      t.same(page.ids, ids.slice(offset, offset + pageRows), `${query} from ${offset} of ${ids.length}`);
      t.equal(page.isEstimate, ids.length > 100_000, 'counted as far as is said');
      t.ok(Math.abs(page.total - ids.length) <= ids.length / 10, `${page.total} is nearly ${ids.length}`);
      if (!page.isEstimate) t.equal(page.total, ids.length, 'every one is counted');
      t.equal(page.next === null, offset + pageRows >= ids.length, 'the last page says so');
      if (page.next === null) return;
      const next = await ask(`${query}&cursor=${encodeURIComponent(page.next)}`);
      t.same(next.ids, ids.slice(offset + pageRows, offset + 2 * pageRows), `${query} behind it`);
    });
    await fc.assert(check, settings);
  });
  await t.test('14.9: no column that a list is sorted by makes the database sort the table', async (t) => {
    const columns = [
      'last_seen desc',
      'first_seen desc',
      'effective_risk desc',
      'severity desc',
      'priority_score desc',
    ];
    for (const column of columns) {
      const plan = await sql<Record<string, string>[]>`
        explain select id from vm_findings order by ${sql.unsafe(column)}, id desc limit 21 offset 10000`;
      const text = plan.flatMap((row) => Object.values(row)).join('\n');
      t.match(text, /Index Only Scan/, column);
      t.notMatch(text, /Sort|Seq Scan/, column);
    }
    const open = [
      ['last_seen desc, id desc', 'last_seen'],
      ['first_seen desc, id desc', 'first_seen'],
      ['effective_risk desc, id desc', 'risk'],
      ["coalesce(due_at, 'infinity'::timestamptz), id", 'due_or_never'],
    ] as const;
    for (const [order, name] of open) {
      const plan = await sql<Record<string, string>[]>`
        explain select id from vm_findings where is_open order by ${sql.unsafe(order)}
        limit 21 offset 60000`;
      const text = plan.flatMap((row) => Object.values(row)).join('\n');
      t.match(text, new RegExp(`Index Only Scan using vm_findings_open_by_${name}`), 'closed ones are not passed over');
    }
    for (const [order, name] of open)
      for (const filter of [`source = 'sast'`, `status = 'resolved'`, `is_open and source = 'sast'`]) {
        const plan = await sql<Record<string, string>[]>`
          explain select id from vm_findings where ${sql.unsafe(filter)} order by ${sql.unsafe(order)}
          limit 21 offset 5000`;
        const text = plan.flatMap((row) => Object.values(row)).join('\n');
        t.match(
          text,
          /Index Only Scan[^]*Index Cond: \(\w+ = '\w+'::text\)/,
          `${filter} is asked in the index by ${name}`,
        );
        t.notMatch(text, /Sort|Filter/, filter);
      }
  });

  await t.test('D: an import renews the statistics of smaller tables from a sample', async (t) => {
    const bounds = async (): Promise<number> => {
      const [row] = await sql<{ bounds: number }[]>`
        select array_length(histogram_bounds::text::text[], 1) as bounds from pg_stats
        where tablename = 'vm_findings' and attname = 'last_seen'`;
      return row?.bounds ?? 0;
    };
    const whole = await bounds();
    t.ok(whole > 11, `a whole sample has ${whole} bounds`);
    await sql.begin((tx) => renewStatistics(tx, 2000, 19_999));
    t.equal(await bounds(), whole, 'left alone between the sizes at which plans change');
    await sql`update pg_class set reltuples = 1e6
      where oid in ('vm_findings'::regclass, 'vm_occurrences'::regclass, 'vm_finding_details'::regclass)`;
    await sql.begin((tx) => renewStatistics(tx, 0, 20_000));
    t.equal(await bounds(), whole, 'and where the tables are known to be as large');
    await sql`update pg_class set reltuples = 10 where oid = 'vm_findings'::regclass`;
    await sql.begin((tx) => renewStatistics(tx, 0, 2000));
    t.ok((await bounds()) <= 11, 'renewed, from a tenth of the rows');
    const [known] = await sql<{ rows: number }[]>`
      select reltuples::float8 as rows from pg_class where oid = 'vm_findings'::regclass`;
    t.ok(Math.abs((known?.rows ?? 0) - count) < count / 5, 'which still knows how large the table is');
    const [setting] = await sql<{ target: string }[]>`select current_setting('default_statistics_target') as target`;
    t.equal(setting?.target, '100', 'for that transaction alone');
  });
}

void onEmbeddedDatabase(t, 'a list of many findings', suite);
