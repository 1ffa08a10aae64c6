// OpenTelemetry: traces of requests and metrics of the installation, sent to a collector that the operator names.
import { Type } from '@sinclair/typebox';
import { closed, Flag, HttpUrl, Secret, setting, Shaped, Whole } from '../row.js';

const Header = Type.Object(
  {
    name: Shaped("^[A-Za-z0-9!#$&'*+.^_`|~-]{1,128}$", 'write the name of a header field, such as authorization'),
    value: Secret(),
  },
  closed,
);

const exporter = 'api/observability/otlp/target.ts';

export const telemetryRows = {
  otel_endpoint: setting(HttpUrl(), {
    access: 'admin',
    reach: ['control'],
    enforcedBy: exporter,
    description:
      'base address of a collector that speaks OTLP/HTTP, such as https://otel.example:4318; `/v1/traces` and ' +
      '`/v1/metrics` are added to it; empty: nothing is sent',
  }),
  otel_headers: setting(Type.Array(Header, { maxItems: 16, default: [] }), {
    access: 'admin',
    reach: ['control'],
    enforcedBy: exporter,
    description: 'header fields of every call to the collector, such as its credentials; values are write-only',
  }),
  otel_traces_percent: setting(Type.Number({ minimum: 0, maximum: 100, default: 0 }), {
    access: 'admin',
    reach: ['data', 'control'],
    enforcedBy: 'proxy/records/request-trace.ts',
    description:
      'share of requests that become a trace, chosen at random as they come: one span each with its stages as ' +
      'children, without addresses, queries, header fields and bodies; 0: none',
    unit: 'percent',
  }),
  otel_metrics: setting(Flag(false), {
    access: 'admin',
    reach: ['control'],
    enforcedBy: 'api/observability/otlp/job.ts',
    description: 'send the metrics of the control plane and of every data-plane node',
  }),
  otel_metrics_interval_sec: setting(Whole(15, 3600, 60), {
    access: 'admin',
    reach: ['control'],
    enforcedBy: 'api/observability/otlp/job.ts',
    description: 'how often metrics are sent',
    unit: 'seconds',
    under: 'otel_metrics',
  }),
};
