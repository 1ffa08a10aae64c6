// What commands use of backups.
export { createBackup, type BackupResult } from './create.js';
export { localTokenOf } from './local-token.js';
export { describeFile } from './archive.js';
export { isOwnName, nameAt, openDirectory, prune, type Place } from './places/place.js';
export { openS3 } from './places/s3.js';
export { BackupError, type Manifest } from './manifest.js';
export { readBackup, rehearseRestore, requireDatabase, restoreBackup } from './restore.js';
export type { BackupTools, RestoreOutcome, RestoreWish, VerifyReport } from './tools.js';
export type { BackupReport, RunBackup } from './schedule/runs.js';
export { checkLock, createKey, type Key, type Lock } from './seal.js';
