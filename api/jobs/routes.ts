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
});
interface JobRow {
  name: string;
  runs: number;
  failures: number;
  last_started_at: Date | null;
  last_ended_at: Date | null;
  last_error: string | null;
  last_result: string | null;
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
      items: rows.map((row) => ({
        ...row,
        last_started_at: row.last_started_at?.toISOString() ?? null,
        last_ended_at: row.last_ended_at?.toISOString() ?? null,
      })),
    };
  });
}
