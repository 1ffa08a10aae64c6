import { Type } from '@sinclair/typebox';
import { ApiError, refusals, type App } from '../http-kit/index.js';
import type { Parts } from '../parts.js';
import { requireLocalToken } from './local-token.js';

export type BackupParts = Pick<Parts, 'database' | 'localToken'>;

const copySchema = {
  tags: ['backup'],
  summary: 'Copy the embedded database to a directory beside it, for `gatehouse backup` on the same host',
  security: [],
  response: { 200: Type.Object({ directory: Type.String() }), ...refusals },
};

export function registerBackupRoutes(app: App, { database, localToken }: BackupParts): void {
  app.post('/api/backup/database-copy', { schema: copySchema }, async (request) => {
    requireLocalToken(request.headers.authorization, localToken);
    if (database.copyFiles === null)
      throw new ApiError('conflict', 'The database is PostgreSQL, or in memory: there are no files to copy.');
    return { directory: await database.copyFiles() };
  });
}
