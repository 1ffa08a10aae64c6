// Who is logged in. The token itself is the control plane's HttpOnly cookie: no script sees it.
import { createSignal } from 'solid-js';
import { call, Refused, sessionIsBack, type Body, type Reply } from './http.js';
import { setTimeZone, type TimeZone } from './time-zone.js';

export type Account = Reply<'GET /api/account'>;
export type Role = 'admin' | 'operator' | 'viewer';

const [account, setAccount] = createSignal<Account | null | undefined>(undefined);
/** undefined: not known yet; null: nobody. */
export { account };

export async function readAccount(): Promise<void> {
  try {
    const read = await call('GET /api/account');
    setTimeZone(read.time_zone);
    setAccount(read);
  } catch (error) {
    if (error instanceof Refused && error.status === 401) setAccount(null);
    else throw error;
  }
}

/** `challenge`: a one-time code is due. Throws Refused. */
export async function logIn(body: Body<'POST /api/login'>): Promise<{ readonly challenge: string | null }> {
  const reply = await call('POST /api/login', { body });
  if (reply.status === 'ok') await enter();
  return { challenge: reply.challenge };
}

export async function answerCode(challenge: string, otp: string): Promise<void> {
  await call('POST /api/login/otp', { body: { challenge, otp } });
  await enter();
}

/** Keeps the zone in which moments are shown to who is logged in. Throws Refused. */
export async function chooseTimeZone(time_zone: TimeZone): Promise<void> {
  await call('PATCH /api/account', { body: { time_zone } });
  await readAccount();
}

async function enter(): Promise<void> {
  await readAccount();
  sessionIsBack();
}

export async function logOut(): Promise<void> {
  await call('POST /api/logout').catch(() => null); // a session that is gone already is as good
  setAccount(null);
}

const ranks: Readonly<Record<string, number>> = { viewer: 0, operator: 1, admin: 2 };

/** Whether who is logged in has at least this role. The server decides; this only hides what it would refuse. */
export const mayAs = (role: Role): boolean => (ranks[account()?.role ?? ''] ?? -1) >= (ranks[role] ?? 9);
