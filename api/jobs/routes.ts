import { Type } from '@sinclair/typebox';
import type { App, House } from '../parts.js';
import { Nullable, refusals, Time } from '../http-kit/schema.js';

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

export function registerJobRoutes(app: App, house: House): void {
  app.get(
    '/api/jobs',
    {
      schema: {
        tags: ['operations'],
        summary: 'Background jobs: runs, failures, last result',
        response: { 200: Type.Object({ items: Type.Array(JobView) }), ...refusals },
      },
    },
    async () => {
      const rows = await house.database.sql<JobRow[]>`select * from job_state order by name`;
      return {
        items: rows.map((row) => ({
          ...row,
          last_started_at: row.last_started_at?.toISOString() ?? null,
          last_ended_at: row.last_ended_at?.toISOString() ?? null,
        })),
      };
    },
  );
}
