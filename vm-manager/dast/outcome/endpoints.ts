// What is left of scans: their log, what they covered of what is known of the target, two of them side by side; and the
// end of one that is not needed any more.
import { ApiError, OneOf, Time } from '#http-kit';
import { Type } from '@sinclair/typebox';
import { severityNames } from '../../findings/words.js';
import { endpoint, unfit, type Endpoint } from '../../kit/endpoint.js';
import type { Run } from '../../kit/runs.js';
import { textOf } from '../../kit/values/text.js';
import { checkTexts } from '../checks/index.js';
import { requireScan } from '../run/store.js';
import { covered, operationOf } from './covered.js';

const closed = { additionalProperties: false } as const;
const linesMax = 500;

const Line = Type.Object({ line: Type.Integer(), at: Time, text: Type.String() });

/** Places that a comparison answers; of more it says so. */
const placesMax = 10_000;

const Place = Type.Object({
  check: Type.String(),
  title: Type.String(),
  severity: OneOf(severityNames),
  method: Type.String(),
  url: Type.String(),
  param: Type.Union([Type.String(), Type.Null()]),
});

interface FoundPlace {
  readonly check_id: string;
  readonly title: string;
  readonly severity: number;
  readonly method: string;
  readonly url: string;
  readonly param: string | null;
  readonly in_a: boolean;
  readonly in_b: boolean;
}

const viewPlace = ({ check_id: check, title, severity, method, url, param }: FoundPlace) => ({
  ...{ check, title, severity: severityNames[severity] ?? 'info', method, url, param },
});

/** Checks that look at the site as a whole, wherever they find something. */
const ofSite: ReadonlySet<string> = new Set(
  checkTexts.filter((one) => ('on' in one ? one.on : 'of' in one ? one.of : '') === 'site').map(({ id }) => id),
);

/**
 * That a check found nothing says something only where the scan came to its end, knew the place, and looked at all of
 * its places.
 */
function isSure(run: Run, { check_id: check, method, url }: FoundPlace): boolean {
  const {
    complete,
    checks,
    not_looked_at: missed,
    shapes = [],
  } = run.result as {
    readonly complete?: boolean;
    readonly checks?: Readonly<Record<string, number>>;
    readonly not_looked_at?: Readonly<Record<string, number>>;
    /** The first 500; of what is beyond them nothing is sure. */
    readonly shapes?: readonly string[];
  };
  const isKnown = ofSite.has(check) || new Set(shapes.map(operationOf)).has(operationOf(`${method} ${url}`));
  return isKnown && complete === true && (checks?.[check] ?? 0) > 0 && (missed?.[check] ?? 0) === 0;
}

