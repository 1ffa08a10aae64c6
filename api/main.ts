// The control plane's door for commands: starting it, and what is done beside it while it is stopped.
export { createHouse } from './app.js';
export { resetPassword } from './auth/reset-password.js';
export { EnvError, readEnv, type Env } from './env.js';
export { connectDataPlane } from './nodes/link.js';
export { createOutbound } from './outbound/outbound.js';
export { closeOnSignals, openDatabase, startServer, type RunningServer } from './server.js';
