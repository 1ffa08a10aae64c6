// Local settings → the proxy's configuration, by the data plane's own resolver (bin/proxy-config.mjs).
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { GenerationRequest, ProxyConfig } from '#proxy/contract';
import { effectiveValueOf, type Values } from '#settings/environment';
import { root } from '../environment/directories.js';

interface Resolver {
  /** Throws Refusal with every problem and its place. */
  resolveProxy(settings: unknown, values: Values, file: string): Promise<ProxyConfig>;
  /** Whether the data plane is to expect that its probes are blocked; `settings` were compiled before. */
  selfTestOf(settings: unknown): Promise<NonNullable<GenerationRequest['selfTest']>>;
}

export const { resolveProxy, selfTestOf } = (await import(
  pathToFileURL(join(root, 'bin/proxy-config.mjs')).href
)) as Resolver;

export interface Upstreams {
  readonly customer: string;
  readonly payment: string;
}

/** Both default upstreams; one left empty is the bundled demo on DEMO_PORT. */
export function upstreamsOf(values: Values): Upstreams {
  return {
    customer: effectiveValueOf('UPSTREAM_CUSTOMER', values),
    payment: effectiveValueOf('UPSTREAM_PAYMENT', values),
  };
}
