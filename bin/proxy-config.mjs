// Settings → the proxy's configuration, by the data plane's own resolver; problems are refused with their places.
import { join } from 'node:path';
import { root } from '../build/cli/environment/directories.js';
import { Refusal } from '../build/cli/refusal.js';

/** Both default upstreams; one left empty is the bundled demo on DEMO_PORT. */
export function upstreamsOf(values) {
  const demo = `http://127.0.0.1:${values.DEMO_PORT}`;
  return {
    UPSTREAM_CUSTOMER: values.UPSTREAM_CUSTOMER || demo,
    UPSTREAM_PAYMENT: values.UPSTREAM_PAYMENT || `${demo}/payment`,
  };
}

/** The same for the data plane. */
export async function environmentUpstreams(values) {
  const { upstreamDefaults } = await import(join(root, 'build/proxy/config.js'));
  return upstreamDefaults(upstreamsOf(values));
}

/** What neither the data plane nor the compiler reads: a typing error would otherwise go unnoticed. */
async function unknownFields(settings) {
  const { proxySettingNames } = await import(join(root, 'build/proxy/config.js'));
  const { defaultWafSettings } = await import(join(root, 'build/compiler/policy/settings.js'));
  const known = [...new Set([...Object.keys(defaultWafSettings), ...proxySettingNames])];
  return Object.keys(settings)
    .filter((name) => !known.includes(name))
    .map((name) => ({
      path: name,
      message: 'is not a field known here',
      mend: `remove it; known are ${known.join(', ')}`,
    }));
}

/** `values` from readEnvironment; an upstream left empty is the bundled demo on DEMO_PORT. */
export async function resolveProxy(settings, values, file) {
  const { resolveProxyConfig, formatProblems } = await import(join(root, 'build/proxy/config.js'));
  const { config, problems: found } = resolveProxyConfig(settings, await environmentUpstreams(values));
  const problems = [...found, ...(config === null ? [] : await unknownFields(settings))];
  if (problems.length > 0)
    throw new Refusal(`${file} cannot be used; nothing was changed:\n${formatProblems(problems).replace(/^/gm, '  ')}`);
  return config;
}

/**
 * Whether the data plane is to expect that its probes are blocked; `settings` were compiled, so their shape is known.
 */
export async function selfTestOf(settings) {
  const { chooseSelfTest } = await import(join(root, 'build/proxy/config.js'));
  const { enabled = true, excluded_paths: exclusions = [] } = settings.categories?.sqli ?? {};
  return chooseSelfTest({
    isSqliOn: enabled,
    sqliExclusions: exclusions.length,
    inboundThreshold: settings.inbound_threshold,
  });
}
