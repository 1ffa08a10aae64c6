import type { Values } from '#settings/environment';

const everywhere: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '[::1]' };

/** Where another process on this machine reaches what listens on ADMIN_BIND. */
export function controlUrl({ ADMIN_BIND: address, API_PORT: port }: Values): string {
  const host = everywhere[address] ?? (address.includes(':') ? `[${address}]` : address);
  return `http://${host}:${port}`;
}
