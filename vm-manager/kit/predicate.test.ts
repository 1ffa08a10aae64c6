// A predicate means the same as SQL and as a function of a row.
import t, { type Test } from 'tap';
import fc from 'fast-check';
import { onBothDatabases } from '#api/testing/databases';
import { findingFields } from '../findings/fields.js';
import { checkPredicate, holds, toSql, type Predicate } from './predicate.js';

type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];
const seed = Number(process.env['SEED'] ?? 14);
const now = new Date('2026-03-01T00:00:00Z');

const leaf = fc.oneof(
  fc.record({
    field: fc.constant('severity'),
    op: fc.constantFrom('eq', 'ne', 'gte', 'lte'),
    value: fc.constantFrom('low', 'high', 'critical'),
  }),
  fc.record({
    field: fc.constantFrom('title', 'rule_id'),
    op: fc.constantFrom('eq', 'ne', 'contains'),
    value: fc.constantFrom('a', 'A%', '_', ''),
  }),
  fc.record({
    field: fc.constantFrom('reachable', 'kev'),
    op: fc.constantFrom('eq', 'ne', 'exists'),
    value: fc.boolean(),
  }),
  fc.record({ field: fc.constant('epss'), op: fc.constantFrom('gte', 'lte'), value: fc.constantFrom(0, 0.5, 1) }),
  fc.record({
    field: fc.constantFrom('risk', 'priority'),
    op: fc.constantFrom('eq', 'ne', 'gte', 'lte'),
    value: fc.constantFrom(-1, 0, 5, 5.5, 40_000, 1e9),
  }),
  fc.record({
    field: fc.constant('risk'),
    op: fc.constant('in'),
    value: fc.constantFrom([5, 7], [5.5, 1e9], [5, 0.1]),
  }),
  fc.record({ field: fc.constant('title'), op: fc.constantFrom('eq', 'ne'), value: fc.constant(5) }),
  fc.record({
    field: fc.constantFrom('first_seen', 'last_seen'),
    op: fc.constantFrom('gte', 'lte'),
    value: fc.constantFrom('0001-01-01', '2026-02-28T00:00:00Z', '2026-02-28T01:00:00+14:00', '9999-12-31T23:59:59Z'),
  }),
  fc.record({
    field: fc.constantFrom('assignee', 'epss', 'tag', 'due_at'),
    op: fc.constant('exists'),
    value: fc.boolean(),
  }),
  fc.record({ field: fc.constant('tag'), op: fc.constant('contains'), value: fc.constantFrom('x', 'y') }),
  fc.record({ field: fc.constant('cwe'), op: fc.constant('contains'), value: fc.constantFrom(79, 89) }),
  fc.record({ field: fc.constant('status'), op: fc.constant('in'), value: fc.constantFrom(['new'], ['new', 'muted']) }),
  fc.record({
    field: fc.constant('first_seen'),
    op: fc.constant('older_than_days'),
    value: fc.constantFrom(-1e5, 0, 5, 40, 1e5),
  }),
);
const tree = fc.letrec<{ node: unknown }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 4 },
    leaf,
    fc.record({ and: fc.array(tie('node'), { minLength: 1, maxLength: 3 }) }),
    fc.record({ or: fc.array(tie('node'), { minLength: 1, maxLength: 3 }) }),
    fc.record({ not: tie('node') }),
  ),
})).node;

async function agreement(t: Test, { sql }: Database): Promise<void> {
  const [app] = await sql<{ id: number }[]>`
    insert into vm_applications (name, created_at, updated_at) values ('a', ${now}, ${now}) returning id`;
  for (let i = 0; i < 24; i++)
    await sql`insert into vm_findings ${sql({
      application_id: app?.id ?? 0,
      title: ['a', 'A%', 'b_', 'Xa'][i % 4] ?? '',
      status: ['new', 'muted', 'resolved'][i % 3] ?? '',
      severity: i % 5,
      source: 'sast',
      rule_id: i % 2 === 0 ? '' : 'a',
      cwes: sql.json(i % 2 === 0 ? [79] : [89, 79]),
      tags: sql.json(i % 3 === 0 ? [] : ['x']),
      effective_risk: i,
      priority_score: i,
      reachable: [null, true, false][i % 3] ?? null,
      kev: i % 2 === 0,
      epss: i % 4 === 0 ? null : i / 24,
      assignee_id: i % 2 === 0 ? null : 'u',
      fingerprint: String(i),
      sla_start: now,
      first_seen: new Date(now.getTime() - i * 86_400_000),
      last_seen: now,
      created_at: now,
      updated_at: now,
    } as never)}`;
  const rows = await sql<(Record<string, unknown> & { id: number })[]>`select * from vm_findings order by id`;
  await fc.assert(
    fc.asyncProperty(tree, async (given) => {
      const predicate: Predicate = checkPredicate(given, findingFields);
      const found = await sql<{ id: number }[]>`
        select id from vm_findings where ${toSql(sql, predicate, findingFields, now)} order by id`;
      const wanted = rows.filter((row) => holds(predicate, row, findingFields, now)).map(({ id }) => id);
      return JSON.stringify(found.map(({ id }) => id)) === JSON.stringify(wanted);
    }),
    { seed, numRuns: 300 },
  );
  t.pass('14.1: 300 predicates mean the same as SQL and over rows');
}

t.test('14.1: predicates', (t) => onBothDatabases(t, 'predicates', agreement));

t.test('14.1: what is no predicate is refused with its place', async (t) => {
  const bad: readonly (readonly [unknown, RegExp])[] = [
    [null, /predicate/],
    [{ and: [] }, /\/predicate\/and/],
    [{ and: [{ field: 'severity', op: 'eq', value: 'awful' }] }, /\/and\/0\/value/],
    [{ field: 'constructor', op: 'eq', value: 1 }, /\/field/],
    [{ field: 'title', op: 'gte', value: 'a' }, /\/op/],
    [{ field: 'title', op: 'eq', value: 'a', more: 1 }, /\/more/],
    [{ field: 'kev', op: 'eq', value: 'yes' }, /\/value/],
    [{ field: 'status', op: 'in', value: [] }, /\/value/],
    ...['0000-01-01T00:00:00Z', '2026-02-30', '2025-02-29T00:00:00Z', '2026-01-01T00:00:00', '2026', 'today', 5].map(
      (value) => [{ field: 'first_seen', op: 'gte', value }, /\/value is no moment/] as const,
    ),
    ...[1e9, -1e300, '5'].map((value) => [{ field: 'first_seen', op: 'older_than_days', value }, /\/value/] as const),
    [
      Array.from({ length: 20 }).reduce<unknown>((inner) => ({ not: inner }), { field: 'kev', op: 'eq', value: true }),
      /nested/,
    ],
  ];
  for (const [predicate, where] of bad) t.throws(() => checkPredicate(predicate, findingFields), { message: where });
});
