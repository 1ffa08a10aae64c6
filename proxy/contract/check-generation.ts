// Is this JSON what contract.ts says? Checked at the door, so that nothing behind it has to wonder. The configuration's
// part of the schema is made from the table of settings; fields that an older sender does not know get their defaults.
import ipaddr from 'ipaddr.js';
import { createDoorCheck, dataPlaneProperties } from '#settings';
import type { GenerationRequest, Problem } from './index.js';
import { dashboardSite } from './site-names.js';

const network = '^([0-9]{1,3}(\\.[0-9]{1,3}){3}(/[0-9]{1,2})?|[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*(/[0-9]{1,3})?)$';

/** What every release has sent. */
const required = [
  'mode',
  'sites',
  'limits',
  'timeouts',
  'trustedProxies',
  'acceptRequestId',
  'auditRequestBodyBytesMax',
];

/** A default would hide that a member which has to be there is not. */
function withoutDefaults(properties: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => {
      const { default: _, ...rest } = schema as Readonly<Record<string, unknown>>;
      return [name, required.includes(name) ? rest : schema];
    }),
  );
}

interface SitesSchema {
  readonly items: { readonly properties: { readonly name: { readonly pattern: string } } };
}

/** The console under its own name (DASHBOARD_DOMAIN) is a site, too, with a name that settings cannot give. */
function withDashboard(properties: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const sites = properties['sites'] as SitesSchema;
  const { name, ...others } = sites.items.properties;
  const pattern = `^${dashboardSite.replace('.', String.raw`\.`)}$|${name.pattern}`;
  const named = { ...sites.items, properties: { ...others, name: { ...name, pattern } } };
  return { ...properties, sites: { ...sites, items: named } };
}

const ProxyConfigSchema = {
  type: 'object',
  required,
  properties: {
    ...withDashboard(withoutDefaults(dataPlaneProperties())),
    trustedProxies: {
      type: 'array',
      items: { type: 'string', pattern: network, 'x-fix': 'send CIDR notation, such as "10.0.0.0/8"' },
    },
    sitesFromEnvironment: { type: 'boolean' },
    apiSchemas: {
      type: 'array',
      items: {
        type: 'object',
        required: ['name', 'site', 'action', 'responseAction', 'unknownPaths', 'operations', 'definitions'],
        properties: { operations: { type: 'array' }, definitions: { type: 'object' } },
      },
    },
    graphqlDeclared: {
      type: 'array',
      items: {
        type: 'object',
        required: ['site', 'path'],
        properties: { site: { type: 'string' }, path: { type: 'string' } },
      },
    },
  },
};

const GenerationRequestSchema = {
  type: 'object',
  required: ['id', 'sha256', 'artifactPath', 'config'],
  properties: {
    id: { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER, 'x-fix': 'send 0 to have one chosen' },
    sha256: {
      type: 'string',
      pattern: '^([0-9a-f]{64})?$',
      'x-fix':
        "send the SHA-256 of the artifact's bytes in hexadecimal, or an empty text for a generation without rules",
    },
    artifactPath: { type: 'string' },
    artifactBase64: { type: 'string' },
    artifactGzipBase64: { type: 'string' },
    selfTest: { enum: ['inspect', 'skip'] },
    config: ProxyConfigSchema,
  },
};

const checkDoor = createDoorCheck(GenerationRequestSchema);

/**
 * Empty when `input` is a GenerationRequest. Fields of its configuration that are left out are filled in with their
 * defaults.
 */
export function checkGenerationRequest(input: unknown): Problem[] {
  const problems = checkDoor(input).map(({ path, reason, fix }) => ({ path, message: reason, fix }));
  const all = [...problems, ...checkUpstreams(input)];
  return all.length > 0 ? all : checkNetworks(input as GenerationRequest);
}

/** Settings may leave `upstream` out where `upstreams` says it; whoever sends a configuration has filled it in. */
function checkUpstreams(input: unknown): Problem[] {
  const { sites } = (input as Partial<GenerationRequest> | null)?.config ?? {};
  if (!Array.isArray(sites)) return [];
  return sites.flatMap((site: { readonly upstream?: unknown } | null, index) =>
    site === null || site.upstream === '' || site.upstream === undefined
      ? [{ path: `/config/sites/${index}/upstream`, message: 'is missing', fix: 'send it as http://host:port' }]
      : [],
  );
}

/** What a pattern cannot say: `10.0.0.0/99` has the form of a network. */
function checkNetworks({ config: { trustedProxies } }: GenerationRequest): Problem[] {
  return trustedProxies.flatMap((network, index) =>
    ipaddr.isValid(network) || ipaddr.isValidCIDR(network)
      ? []
      : [
          {
            path: `/config/trustedProxies/${index}`,
            message: 'is not an address or network',
            fix: 'send CIDR notation, such as "10.0.0.0/8"',
          },
        ],
  );
}
