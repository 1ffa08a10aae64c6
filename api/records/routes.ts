import { Type } from '@sinclair/typebox';
import { maskLevelOf } from '#proxy/contract';
import { requireNodeToken } from '../nodes/node-token.js';
import type { App, House } from '../parts.js';
import { refusals } from '../http-kit/schema.js';
import { insertSamples, SampleBatch } from './samples.js';

const batchBytesMax = 32 * 1024 * 1024;

export function registerSampleRoutes(app: App, house: House): void {
  app.post(
    '/api/dataplane/samples',
    {
      bodyLimit: batchBytesMax,
      logLevel: 'warn',
      // before the body is read
      onRequest: async (request) => requireNodeToken(request.headers.authorization, house.env.dataAdminToken),
      schema: {
        tags: ['data plane'],
        summary: 'A few whole requests for replays; sensitive values are masked before they are stored',
        body: SampleBatch,
        response: { 200: Type.Object({ stored: Type.Integer() }), ...refusals },
      },
    },
    async (request) => {
      const level = maskLevelOf((await house.currentSettings()).privacy_mode);
      await house.database.sql.begin((tx) => insertSamples(tx, request.body.samples, level));
      return { stored: request.body.samples.length };
    },
  );
}
