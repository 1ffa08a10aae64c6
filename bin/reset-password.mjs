// `gatehouse reset-password [E-MAIL]`: a new password for a login, printed once. The embedded database has one user at
// a time, so the control plane has to be stopped for it.
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { apiEnvironment } from './control-plane.mjs';
import { readEnvironment, readFlags, Refusal, root } from './environment.mjs';

export async function runResetPassword(args) {
  const { flags, others } = readFlags(args);
  if (others.length > 1) throw new Refusal('reset-password takes one e-mail address.');
  const values = readEnvironment(flags);
  const load = (path) => import(join(root, 'build/api', path));
  if (!existsSync(join(root, 'build/api/server.js')))
    throw new Refusal('the control plane is not built; run `make setup` first.');
  const [{ openDatabase }, { createParts }, { createOutbound }, { readEnv }, { resetPassword }] = await Promise.all([
    load('server.js'),
    load('parts.js'),
    load('outbound/outbound.js'),
    load('env.js'),
    load('users/reset-password.js'),
  ]);
  const email = others[0] ?? values.ADMIN_EMAIL;
  const env = readEnv(apiEnvironment(values));
  const database = await openDatabase(env).catch((error) => {
    throw new Refusal(
      `the database cannot be opened: ${error.message}\n  Stop Gatehouse first if it runs with the embedded database.`,
    );
  });
  const outbound = createOutbound({ allow: [] });
  try {
    const password = randomBytes(15).toString('base64url');
    const outcome = await resetPassword(
      createParts({
        env,
        database,
        now: Date.now,
        outbound,
        applySettings: null,
        licencePublicKey: null,
        logger: false,
      }),
      email,
      password,
    );
    if (outcome.kind === 'refused') throw new Refusal(`${outcome.reason}; nothing was changed.`);
    console.log(`${email}   password ${password}   (shown this once; to be changed at the next login)`);
  } finally {
    await outbound.close();
    await database.close();
  }
  return 0;
}
