// `gatehouse reset-password [E-MAIL]`: a new password for a login, printed once. The embedded database has one user at
// a time, so the control plane has to be stopped for it.
import { randomBytes } from 'node:crypto';
import { createOutbound, createParts, openDatabase, resetPassword } from '#api/main';
import { readFlags } from '../environment/flags.js';
import { controlPlaneEnvironment, readEnvironment } from '../environment/read-environment.js';
import { Refusal, startRefusal, wrongUsage } from '../refusal.js';
import { readControlEnv } from './control-plane.js';

export async function runResetPassword(args: readonly string[]): Promise<number> {
  const { flags, others } = readFlags(args);
  if (others.length > 1) throw wrongUsage('reset-password takes one e-mail address.');
  const [named] = others;
  if (named !== undefined && !/^[^\s@-][^\s@]*@\S+$/.test(named))
    throw wrongUsage(`reset-password takes an e-mail address; ${named} is none.`);
  const values = readEnvironment(flags);
  const email = named ?? values.ADMIN_EMAIL;
  const env = readControlEnv(controlPlaneEnvironment(values));
  const database = await openDatabase(env).catch((error: unknown) => {
    const refusal = startRefusal(error);
    if (refusal === null) throw error;
    throw new Refusal(
      `the database cannot be opened: ${refusal.message}\n` +
        '  Stop Gatehouse first if it runs with the embedded database.',
    );
  });
  const outbound = createOutbound({ allow: [] });
  try {
    const password = randomBytes(15).toString('base64url');
    const parts = createParts({
      env,
      database,
      now: Date.now,
      outbound,
      applySettings: null,
      licencePublicKey: null,
      logger: false,
    });
    const outcome = await resetPassword(parts, email, password);
    if (outcome.kind === 'refused') throw new Refusal(`${outcome.reason}; nothing was changed.`);
    console.log(`${email}   password ${password}   (shown this once; to be changed at the next login)`);
  } finally {
    await outbound.close();
    await database.close();
  }
  return 0;
}
