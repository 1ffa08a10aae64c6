// Is this JSON what contract.ts says? Checked at the door, so that nothing behind it has to wonder.
import { isNetwork } from './config.js';
import { defaultLimits, defaultReplaySampling, defaultTimeouts, type Problem } from './contract.js';

type Kind = 'text' | 'flag' | 'number' | 'text or null';

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function hasKind(value: unknown, kind: Kind): boolean {
  switch (kind) {
    case 'text':
      return typeof value === 'string';
    case 'flag':
      return typeof value === 'boolean';
    case 'number':
      return typeof value === 'number' && Number.isFinite(value) && value >= 0;
    case 'text or null':
      return value === null || typeof value === 'string';
  }
}

function expectKinds(
  value: Record<string, unknown>,
  kinds: Readonly<Record<string, Kind>>,
  path: string,
  problems: Problem[],
): void {
  for (const [key, kind] of Object.entries(kinds))
    if (!hasKind(value[key], kind))
      problems.push({
        path: `${path}${key}`,
        message: `is not ${kind}`,
        mend: 'send the field as proxy/contract.ts defines it',
      });
}

function expectOneOf(
  value: Record<string, unknown>,
  key: string,
  choices: readonly unknown[],
  path: string,
  problems: Problem[],
): void {
  if (!choices.includes(value[key]))
    problems.push({
      path: `${path}${key}`,
      message: `is ${JSON.stringify(value[key])}`,
      mend: `send one of ${choices.map((choice) => JSON.stringify(choice)).join(', ')}`,
    });
}

const siteKinds: Readonly<Record<string, Kind>> = {
  name: 'text',
  prefix: 'text',
  host: 'text or null',
  upstream: 'text',
  protected: 'flag',
  verifyUpstreamCertificate: 'flag',
};

function checkConfig(config: unknown, problems: Problem[]): void {
  if (!isObject(config)) {
    problems.push({ path: 'config', message: 'is not an object', mend: 'send a ProxyConfig' });
    return;
  }
  expectOneOf(config, 'mode', ['On', 'DetectionOnly'], 'config.', problems);
  expectKinds(config, { acceptRequestId: 'flag', auditRequestBodyBytesMax: 'number' }, 'config.', problems);
  const { sites, limits, timeouts, trustedProxies } = config;
  if (!Array.isArray(sites))
    problems.push({ path: 'config.sites', message: 'is not a list', mend: 'send the sites as a list' });
  else for (const [index, site] of sites.entries()) checkSite(site, `config.sites[${index}].`, problems);
  checkNumbers(limits, defaultLimits, 'config.limits', problems);
  if (isObject(limits)) expectOneOf(limits, 'requestBodyOverLimit', ['reject', 'partial'], 'config.limits.', problems);
  checkNumbers(timeouts, defaultTimeouts, 'config.timeouts', problems);
  for (const name of ['privacyMode', 'sitesFromEnvironment'])
    if (config[name] !== undefined) expectKinds(config, { [name]: 'flag' }, 'config.', problems);
  if (config['replaySampling'] !== undefined)
    checkNumbers(config['replaySampling'], defaultReplaySampling, 'config.replaySampling', problems);
  if (!Array.isArray(trustedProxies) || !trustedProxies.every((entry) => typeof entry === 'string' && isNetwork(entry)))
    problems.push({
      path: 'config.trustedProxies',
      message: 'is not a list of addresses or networks',
      mend: 'send CIDR notation, such as "10.0.0.0/8"',
    });
}

function checkSite(site: unknown, path: string, problems: Problem[]): void {
  if (!isObject(site)) {
    problems.push({ path, message: 'is not an object', mend: 'send a SiteConfig' });
    return;
  }
  expectKinds(site, siteKinds, path, problems);
  expectOneOf(site, 'failMode', ['closed', 'open'], path, problems);
  expectOneOf(site, 'mode', [null, 'On', 'DetectionOnly'], path, problems);
  expectOneOf(site, 'hostPolicy', ['preserve', 'upstream'], path, problems);
  if (typeof site['upstream'] === 'string' && !/^https?:\/\/[^/]+/.test(site['upstream']))
    problems.push({ path: `${path}upstream`, message: 'is not an http or https URL', mend: 'send "http://host:port"' });
  if (typeof site['prefix'] === 'string' && !site['prefix'].startsWith('/'))
    problems.push({ path: `${path}prefix`, message: 'does not begin with "/"', mend: 'send a path' });
}

function checkNumbers(value: unknown, like: object, path: string, problems: Problem[]): void {
  if (!isObject(value)) {
    problems.push({ path, message: 'is not an object', mend: 'send every field of it' });
    return;
  }
  for (const [key, example] of Object.entries(like)) {
    if (typeof example === 'number' && !hasKind(value[key], 'number'))
      problems.push({
        path: `${path}.${key}`,
        message: 'is not a number ≥ 0',
        mend: `send a number, such as ${example}`,
      });
  }
}

/** Empty when `input` is a GenerationRequest. */
export function checkGenerationRequest(input: unknown): Problem[] {
  const problems: Problem[] = [];
  if (!isObject(input)) return [{ path: '', message: 'is not an object', mend: 'send a GenerationRequest as JSON' }];
  expectKinds(input, { id: 'number', sha256: 'text', artifactPath: 'text' }, '', problems);
  if (typeof input['id'] === 'number' && !Number.isSafeInteger(input['id']))
    problems.push({ path: 'id', message: 'is not a whole number', mend: 'send 0 to have one chosen' });
  if (typeof input['sha256'] === 'string' && !/^([0-9a-f]{64})?$/.test(input['sha256']))
    problems.push({
      path: 'sha256',
      message: 'is not 64 hexadecimal digits',
      mend: "send the SHA-256 of the artifact's bytes, or an empty text for a generation without rules",
    });
  if (input['artifactBase64'] !== undefined && typeof input['artifactBase64'] !== 'string')
    problems.push({ path: 'artifactBase64', message: 'is not text', mend: 'send base64 or leave it out' });
  if (input['selfTest'] !== undefined) expectOneOf(input, 'selfTest', ['inspect', 'skip'], '', problems);
  checkConfig(input['config'], problems);
  return problems;
}
