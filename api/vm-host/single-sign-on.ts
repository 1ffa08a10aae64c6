// Single sign-on for the vulnerability manager: the provider of the settings, changed on the settings' own road.
import type { SingleSignOn, SsoChange, SsoProvider } from '#vm-manager';
import { ApiError } from '../http-kit/index.js';
import type { Parts } from '../parts.js';
import type { SettingsWriter } from '../settings/change.js';
import { readHead, type StoredSettings } from '../settings/store.js';
import { discover } from '../sso/provider.js';
import { changeAsPerson } from './change-as-person.js';

export type SingleSignOnParts = SettingsWriter & Pick<Parts, 'outbound'>;

const keysBytesMax = 1024 * 1024;

function viewProvider({ id, settings }: StoredSettings): SsoProvider | null {
  const { sso_issuer: issuer, sso_client_id, sso_redirect_uri } = settings;
  if (issuer === '' && sso_client_id === '' && !settings.sso_enabled) return null;
  return {
    version: id,
    enabled: settings.sso_enabled,
    issuer,
    client_id: sso_client_id,
    has_secret: settings.sso_client_secret !== null,
    redirect_uri: sso_redirect_uri,
    default_role: settings.sso_default_role,
    allowed_domain: settings.sso_allowed_domain,
  };
}

const toSettings = (change: SsoChange): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(change).flatMap(([name, value]) => (value === undefined ? [] : [[`sso_${name}`, value]])),
  );

export function createSingleSignOn(parts: SingleSignOnParts): SingleSignOn {
  const { sql } = parts.database;
  return {
    read: async () => viewProvider(await readHead(sql)),
    change: async (person, actor, change, version) =>
      viewProvider(await changeAsPerson(parts, person, actor, version, toSettings(change))),
    async test() {
      const { settings } = await readHead(sql);
      try {
        const metadata = (await discover(parts, settings)).serverMetadata();
        const keys = metadata.jwks_uri;
        if (keys === undefined) return { ok: false, detail: 'The provider names no keys (jwks_uri).' };
        const reply = await parts.outbound.send(keys, { bytesMax: keysBytesMax });
        const listed = reply.status === 200 ? readKeys(reply.body) : null;
        if (listed === null) return { ok: false, detail: `The keys at ${keys} cannot be read (${reply.status}).` };
        return { ok: listed > 0, detail: `${metadata.issuer} answered; it signs with ${listed} keys.` };
      } catch (error) {
        if (error instanceof ApiError) return { ok: false, detail: error.message };
        throw error;
      }
    },
    async people() {
      const [row] = await sql<{ n: number }[]>`select count(*) as n from users where origin = 'sso'`;
      return row?.n ?? 0;
    },
    paths: { login: '/api/sso/login', callback: '/api/sso/callback' },
  };
}

/** How many keys the set has; null where it is none (RFC 7517, section 5). */
function readKeys(body: Buffer): number | null {
  try {
    const { keys } = JSON.parse(body.toString('utf8')) as { keys?: unknown };
    return Array.isArray(keys) ? keys.length : null;
  } catch {
    return null;
  }
}
