// Local settings → the configuration of the data plane that they and the environment mean.
import { toProxyConfig, type ProxyConfig, type UpstreamDefaults } from '#proxy/contract';
import type { Settings } from '#settings';
import { effectiveValueOf, type Values } from '#settings/environment';

/** Both default upstreams; one left empty is the bundled demo on DEMO_PORT. */
export function upstreamsOf(values: Values): UpstreamDefaults {
  const host = values.DASHBOARD_DOMAIN.toLowerCase();
  return {
    customer: effectiveValueOf('UPSTREAM_CUSTOMER', values),
    payment: effectiveValueOf('UPSTREAM_PAYMENT', values),
    ...(host === '' ? {} : { dashboard: { host, upstream: effectiveValueOf('DASHBOARD_UPSTREAM', values) } }),
  };
}

export const resolveProxy = (settings: Settings, values: Values): ProxyConfig =>
  toProxyConfig(settings, upstreamsOf(values));
