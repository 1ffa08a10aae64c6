import { Type } from '@sinclair/typebox';
import { Nullable, refusals, Time, type App } from '../http-kit/index.js';
import type { Parts } from '../parts.js';

const JobView = Type.Object({
  name: Type.String(),
  runs: Type.Integer(),
  failures: Type.Integer(),
  last_started_at: Nullable(Time),
  last_ended_at: Nullable(Time),
  last_error: Nullable(Type.String()),
  last_result: Nullable(Type.String()),
  running_since: Nullable(Type.String({ format: 'date-time', description: 'null: it does not run now' })),
  is_hanging: Type.Boolean({ description: 'it runs past its time limit; no other job waits for it' }),
});
interface JobRow {
  name: string;
  runs: number;
  failures: number;
  last_started_at: Date | null;
  last_ended_at: Date | null;
  last_error: string | null;
  last_result: string | null;
  running_since: Date | null;
  timed_out_at: Date | null;
}

const listSchema = {
  tags: ['operations'],
  summary: 'Background jobs: runs, failures, last result',
  response: { 200: Type.Object({ items: Type.Array(JobView) }), ...refusals },
};

export function registerJobRoutes(app: App, { database }: Pick<Parts, 'database'>): void {
  app.get('/api/jobs', { schema: listSchema }, async () => {
    const rows = await database.sql<JobRow[]>`select * from job_state order by name`;
    return {
      items: rows.map(({ timed_out_at: timedOutAt, running_since: since, ...row }) => ({
        ...row,
        running_since: since?.toISOString() ?? null,
        is_hanging: since !== null && timedOutAt !== null,
        last_started_at: row.last_started_at?.toISOString() ?? null,
        last_ended_at: row.last_ended_at?.toISOString() ?? null,
      })),
    };
  });
}
