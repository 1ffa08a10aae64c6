import type { Values } from '#settings/environment';

const everywhere: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '[::1]' };

/** Where another process on this machine reaches what listens on ADMIN_BIND. */
export const controlUrl = ({ ADMIN_BIND, API_PORT }: Values): string => urlOf(ADMIN_BIND, API_PORT);

/** Where a browser on this machine finds the console. */
export const consoleUrl = ({ ADMIN_BIND, UI_PORT }: Values): string => urlOf(ADMIN_BIND, UI_PORT);

function urlOf(address: string, port: string): string {
  const host = everywhere[address] ?? (address.includes(':') ? `[${address}]` : address);
  return `http://${host}:${port}`;
}
