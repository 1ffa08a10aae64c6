import { Type, type Static } from '@sinclair/typebox';
import { ApiError, closed, Nullable, refusals, requirePrincipal, type Actor, type App } from '../http-kit/index.js';
import type { Parts } from '../parts.js';
import { readHead } from '../settings/store.js';
import { judgeLicence, readLicence, type LicencePayload, type LicenceStatus } from './key.js';
import { readLicenceStatus, storeLicenceKey } from './store.js';

export type LicenceParts = Pick<Parts, 'database' | 'now' | 'audit' | 'licencePublicKey'>;

const StatusView = Type.Object({
  state: Type.Unsafe<'trial' | 'valid' | 'expired' | 'forged'>({
    type: 'string',
    enum: ['trial', 'valid', 'expired', 'forged'],
  }),
  used_domains: Type.Integer(),
  allowed_domains: Type.Integer({
    description: 'limit for adding; configured sites keep running whatever happens to the licence',
  }),
  customer: Nullable(Type.String()),
  edition: Type.String(),
  issued: Nullable(Type.String()),
  expires: Nullable(Type.String()),
  reason: Type.String(),
  can_activate: Type.Boolean({ description: 'false: this build has no vendor key, so it rejects every licence key' }),
  next_step: Type.String({ description: 'what to do to protect more sites; empty: nothing is due' }),
});

const readSchema = {
  tags: ['licence'],
  summary: 'State, used and allowed domains',
  response: { 200: StatusView, ...refusals },
};
const activateSchema = {
  tags: ['licence'],
  summary: 'Activate a licence key',
  body: Type.Object(
    {
      key: Type.String({ minLength: 1, maxLength: 8192 }),
      force: Type.Optional(
        Type.Boolean({ description: 'also a key that has ended, although the licence that is active has not' }),
      ),
    },
    closed,
  ),
  response: { 200: StatusView, ...refusals },
};

export function registerLicenceRoutes(app: App, parts: LicenceParts): void {
  app.get('/api/license', { schema: readSchema }, () => viewLicence(parts));
  app.post('/api/license', { schema: activateSchema }, async (request) => {
    const { actor } = requirePrincipal(request);
    const key = request.body.key.trim();
    const read = readLicence(key, parts.licencePublicKey);
    if (read.kind === 'forged') {
      await reject(parts, actor, read.reason);
      throw new ApiError(
        'licence_rejected',
        `The licence key is rejected: ${read.reason}. What was active before stays active.`,
      );
    }
    await activate(parts, actor, key, read.payload, request.body.force === true);
    return viewLicence(parts);
  });
}

async function viewLicence(parts: LicenceParts): Promise<Static<typeof StatusView>> {
  const { sql } = parts.database;
  const status = await readLicenceStatus(parts, sql);
  const { settings } = await readHead(sql);
  return {
    state: status.state,
    used_domains: settings.sites.length,
    allowed_domains: status.allowed,
    customer: status.payload?.customer ?? null,
    edition: status.payload?.edition ?? 'trial',
    issued: status.payload?.issued ?? null,
    expires: status.payload?.expires ?? null,
    reason: status.reason,
    can_activate: parts.licencePublicKey !== null,
    next_step: nextStep(status, settings.sites.length, parts.licencePublicKey !== null),
  };
}

function nextStep({ state, allowed }: LicenceStatus, used: number, canActivate: boolean): string {
  if (!canActivate)
    return (
      'This build has no vendor key, so it protects one site. To issue licences for your own installation: ' +
      '`gatehouse licence keygen --out DIRECTORY`, restart, `gatehouse licence issue`, activate (docs/licence.md).'
    );
  if (state === 'trial') return 'Activate a licence key to protect more than one site.';
  if (state === 'expired') return 'Activate a new licence key to add sites. Configured sites stay protected.';
  if (state === 'forged') return 'The stored key was not issued by the vendor of this build. Activate one that was.';
  return used < allowed ? '' : 'Every licensed site is in use. Activate a licence for more sites to add one.';
}

async function reject({ database, audit }: LicenceParts, actor: Actor, reason: string): Promise<void> {
  const summary = `a licence key was rejected: ${reason}`;
  await database.sql.begin((tx) => audit.record(tx, { actor, action: 'licence.reject', summary }));
}

/** Throws `licence_rejected` for a key that has ended, where a valid licence would give way to it unasked. */
async function activate(
  { database, audit, now, licencePublicKey }: LicenceParts,
  actor: Actor,
  key: string,
  { customer, edition, max_domains, expires }: LicencePayload,
  force: boolean,
): Promise<void> {
  const until = expires === null ? 'without end' : `until ${expires}`;
  const refusal = await database.sql.begin(async (tx): Promise<string | null> => {
    const active = await readLicenceStatus({ licencePublicKey, now }, tx);
    if (!force && active.state === 'valid' && judgeLicence(key, licencePublicKey, now()).state === 'expired')
      return `it ended on ${expires}, and the active licence is valid`;
    await storeLicenceKey(tx, key, actor.name, new Date(now()));
    await audit.record(tx, {
      actor,
      action: 'licence.activate',
      summary: `activated the ${edition} licence of ${customer}: ${max_domains} domains, ${until}`,
    });
    return null;
  });
  if (refusal === null) return;
  await reject({ database, audit, now, licencePublicKey }, actor, refusal);
  throw new ApiError(
    'licence_rejected',
    `The licence key is rejected: ${refusal}. It stays active; send "force": true to replace it all the same.`,
    {
      errors: [{ path: '/key', reason: `has ended on ${expires}`, fix: 'activate a key that is valid, or force it' }],
    },
  );
}
