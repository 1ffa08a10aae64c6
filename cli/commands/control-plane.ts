// `gatehouse control-plane`: the control plane alone, in the foreground; `up` starts it as a child. It reads the same
// process settings as the rest, under the names of api/env.ts.
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { readEnvironment, readFlags, Refusal, root } from './environment.mjs';
import { upstreamsOf } from './proxy-config.mjs';

/** Where another process on this machine reaches what listens on ADMIN_BIND. */
export function controlUrl(values) {
  const everywhere = { '0.0.0.0': '127.0.0.1', '::': '[::1]' };
  const host =
    everywhere[values.ADMIN_BIND] ?? (values.ADMIN_BIND.includes(':') ? `[${values.ADMIN_BIND}]` : values.ADMIN_BIND);
  return `http://${host}:${values.API_PORT}`;
}

/**
 * The names of api/env.ts from those of a deployment: one token, one data directory and one pair of upstreams for both
 * planes.
 */
export function apiEnvironment(values) {
  return {
    ...values,
    DATA_ADMIN_TOKEN: values.DATA_ADMIN_TOKEN || values.GATEHOUSE_ADMIN_TOKEN,
    DATA_ADMIN_URLS: values.DATA_ADMIN_URLS || `http://127.0.0.1:${values.GATEHOUSE_ADMIN_PORT}`,
    DATA_DIR: resolve(root, values.DATA_DIR || values.GATEHOUSE_DATA),
    ...upstreamsOf(values),
  };
}

export async function runControlPlane(args) {
  const { flags, others } = readFlags(args);
  if (others.length > 0) throw new Refusal(`control-plane does not know ${others.join(' ')}.`);
  const values = readEnvironment(flags);
  const module = join(root, 'build/api/server.js');
  if (!existsSync(module)) throw new Refusal('the control plane is not built; run `make setup` first.');
  const { startServer, closeOnSignals } = await import(module);
  const { readEnv } = await import(join(root, 'build/api/env.js'));
  const { connectDataPlane } = await import(join(root, 'build/api/nodes/link.js'));
  let firstLogin = null;
  const server = await Promise.resolve()
    .then(() =>
      startServer({
        env: readEnv(apiEnvironment(values)),
        connectDataPlane,
        onFirstLogin: (email, password) => (firstLogin = { email, password }),
      }),
    )
    .catch((error) => {
      if (error instanceof TypeError || error instanceof ReferenceError) throw error; // bugs keep their stack
      throw new Refusal(
        error.code === 'EADDRINUSE'
          ? `port ${values.API_PORT} is taken; choose another with --api-port.`
          : error.message,
      );
    });
  closeOnSignals(server, server.app.log);
  // Its parent prints the password to a person; the log file must not have it.
  if (process.send === undefined && firstLogin !== null)
    console.log(`first login: ${firstLogin.email} ${firstLogin.password} (to be changed then)`);
  console.log(`control plane on ${server.url}/api/docs`);
  process.once('disconnect', () => void server.close().finally(() => process.exit(0))); // whoever started us is gone
  process.send?.({ kind: 'ready', url: server.url, firstLogin });
  await new Promise(() => {}); // signals end the process
}
