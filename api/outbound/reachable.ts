// Whether the guard of outgoing calls lets a target through, asked when the target is saved: a connector that could
// never deliver is refused with what to set, not left to fail later.
import { ApiError, type ProblemField } from '../http-kit/problem.js';
import type { Outbound } from './outbound.js';

/** A name that is not resolved by then is saved: it may exist later. */
const resolveMsMax = 2000;

/** What is wrong with a target; null: nothing that is known now. Streams (`tcp://`, `tls://`, `udp://`) included. */
export async function refusedTarget(
  outbound: Pick<Outbound, 'check'>,
  target: string,
  path: string,
): Promise<ProblemField | null> {
  const url = target.replace(/^(tcp|tls|udp):\/\//, 'http://');
  if (!/^https?:\/\/[^@]*$/.test(url)) return null; // whether it is an address at all is asked elsewhere
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, resolveMsMax)));
  try {
    await Promise.race([outbound.check(url), late]);
    return null;
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'outbound_refused' || !URL.canParse(url)) return null;
    const host = new URL(url).hostname.replace(/^\[|\]$/g, '');
    return {
      path,
      reason: `is a private address, which outgoing calls do not reach: ${error.message}`,
      fix: `set OUTBOUND_ALLOW=${host} in the environment of the control plane (comma-separated) and restart it`,
    };
  } finally {
    clearTimeout(timer);
  }
}

/** Throws `settings_impossible` with every target that is refused, at its place. */
export async function requireReachable(
  outbound: Pick<Outbound, 'check'>,
  targets: readonly { readonly target: string; readonly path: string }[],
): Promise<void> {
  const found = await Promise.all(targets.map(({ target, path }) => refusedTarget(outbound, target, path)));
  const errors = found.filter((one) => one !== null);
  const [first] = errors;
  if (first !== undefined)
    throw new ApiError('settings_impossible', `Nothing was saved: ${first.path} ${first.reason}`, { errors });
}
