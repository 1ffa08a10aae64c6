// What is older than the settings say goes. No routes: the settings are its handle, GET /api/jobs tells what it did.
import type { Feature } from '../http-kit/index.js';
import { createRetentionJob, type RetentionParts } from './job.js';

export const retentionFeature: Feature<RetentionParts> = {
  name: 'retention',
  access: {},
  jobs: (parts) => [createRetentionJob(parts)],
};
