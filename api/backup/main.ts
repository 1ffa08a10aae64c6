// What commands use of backups.
export { createBackup, type BackupResult } from './create.js';
export { localTokenOf } from './local-token.js';
export { BackupError, type Manifest } from './manifest.js';
export { readBackup, restoreBackup } from './restore.js';
export { createKey, type Key, type Lock } from './seal.js';
