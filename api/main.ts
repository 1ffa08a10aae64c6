// The control plane's door for commands: starting it, and what is done beside it while it is stopped.
export {
  BackupError,
  createBackup,
  checkLock,
  createKey,
  describeFile,
  isOwnName,
  localTokenOf,
  nameAt,
  openDirectory,
  openS3,
  prune,
  readBackup,
  rehearseRestore,
  requireDatabase,
  restoreBackup,
  type BackupReport,
  type BackupTools,
  type Key,
  type Lock,
  type Manifest,
  type Place,
  type RestoreOutcome,
  type RestoreWish,
  type RunBackup,
  type VerifyReport,
} from './backup/main.js';
export { allModules } from './app.js';
export { EnvError, readEnv, type Env } from './env.js';
export { openEmbedded } from './db/client.js';
export { judgeLicence, readLicence, type LicencePayload } from './licence/key.js';
export { vendorPublicKey } from './licence/vendor-key.js';
export { makeKeyPair, signLicence, signManagedFeed } from './licence/vendor-sign.js';
export { connectDataPlane } from './nodes/link.js';
export { createOutbound } from './outbound/outbound.js';
export { createParts } from './parts.js';
export { closeOnSignals, openDatabase, startServer, type RunningServer } from './server.js';
export { resetPassword } from './users/reset-password.js';
