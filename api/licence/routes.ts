import { Type } from '@sinclair/typebox';
import type { App, House } from '../parts.js';
import { ApiError } from '../http-kit/problem.js';
import { requirePrincipal } from '../auth/guard.js';
import { closed, Nullable, refusals } from '../http-kit/schema.js';
import { readHead } from '../settings/store.js';
import { readLicence } from './key.js';
import { readLicenceStatus, storeLicenceKey } from './store.js';

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
});

export function registerLicenceRoutes(app: App, house: House): void {
  const { sql } = house.database;
  const view = async () => {
    const status = await readLicenceStatus(house, sql);
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
    };
  };
  app.get(
    '/api/license',
    {
      schema: {
        tags: ['licence'],
        summary: 'State, used and allowed domains',
        response: { 200: StatusView, ...refusals },
      },
    },
    view,
  );
  app.post(
    '/api/license',
    {
      schema: {
        tags: ['licence'],
        summary: 'Activate a licence key',
        body: Type.Object({ key: Type.String({ minLength: 1, maxLength: 8192 }) }, closed),
        response: { 200: StatusView, ...refusals },
      },
    },
    async (request) => {
      const { actor } = requirePrincipal(request);
      const key = request.body.key.trim();
      const read = readLicence(key, house.licencePublicKey);
      if (read.kind === 'forged') {
        await sql.begin((tx) =>
          house.audit.record(tx, {
            actor,
            action: 'licence.reject',
            summary: `a licence key was rejected: ${read.reason}`,
          }),
        );
        throw new ApiError(
          'licence_rejected',
          `The licence key is rejected: ${read.reason}. What was active before stays active.`,
        );
      }
      const { customer, edition, max_domains, expires } = read.payload;
      await sql.begin(async (tx) => {
        await storeLicenceKey(tx, key, actor.name, new Date(house.now()));
        await house.audit.record(tx, {
          actor,
          action: 'licence.activate',
          summary: `activated the ${edition} licence of ${customer}: ${max_domains} domains, ${expires === null ? 'without end' : `until ${expires}`}`,
        });
      });
      return view();
    },
  );
}
