// The settings people edit → everything the data plane takes beside rules, by its own resolver: one meaning of a site
// in the whole house. Pure and deterministic: the configuration of an older version can be made again from its
// settings, so it is stored nowhere (it may one day hold secrets).
import { chooseSelfTest, resolveProxyConfig, type ProxyConfig } from '#proxy/contract';
import { parseWindow } from '../../settings/schema/field.js';
import type { Settings } from '../../settings/schema.js';
import type { ApplyDiagnostic } from '../contract.js';
import { settingProblem } from './policy.js';

/** Where the sites of settings without sites lead (UPSTREAM_*). */
export interface Upstreams {
  readonly customer: string;
  readonly payment: string;
}

export interface ProxySettings {
  /** null when there are problems. */
  readonly config: ProxyConfig | null;
  readonly problems: readonly ApplyDiagnostic[];
}

/** `sites[0].prefix` → `/sites/0/prefix`. */
const toPointer = (path: string): string =>
  `/${path.replace(/\[(\d+)\]/g, '/$1').replaceAll('.', '/')}`.replace(/^\/$/, '');

export function toProxyConfig(settings: Settings, upstreams: Upstreams): ProxySettings {
  const milliseconds = (window: string): number => (parseWindow(window) ?? 0) * 1000;
  const {
    mode,
    sites,
    rl_trust_proxy,
    rl_trusted_proxies,
    limits,
    accept_request_id,
    audit_request_body_bytes_max,
    replay_sampling,
    privacy_mode,
  } = settings;
  const flood = settings.flood_timeouts_enabled
    ? {
        client_head_ms: milliseconds(settings.flood_read_header),
        client_body_idle_ms: milliseconds(settings.flood_read_body),
        client_idle_ms: milliseconds(settings.flood_idle),
      }
    : {};
  const { config, problems } = resolveProxyConfig(
    {
      mode,
      sites,
      rl_trust_proxy,
      rl_trusted_proxies,
      limits,
      timeouts: { ...settings.timeouts, ...flood },
      accept_request_id,
      audit_request_body_bytes_max,
      replay_sampling,
      privacy_mode,
    },
    upstreams,
  );
  return {
    config,
    problems: problems.map(({ path, message, mend }) => settingProblem(toPointer(path), message, mend)),
  };
}

/** For settings that served once: what was possible then is possible now, so anything else is a bug. */
export function requireProxyConfig(settings: Settings, upstreams: Upstreams): ProxyConfig {
  const { config, problems } = toProxyConfig(settings, upstreams);
  if (config === null)
    throw new Error(
      `settings that were active are not possible for the data plane: ${problems.map(({ path, message }) => `${path} ${message}`).join('; ')}`,
    );
  return config;
}

export function selfTestOf({ categories: { sqli }, inbound_threshold }: Settings): 'inspect' | 'skip' {
  return chooseSelfTest({
    isSqliOn: sqli.enabled,
    sqliExclusions: sqli.path_exclusions.length,
    inboundThreshold: inbound_threshold,
  });
}