export const resultEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/scans/:id/log',
    permission: 'view_scans',
    kind: 'R',
    summary: `What a scan did, line by line, at most ${linesMax} behind \`after\``,
    query: Type.Object(
      {
        after: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000 })),
        limit: Type.Optional(Type.Integer({ minimum: 1, maximum: linesMax })),
      },
      closed,
    ),
    answer: Type.Object({
      items: Type.Array(Line),
      next_after: Type.Integer({ description: 'of the next question, also where there is no more yet' }),
    }),
    handle: async ({ sql, reach, params, query }) => {
      const { id } = await requireScan(sql, reach, params['id'] ?? '');
      const { after = 0, limit = linesMax } = query;
      const rows = await sql<{ line: number; at: Date; text: string }[]>`
        select line, at, text from vm_run_lines where run_id = ${id} and line > ${after} order by line limit ${limit}`;
      const items = rows.map(({ line, at, text }) => ({ line, at: at.toISOString(), text }));
      return { items, next_after: items.at(-1)?.line ?? after };
    },
  }),
  endpoint({
    method: 'GET',
    path: '/scans/:id/coverage',
    permission: 'view_scans',
    kind: 'A',
    summary: 'What a scan looked at, of its own forms and of what the data plane has seen of the target',
    answer: Type.Object({
      complete: Type.Boolean(),
      pages: Type.Integer(),
      forms: Type.Integer(),
      forms_done: Type.Integer(),
      percent: Type.Integer({ description: 'of its own forms' }),
      inventory: Type.Object({
        known: Type.Integer({ description: 'operations that the data plane has seen of this host' }),
        covered: Type.Integer(),
        percent: Type.Union([Type.Integer(), Type.Null()], { description: 'null: nothing is known' }),
        missing: Type.Array(Type.String(), { description: 'at most 200' }),
      }),
      sources: Type.Record(Type.String(), Type.Integer()),
      checks: Type.Array(Type.Object({ id: Type.String(), places: Type.Integer(), not_looked_at: Type.Integer() })),
      left_out: Type.Array(Type.Object({ url: Type.String(), reason: Type.String() })),
      notes: Type.Array(Type.String()),
    }),
    handle: async ({ host, sql, reach, params }) => {
      const run = await requireScan(sql, reach, params['id'] ?? '');
      const url = textOf(run.input['url']);
      const seen = URL.canParse(url) ? ((await host.seenEndpoints?.(new URL(url).hostname)) ?? []) : [];
      return covered(run, seen);
    },
  }),
  endpoint({
    method: 'GET',
    path: '/scans/compare',
    permission: 'view_findings',
    kind: 'A',
    summary: 'Two scans of one target: what is new in b, what is gone, what is in both; and of what b says nothing',
    query: Type.Object({ a: Type.String({ maxLength: 20 }), b: Type.String({ maxLength: 20 }) }, closed),
    answer: Type.Object({
      a: Type.String(),
      b: Type.String(),
      truncated: Type.Boolean({ description: 'there are more than 10,000 places; the gravest are compared' }),
      new: Type.Array(Place),
      fixed: Type.Array(Place, { description: 'the same check of b looked at all its places and found it no more' }),
      not_looked_at: Type.Array(Place, { description: 'not in b, which did not look there to its end' }),
      same: Type.Array(Place),
    }),
    handle: async ({ sql, reach, query }) => {
      const [a, b] = [await requireScan(sql, reach, query.a), await requireScan(sql, reach, query.b)];
      if (a.input['target_id'] !== b.input['target_id'])
        throw unfit('b', 'is a scan of another target', 'compare two scans of one target');
      const found = await sql<FoundPlace[]>`
        select check_id, max(title) as title, max(severity) as severity, method, url, param,
          bool_or(run_id = ${a.id}) as in_a, bool_or(run_id = ${b.id}) as in_b
        from vm_scan_findings where run_id in ${sql([a.id, b.id])}
        group by check_id, method, url, param order by max(severity) desc, check_id, url, param limit ${placesMax + 1}`;
      const rows = found.slice(0, placesMax);
      const gone = rows.filter((row) => row.in_a && !row.in_b);
      return {
        ...{ a: String(a.id), b: String(b.id), truncated: found.length > placesMax },
        new: rows.filter((row) => row.in_b && !row.in_a).map(viewPlace),
        fixed: gone.filter((row) => isSure(b, row)).map(viewPlace),
        not_looked_at: gone.filter((row) => !isSure(b, row)).map(viewPlace),
        same: rows.filter((row) => row.in_a && row.in_b).map(viewPlace),
      };
    },
  }),
  endpoint({
    method: 'DELETE',
    path: '/scans/:id',
    permission: 'run_scans',
    kind: 'C',
    summary: 'Delete a scan with its log and its requests and answers; its findings stay',
    status: 204,
    handle: async (call) => {
      const { id, status } = await requireScan(call.sql, call.reach, call.params['id'] ?? '');
      if (status === 'queued' || status === 'running')
        throw new ApiError('conflict', 'The scan is running: cancel it first.');
      await call.audited(
        'vm.delete',
        `deleted the scan ${id}`,
        async (tx) => void (await tx`delete from vm_runs where id = ${id}`),
      );
    },
  }),
];
