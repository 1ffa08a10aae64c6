// What tests ask of stored settings.
import type { Database } from '../db/client.js';
import { readState } from '../settings/state.js';

/** The body as stored, sealed secrets and all. */
export const storedBody = async (database: Database, id: number): Promise<string> =>
  String((await database.sql`select body from settings_versions where id = ${id}`)[0]?.['body']);

export const headId = async (database: Database): Promise<number> => (await readState(database.sql)).headId;
