import { Type } from '@sinclair/typebox';
import type { App, House } from '../parts.js';
import { ApiError } from '../http-kit/problem.js';
import { refusals } from '../http-kit/schema.js';
import type { SharedLimitsState } from '../http-kit/limits/shared-limits.js';

const SharedLimitsView = Type.Object({
  kind: Type.Unsafe<SharedLimitsState['kind']>({ type: 'string', enum: ['in_process', 'redis'] }),
  status: Type.Unsafe<SharedLimitsState['status']>({
    type: 'string',
    enum: ['ok', 'degraded'],
    description: 'degraded: Redis is away and this process counts by itself; it is ready all the same',
  }),
  fallbacks: Type.Integer({ description: 'requests that were counted without Redis since the start' }),
});

export function registerHealthRoutes(app: App, house: House, sharedLimits: () => SharedLimitsState): void {
  app.get(
    '/api/health',
    {
      schema: {
        tags: ['health'],
        summary: 'The process runs',
        security: [],
        response: { 200: Type.Object({ status: Type.Literal('ok') }), ...refusals },
      },
    },
    async () => ({ status: 'ok' as const }),
  );
  app.get(
    '/api/ready',
    {
      schema: {
        tags: ['health'],
        summary: 'The database answers and the settings are there',
        security: [],
        response: {
          200: Type.Object({
            status: Type.Literal('ready'),
            database: Type.String(),
            settings_version: Type.Integer(),
            shared_limits: SharedLimitsView,
          }),
          ...refusals,
        },
      },
    },
    async () => {
      try {
        const [row] = await house.database.sql<{ head_id: number }[]>`select head_id from settings_state`;
        if (row === undefined) throw new Error('the settings were never seeded');
        return {
          status: 'ready' as const,
          database: house.database.kind,
          settings_version: row.head_id,
          shared_limits: sharedLimits(),
        };
      } catch (cause) {
        throw new ApiError('not_ready', 'The database does not answer.', { headers: { 'retry-after': '5' }, cause });
      }
    },
  );
  // the address that `up` prints: a person who opens it gets the explorer, a program hears that there is nothing
  for (const url of ['/api', '/api/'])
    app.get(url, { schema: { hide: true } }, async (request, reply) =>
      request.headers.accept?.includes('text/html') === true ? reply.redirect('/api/docs') : reply.callNotFound(),
    );
  app.get('/api/openapi.json', { schema: { hide: true } }, async (_, reply) =>
    reply.type('application/json').send(JSON.stringify(app.swagger())),
  );
}
