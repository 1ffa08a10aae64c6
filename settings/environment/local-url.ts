// Where a program of this machine reaches what another one listens at.

/** Addresses that stand for all of a family: what listens there is reached by the loopback of the family. */
const everywhere: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '[::1]' };

/** `bind`: the address that is listened on, IPv4 or IPv6 without brackets. */
export function localUrl(bind: string, port: string): string {
  const host = everywhere[bind] ?? (bind.includes(':') ? `[${bind}]` : bind);
  return `http://${host}:${port}`;
}
