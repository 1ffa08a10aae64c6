import { Type, type Static } from '@sinclair/typebox';
import { pathAtUpstream, toProxyConfig, type UpstreamDefaults } from '#proxy/contract';
import { basePolicy, contentOfSite, sitePoliciesOf, type Settings } from '#settings';
import { Nullable, refusals, type App } from '../http-kit/index.js';
import type { Parts } from '../parts.js';

export type SiteParts = Pick<Parts, 'currentSettings' | 'wafPort' | 'upstreams'>;

const SiteView = Type.Object({
  name: Type.String(),
  host: Nullable(Type.String({ description: 'null: any' })),
  prefix: Type.String(),
  upstream: Type.String(),
  protected: Type.Boolean(),
  strip_prefix: Type.Boolean({ description: 'whether the path of the upstream takes the place of the prefix' }),
  example: Type.Object(
    { path: Type.String(), goes_to: Type.String() },
    { description: 'where a request path of the site goes' },
  ),
  mode: Type.String(),
  rules: Type.Object(
    {
      policy: Type.String({ description: '`base`: those of the installation; sites with the same key have the same' }),
      paranoia_level: Type.Integer(),
      inbound_threshold: Type.Integer(),
      outbound_threshold: Type.Integer(),
      early_blocking: Type.Boolean(),
      disabled_categories: Type.Array(Type.String()),
      allowed_methods: Type.Array(Type.String()),
      allowed_content_types: Type.Array(Type.String()),
      restricted_headers: Type.Array(Type.String()),
      restricted_extensions: Nullable(Type.Array(Type.String(), { description: 'null: the list of the CRS' })),
      request_body_limit_bytes: Type.Integer(),
      response_body_limit_bytes: Type.Integer({ description: '0: bodies of responses are left alone' }),
      response_body_types: Type.Array(Type.String()),
      path_exclusions: Type.Record(Type.String(), Type.Array(Type.String()), {
        description: 'category → paths where it is off',
      }),
      own_rules: Type.Array(Type.Integer(), {
        description: 'rules, virtual patches and exclusions for some sites that are for this one',
      }),
    },
    { description: 'what it has, whether of its own or of the installation' },
  ),
});

const listSchema = {
  tags: ['settings'],
  summary: 'Sites as they are meant, with what they take from the installation',
  response: {
    200: Type.Object({
      port: Type.Integer({ description: 'WAF_PORT: where clients reach the sites, in plain HTTP' }),
      items: Type.Array(SiteView, {
        description: 'those that are saved; empty: what is protected stands in `defaults`',
      }),
      defaults: Type.Array(
        Type.Object({
          name: Type.String(),
          prefix: Type.String(),
          upstream: Type.String({ description: 'of UPSTREAM_CUSTOMER or UPSTREAM_PAYMENT' }),
          protected: Type.Boolean(),
          mode: Type.String(),
        }),
        {
          description:
            'sites of the environment, which are protected until one is saved in the settings; empty from then on',
        },
      ),
    }),
    ...refusals,
  },
};

function viewsOf(settings: Settings): Static<typeof SiteView>[] {
  const { ofSite } = sitePoliciesOf(settings);
  return settings.sites.map((site) => {
    const { name, host, prefix, strip_prefix } = site;
    const upstream = site.upstream === '' ? (site.upstreams[0]?.url ?? '') : site.upstream;
    const { basePath, stripsPrefix } = pathAtUpstream(upstream, strip_prefix);
    const below = prefix.replace(/\/+$/, '');
    const { disabled, scoped, ...content } = contentOfSite(settings, site);
    return {
      name,
      host,
      prefix,
      upstream,
      protected: site.protected,
      strip_prefix: stripsPrefix,
      example: {
        path: `${below}/a`,
        goes_to: `${new URL(upstream).origin}${basePath ?? ''}${stripsPrefix ? '' : below}/a`,
      },
      mode: site.mode ?? settings.mode,
      rules: {
        policy: ofSite.get(name) ?? basePolicy,
        ...content,
        response_body_types: [...content.response_body_types],
        path_exclusions: Object.fromEntries(
          Object.entries(content.path_exclusions).map(([key, paths]) => [key, [...paths]]),
        ),
        allowed_methods: [...content.allowed_methods],
        allowed_content_types: [...content.allowed_content_types],
        restricted_headers: [...content.restricted_headers],
        restricted_extensions: content.restricted_extensions === null ? null : [...content.restricted_extensions],
        disabled_categories: [...disabled],
        own_rules: [...scoped],
      },
    };
  });
}

/** As the data plane gets them: it is asked, not guessed, what settings without sites protect. */
function defaultsOf(settings: Settings, upstreams: UpstreamDefaults) {
  if (settings.sites.length > 0) return [];
  return toProxyConfig(settings, upstreams).sites.map((site) => ({
    name: site.name,
    prefix: site.prefix,
    upstream: withoutSecrets(site.upstream),
    protected: site.protected,
    mode: site.mode ?? settings.mode,
  }));
}

/** A person may have written a name and a password into the address; everybody may read this answer. */
function withoutSecrets(upstream: string): string {
  if (!URL.canParse(upstream)) return upstream;
  const { protocol, host, pathname } = new URL(upstream);
  return `${protocol}//${host}${pathname === '/' ? '' : pathname}`;
}

export function registerSiteRoutes(app: App, { currentSettings, wafPort, upstreams }: SiteParts): void {
  app.get('/api/sites', { schema: listSchema }, async () => {
    const settings = await currentSettings();
    return { port: wafPort, items: viewsOf(settings), defaults: defaultsOf(settings, upstreams) };
  });
}
