// Single sign-on. The control plane has one provider, in its settings; here it is a resource with one member,
// `default`, and a login through it ends in the control plane's own session.
import { ApiError, Nullable, OneOf } from '#http-kit';
import { Type } from '@sinclair/typebox';
import type { SsoProvider } from '../host.js';
import { endpoint, notFound, type Call, type Endpoint } from '../kit/endpoint.js';
import { checkVersion } from '../kit/resource.js';

const closed = { additionalProperties: false } as const;
const onlyId = 'default';

const ProviderView = Type.Object({
  id: Type.String(),
  version: Type.Integer({ description: 'of the settings; for If-Match' }),
  name: Type.String({ description: 'host of the issuer' }),
  enabled: Type.Boolean(),
  issuer: Type.String(),
  client_id: Type.String(),
  has_secret: Type.Boolean({ description: 'the secret itself is never shown' }),
  redirect_uri: Type.String(),
  default_role: Type.String(),
  allowed_domain: Type.String(),
});

const fields = {
  issuer: Type.String({ minLength: 1, maxLength: 2000 }),
  client_id: Type.String({ minLength: 1, maxLength: 512 }),
  client_secret: Nullable(Type.String({ minLength: 1, maxLength: 4000 })),
  redirect_uri: Type.String({ minLength: 1, maxLength: 2000 }),
  default_role: OneOf(['viewer', 'operator']),
  allowed_domain: Type.String({ maxLength: 253 }),
  enabled: Type.Boolean(),
};
const { issuer, client_id, redirect_uri, ...rest } = fields;
const NewProvider = Type.Object(
  { issuer, client_id, redirect_uri, ...Type.Partial(Type.Object(rest)).properties },
  closed,
);
const ProviderPatch = Type.Partial(Type.Object(fields), { ...closed, minProperties: 1 });

const viewProvider = (provider: SsoProvider) => ({
  id: onlyId,
  version: provider.version,
  name: URL.canParse(provider.issuer) ? new URL(provider.issuer).host : '',
  enabled: provider.enabled,
  issuer: provider.issuer,
  client_id: provider.client_id,
  has_secret: provider.has_secret,
  redirect_uri: provider.redirect_uri,
  default_role: provider.default_role,
  allowed_domain: provider.allowed_domain,
});

async function requireProvider({ host, params }: Call): Promise<SsoProvider> {
  const id = params['id'] ?? '';
  const provider = id === onlyId ? await host.identity.sso.read() : null;
  if (provider === null) throw notFound('provider', id.slice(0, 60));
  return provider;
}

function answer(call: Call, provider: SsoProvider | null) {
  if (provider === null) throw new ApiError('internal', 'The provider was not stored.');
  call.reply.header('etag', `"${provider.version}"`);
  return viewProvider(provider);
}

const base = { permission: 'manage_sso', inPerson: true, ofOrganisation: 'Providers of single sign-on' } as const;

const providers: readonly Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/sso/providers',
    ...base,
    kind: 'C',
    summary: 'The provider of single sign-on: none or one',
    query: Type.Object({ enabled: Type.Optional(Type.Boolean()) }, closed),
    answer: Type.Object({ items: Type.Array(ProviderView), total: Type.Integer() }),
    handle: async ({ host, query }) => {
      const provider = await host.identity.sso.read();
      const isWanted = provider !== null && (query.enabled ?? provider.enabled) === provider.enabled;
      const items = isWanted ? [viewProvider(provider)] : [];
      return { items, total: items.length };
    },
  }),
  endpoint({
    method: 'POST',
    path: '/sso/providers',
    ...base,
    kind: 'C',
    summary: 'Name the provider of single sign-on; there is one at most',
    body: NewProvider,
    status: 201,
    answer: ProviderView,
    handle: async (given) => {
      const call = given as Call;
      const { sso } = call.host.identity;
      if ((await sso.read()) !== null)
        throw new ApiError('conflict', `There is a provider already: change or delete /sso/providers/${onlyId}.`);
      const { person, actor } = call.caller;
      return answer(call, await sso.change(person, actor, { enabled: true, ...given.body }, null));
    },
  }),
  endpoint({
    method: 'GET',
    path: '/sso/providers/:id',
    ...base,
    kind: 'C',
    summary: 'The provider',
    answer: ProviderView,
    handle: async (call) => answer(call, await requireProvider(call)),
  }),
  endpoint({
    method: 'PATCH',
    path: '/sso/providers/:id',
    ...base,
    kind: 'C',
    summary: 'Change the provider (merge patch; If-Match with its version is heeded)',
    body: ProviderPatch,
    answer: ProviderView,
    handle: async (given) => {
      const call = given as Call;
      const { version } = await requireProvider(call);
      const match = call.request.headers['if-match'];
      checkVersion(match, version);
      const { person, actor } = call.caller;
      const { sso } = call.host.identity;
      return answer(call, await sso.change(person, actor, given.body, match === undefined ? null : version));
    },
  }),
  endpoint({
    method: 'DELETE',
    path: '/sso/providers/:id',
    ...base,
    kind: 'C',
    summary: 'Forget the provider; 409 while accounts that came through it would be shut out',
    status: 204,
    handle: async (given) => {
      const call = given;
      const { version } = await requireProvider(call);
      checkVersion(call.request.headers['if-match'], version);
      const { sso } = call.host.identity;
      const people = await sso.people();
      if (people > 0)
        throw new ApiError(
          'conflict',
          `${people} accounts came through it, without a password: delete them first, or turn it off (enabled: false).`,
        );
      const { person, actor } = call.caller;
      const none = {
        enabled: false,
        issuer: '',
        client_id: '',
        client_secret: null,
        redirect_uri: '',
        allowed_domain: '',
      };
      await sso.change(person, actor, none, version);
    },
  }),
  endpoint({
    method: 'POST',
    path: '/sso/providers/:id/test',
    ...base,
    kind: 'B',
    summary: 'Ask the provider for its discovery document and its keys',
    answer: Type.Object({ ok: Type.Boolean(), detail: Type.String() }),
    handle: async (call) => {
      await requireProvider(call);
      return call.host.identity.sso.test();
    },
  }),
];

/** Throws 404 while nobody can log in through it. */
async function requireEnabled(call: Call): Promise<void> {
  const { enabled } = await requireProvider(call);
  if (!enabled) throw new ApiError('not_found', 'Single sign-on is off.');
}

const logins: readonly Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/sso/login/:id',
    permission: 'public',
    kind: 'B',
    summary: 'Begin a login at the provider: leads the browser on',
    config: (host) => host.identity.loginConfig,
    query: Type.Object({ return_to: Type.Optional(Type.String({ maxLength: 600 })) }, closed),
    status: 302,
    handle: async (call) => {
      await requireEnabled(call);
      const wanted = call.query.return_to;
      const query = wanted === undefined ? '' : `?${new URLSearchParams({ return_to: wanted }).toString()}`;
      call.reply.header('location', `${call.host.identity.sso.paths.login}${query}`);
    },
  }),
  endpoint({
    method: 'GET',
    path: '/sso/callback/:id',
    permission: 'public',
    kind: 'B',
    summary: 'The provider may send the browser back here: leads it on to the login',
    config: (host) => host.identity.loginConfig,
    query: Type.Object({}, { additionalProperties: true }),
    status: 302,
    handle: async (call) => {
      await requireEnabled(call);
      const [, query] = call.request.url.split('?');
      const { callback } = call.host.identity.sso.paths;
      call.reply.header('location', query === undefined ? callback : `${callback}?${query}`);
    },
  }),
];

export const ssoEndpoints: readonly Endpoint[] = [...providers, ...logins];
