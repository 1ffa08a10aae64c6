// The control plane's own metrics, for scrapers. Those of the data plane are at each node's `GET :2019/metrics`.
import { Type } from '@sinclair/typebox';
import { everybody, may, refusals, type App, type Feature } from '../http-kit/index.js';
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

export const observabilityFeature: Feature<MetricParts> = {
  name: 'observability',
  access: { 'GET /api/metrics': may('stats:read', everybody) },
  routes(app: App, parts) {
    app.get('/api/metrics', { schema, logLevel: 'warn' }, async (_, reply) =>
      reply.type('text/plain; version=0.0.4; charset=utf-8').send(render(await readSamples(parts))),
    );
  },
};
