// From the settings to the collector: where each signal goes, and what every call carries. Header values are secrets:
// they are opened here, and go nowhere but into the call.
import type { Settings } from '#settings';
import type { Sealing } from '../../auth/sealing.js';
import { revealSecrets } from '../../settings/secrets.js';

export type Signal = 'traces' | 'metrics';

export interface Target {
  /** OTLP/HTTP, section "HTTP request": the base address with `/v1/traces` or `/v1/metrics`. */
  urlOf(signal: Signal): string;
  readonly headers: Readonly<Record<string, string>>;
}

/** null: no collector is named. Throws when a secret does not open. */
export function targetOf(stored: Settings, sealing: Sealing): Target | null {
  if (stored.otel_endpoint === '') return null;
  const { otel_endpoint: base, otel_headers: fields } = revealSecrets(stored, sealing);
  const root = base.replace(/\/+$/, '');
  const headers: Record<string, string> = {};
  for (const { name, value } of fields) if (value !== null) headers[name.toLowerCase()] = value;
  return { urlOf: (signal) => `${root}/v1/${signal}`, headers };
}
