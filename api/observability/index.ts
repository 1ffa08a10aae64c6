// The metrics of the control plane for scrapers and collectors (those of the data plane are at each node's
// `GET :2019/metrics`), and traces of requests.
import { Type } from '@sinclair/typebox';
import { everybody, may, refusals, type App, type Feature } from '../http-kit/index.js';
import { createMetricsJob, createTraceJob, type OtlpParts } from './otlp/job.js';
import { readSamples, type MetricParts } from './read.js';
import { render } from './render.js';

const schema = {
  tags: ['operations'],
  summary: 'Metrics of the control plane in the text format of Prometheus; an API token with stats:read scrapes them',
  response: {
    200: { description: 'metrics', content: { 'text/plain': { schema: Type.String() } } },
    ...refusals,
  },
};

export const observabilityFeature: Feature<MetricParts & OtlpParts> = {
  name: 'observability',
  access: { 'GET /api/metrics': may('stats:read', everybody) },
  routes(app: App, parts) {
    app.get('/api/metrics', { schema, logLevel: 'warn' }, async (_, reply) =>
      reply.type('text/plain; version=0.0.4; charset=utf-8').send(render(await readSamples(parts))),
    );
  },
  jobs: (parts) => [createTraceJob(parts), createMetricsJob(parts)],
  migrations: new URL('./migrations/', import.meta.url),
};
