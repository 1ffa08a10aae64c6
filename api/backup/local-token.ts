// Commands on the host of the control plane prove that they may read the environment file, which is all that an
// operator of that host has anyway: a token derived from the session secret, for single purposes that no session has.
import { createHmac } from 'node:crypto';

/** 64 hexadecimal digits; the session secret cannot be derived from it. */
export const localTokenOf = (sessionSecret: string): string =>
  createHmac('sha256', sessionSecret).update('gatehouse local commands').digest('hex');
