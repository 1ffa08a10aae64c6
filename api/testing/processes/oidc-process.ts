// A real OpenID Connect provider as a process of its own, for the single sign-on tests. It logs in whoever the test
// names (message `{ account }`) without asking. Sends `{ issuer }` when it listens.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Interaction {
  readonly uid: string;
  readonly prompt: { readonly name: string; readonly details: { readonly missingOIDCScope?: string[] } };
  readonly params: { readonly client_id: string };
  readonly session?: { readonly accountId: string };
}
interface ProviderLike {
  callback(): (request: IncomingMessage, response: ServerResponse) => void;
  interactionDetails(request: IncomingMessage, response: ServerResponse): Promise<Interaction>;
  interactionFinished(
    request: IncomingMessage,
    response: ServerResponse,
    result: object,
    options: object,
  ): Promise<void>;
  readonly Grant: new (of: object) => { addOIDCScope(scope: string): void; save(): Promise<string> };
}
export interface TestAccount {
  readonly sub: string;
  readonly email: string;
  readonly email_verified: boolean;
  readonly name: string;
}

// the package has no types; the few members used are named above
const name: string = 'oidc-provider';
const { Provider } = (await import(name)) as { Provider: new (issuer: string, configuration: object) => ProviderLike };

let account: TestAccount = { sub: 'nobody', email: '', email_verified: false, name: '' };
let handle: (request: IncomingMessage, response: ServerResponse) => void = (_, response) =>
  void response.writeHead(503).end();
const server = createServer((request, response) => handle(request, response));
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const redirect = process.argv[2] ?? '';
const provider = new Provider(issuer, {
  clients: [
    {
      client_id: 'gatehouse',
      client_secret: 'client-secret-of-the-test',
      redirect_uris: [redirect],
      grant_types: ['authorization_code'],
      response_types: ['code'],
      token_endpoint_auth_method: 'client_secret_basic',
    },
  ],
  pkce: { required: () => true },
  features: { devInteractions: { enabled: false } },
  interactions: { url: (_: unknown, interaction: Interaction) => `/interaction/${interaction.uid}` },
  claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
  conformIdTokenClaims: false,
  cookies: { keys: ['only for tests'] },
  findAccount: async (_: unknown, sub: string) => ({ accountId: sub, claims: async () => ({ ...account, sub }) }),
});
const inner = provider.callback();

async function interact(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const details = await provider.interactionDetails(request, response);
  if (details.prompt.name === 'login')
    return provider.interactionFinished(
      request,
      response,
      { login: { accountId: account.sub } },
      { mergeWithLastSubmission: false },
    );
  const grant = new provider.Grant({
    accountId: details.session?.accountId ?? account.sub,
    clientId: details.params.client_id,
  });
  grant.addOIDCScope('openid email profile');
  return provider.interactionFinished(
    request,
    response,
    { consent: { grantId: await grant.save() } },
    { mergeWithLastSubmission: true },
  );
}

handle = (request, response) => {
  if (request.url?.startsWith('/interaction/') === true)
    interact(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
  else inner(request, response);
};
process.on('message', (message: { account: TestAccount }) => {
  account = message.account;
  process.send?.({ ready: true });
});
process.on('disconnect', () => process.exit(0));
process.send?.({ issuer });
