import { createHash, timingSafeEqual } from 'node:crypto';
import { Type } from '@sinclair/typebox';
import { ApiError, refusals, type App } from '../http-kit/index.js';
import type { Parts } from '../parts.js';

export type BackupParts = Pick<Parts, 'database' | 'localToken'>;

const copySchema = {
  tags: ['backup'],
  summary: 'Copy the embedded database to a directory beside it, for `gatehouse backup` on the same host',
  security: [],
  response: { 200: Type.Object({ directory: Type.String() }), ...refusals },
};

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

function requireLocalToken(authorization: string | undefined, token: string): void {
  const given = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1] ?? '';
  if (!timingSafeEqual(digest(given), digest(token)))
    throw new ApiError('not_authenticated', 'Only the command `gatehouse backup` on this host may do this.', {
      headers: { 'www-authenticate': 'Bearer' },
    });
}

export function registerBackupRoutes(app: App, { database, localToken }: BackupParts): void {
  app.post('/api/backup/database-copy', { schema: copySchema }, async (request) => {
    requireLocalToken(request.headers.authorization, localToken);
    if (database.copyFiles === null)
      throw new ApiError('conflict', 'The database is PostgreSQL, or in memory: there are no files to copy.');
    return { directory: await database.copyFiles() };
  });
}
