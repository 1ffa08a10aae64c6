import type { Queryable } from '../db/client.js';
import type { Parts } from '../parts.js';
import { judgeLicence, type LicenceStatus } from './key.js';

/** The licence as it is at this moment. */
export async function readLicenceStatus(
  { licencePublicKey, now }: Pick<Parts, 'licencePublicKey' | 'now'>,
  sql: Queryable,
): Promise<LicenceStatus> {
  const [row] = await sql<{ licence_key: string }[]>`select licence_key from licence`;
  return judgeLicence(row?.licence_key ?? null, licencePublicKey, now());
}

export async function storeLicenceKey(sql: Queryable, key: string, by: string, now: Date): Promise<void> {
  await sql`
    insert into licence (licence_key, activated_at, activated_by) values (${key}, ${now}, ${by})
    on conflict (only_row) do update set licence_key = excluded.licence_key, activated_at = excluded.activated_at,
      activated_by = excluded.activated_by`;
}
