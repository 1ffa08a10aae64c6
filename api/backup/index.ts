// Backups of an installation that serves. The command `gatehouse backup` does the work in its own process; of the
// server it needs the files of the embedded database, which only the server may open.
import type { Feature } from '../http-kit/index.js';
import { registerBackupRoutes, type BackupParts } from './routes.js';

export const backupFeature: Feature<BackupParts> = {
  name: 'backup',
  access: { 'POST /api/backup/database-copy': { kind: 'feature' } },
  routes: registerBackupRoutes,
};
