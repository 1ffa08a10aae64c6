import { Type } from '@sinclair/typebox';
import { maskLevelOf } from '#proxy/contract';
import { refusals, type App } from '../http-kit/index.js';
import { createMasker } from '../masking/masker.js';
import type { Parts } from '../parts.js';
import { insertSamples, maskSamples, SampleBatch } from './samples.js';

export type SampleParts = Pick<Parts, 'database' | 'currentSettings'>;

const batchBytesMax = 32 * 1024 * 1024;

const schema = {
  tags: ['data plane'],
  summary: 'A few whole requests for replays; sensitive values are masked before they are stored',
  body: SampleBatch,
  response: { 200: Type.Object({ stored: Type.Integer() }), ...refusals },
};

export function registerSampleRoutes(app: App, { database, currentSettings }: SampleParts): void {
  const masker = createMasker();
  app.addHook('onClose', () => masker.close());
  app.post(
    '/api/dataplane/samples',
    { bodyLimit: batchBytesMax, logLevel: 'warn', schema },
    async ({ body: { samples } }) => {
      const level = maskLevelOf((await currentSettings()).privacy_mode);
      const masked = await maskSamples(samples, level, masker);
      await database.sql.begin((tx) => insertSamples(tx, masked));
      return { stored: samples.length };
    },
  );
}
