// Backups of an installation that serves. The command `gatehouse backup` does the work in its own process; of the
// server it needs the files of the embedded database, which only the server may open. The server asks for them on a
// schedule, and remembers what became of each.
import { admins, everybody, may, type Feature } from '../http-kit/index.js';
import { registerBackupRoutes, type BackupParts } from './routes.js';
import { createBackupJob, type BackupJobParts } from './schedule/job.js';
import { registerScheduleRoutes, type ScheduleParts } from './schedule/routes.js';

export const backupFeature: Feature<BackupParts & BackupJobParts & ScheduleParts> = {
  name: 'backup',
  access: {
    'POST /api/backup/database-copy': { kind: 'feature' },
    'GET /api/backup': may('jobs:read', everybody),
    'POST /api/backup/run': may('settings:write', admins),
  },
  routes: (app, parts) => {
    registerBackupRoutes(app, parts);
    registerScheduleRoutes(app, parts);
  },
  jobs: (parts) => [createBackupJob(parts)],
  migrations: new URL('./migrations/', import.meta.url),
};
