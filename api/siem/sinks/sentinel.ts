// Azure Monitor by the Logs Ingestion API: a token of the directory by client credentials (RFC 6749 section 4.4), then
// a JSON array to a stream of a data collection rule. The older collector with a shared key is switched off by its
// maker, and is not here.
import * as oidc from 'openid-client';
import type { Connector } from '../connector.js';
import { isJsonFormat, jsonFormats } from '../formats/index.js';
import {
  later,
  outcomeOfStatus,
  post,
  reasonOf,
  sinkTimeoutMs,
  type Outcome,
  type Sink,
  type SinkParts,
} from './sink.js';

const defaultAuthority = 'https://login.microsoftonline.com';
const defaultScope = 'https://monitor.azure.com/.default';
const apiVersion = '2023-01-01';
/** A token is not used to its last second: clocks differ, and the call takes time. */
const marginMs = 60_000;
const tokensMax = 100;

interface Token {
  readonly value: string;
  readonly untilMs: number;
}

/** A sink with a memory of its tokens, by everything that they were asked with. */
export function createSentinel(): Sink {
  const tokens = new Map<string, Token>();
  const tokenOf = async (connector: Connector, parts: SinkParts): Promise<string> => {
    const { options, token: secret, name } = connector;
    const key = JSON.stringify([name, options, secret]);
    const known = tokens.get(key);
    if (known !== undefined && known.untilMs > parts.now()) return known.value;
    const fresh = await askToken(connector, parts);
    if (tokens.size >= tokensMax) tokens.clear();
    tokens.set(key, fresh);
    return fresh.value;
  };
  return {
    eventsMax: 500,
    // a call may have 1 MB, brackets and commas included
    bytesMax: 900_000,
    async deliver(connector, batch, parts): Promise<Outcome> {
      const format = isJsonFormat(connector.format) ? connector.format : 'native';
      const rows = batch.map((event) => ({
        TimeGenerated: event.at,
        EventId: event.id,
        ...jsonFormats[format](event),
      }));
      const { dcr_id: rule = '', stream = '' } = connector.options;
      const url =
        `${connector.target.replace(/\/+$/, '')}/dataCollectionRules/${encodeURIComponent(rule)}` +
        `/streams/${encodeURIComponent(stream)}?api-version=${apiVersion}`;
      try {
        const token = await tokenOf(connector, parts);
        const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
        const reply = await post(parts, url, headers, JSON.stringify(rows));
        // the token was taken back before its end: the next attempt asks for another
        if (reply.status === 401) tokens.clear();
        // the service says 204; another success is the page of a gateway between
        if (reply.status >= 200 && reply.status < 300 && reply.status !== 204)
          return later(`${new URL(reply.url).host} answered ${reply.status} where the service says 204`);
        return outcomeOfStatus(reply, batch.length, parts.now());
      } catch (error) {
        return later(reasonOf(error));
      }
    },
  };
}

async function askToken({ options, token: secret }: Connector, { outbound, now }: SinkParts): Promise<Token> {
  const authority = (options['login_url'] ?? defaultAuthority).replace(/\/+$/, '');
  const endpoint = `${authority}/${encodeURIComponent(options['tenant_id'] ?? '')}/oauth2/v2.0/token`;
  const isPlain = endpoint.startsWith('http:');
  if (isPlain && !(await outbound.isAllowListed(endpoint)))
    throw new Error(`${new URL(endpoint).host} has to be reached by https, or be named in OUTBOUND_ALLOW`);
  const config = new oidc.Configuration(
    { issuer: authority, token_endpoint: endpoint },
    options['client_id'] ?? '',
    undefined,
    oidc.ClientSecretPost(secret ?? ''),
  );
  config[oidc.customFetch] = (url, init) => outbound.fetch(url, init);
  config.timeout = sinkTimeoutMs / 1000;
  if (isPlain) oidc.allowInsecureRequests(config);
  try {
    const answer = await oidc.clientCredentialsGrant(config, { scope: options['scope'] ?? defaultScope });
    const seconds = answer.expiresIn() ?? 0;
    return { value: answer.access_token, untilMs: now() + seconds * 1000 - marginMs };
  } catch (error) {
    const told =
      error instanceof oidc.ResponseBodyError ? `${error.error} ${error.error_description ?? ''}` : reasonOf(error);
    throw new Error(`no token from ${new URL(endpoint).host}: ${told.trim().slice(0, 300)}`, { cause: error });
  }
}
