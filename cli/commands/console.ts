// `gatehouse console`: the console's server alone, in the foreground; `up` starts it as a child.
import { isIP } from 'node:net';
import { join, resolve } from 'node:path';
import { colourOf, readLogo, startConsole, type Branding, type RunningConsole } from '#console/main';
import { effectiveValueOf, type Values } from '#settings/environment';
import { controlUrl } from '../environment/control-url.js';
import { root } from '../environment/directories.js';
import { inContainer } from '../environment/in-container.js';
import { readFlags } from '../environment/flags.js';
import { readEnvironment } from '../environment/read-environment.js';
import { isSystemError, Refusal, wrongUsage } from '../refusal.js';
import { sayReady } from '../supervise/child.js';
import { findServiceManager, listenerKept } from '../supervise/systemd.js';

export async function runConsole(args: readonly string[]): Promise<number> {
  const { flags, others } = readFlags(args);
  if (others.length > 0) throw wrongUsage(`console does not know ${others.join(' ')}.`);
  const values = inContainer(readEnvironment(flags));
  const manager = findServiceManager();
  const server = await startConsole({
    webDirectory: join(root, 'build/console/web-bundle'),
    apiUrl: values.IN_CONTAINER === '1' ? values.GATEHOUSE_CONTROL_URL : controlUrl(values),
    token: values.CONSOLE_TOKEN,
    trustedProxies: trustedProxiesOf(values),
    host: values.ADMIN_BIND,
    port: Number(values.UI_PORT),
    socket: listenerKept(manager, 'console', values.ADMIN_BIND, Number(values.UI_PORT)),
    branding: brandingOf(values),
  }).catch((error: unknown) => {
    const isTaken = isSystemError(error) && error.code === 'EADDRINUSE';
    throw isTaken ? new Refusal(`port ${values.UI_PORT} is taken; choose another with --ui-port.`) : error;
  });
  console.log(`console on ${server.url}`);
  manager?.ready();
  sayReady({ url: server.url });
  await untilStopped(server);
  return 0;
}

/** Name, logo and colour of this installation. Throws Refusal for a logo or a colour that is none. */
export function brandingOf(values: Values): Branding {
  const { APP_BRAND, APP_BRAND_SUB, APP_TAGLINE, APP_LOGO, APP_ACCENT } = values;
  if (APP_ACCENT !== '' && colourOf(APP_ACCENT) === null)
    throw new Refusal(`APP_ACCENT is ${JSON.stringify(APP_ACCENT)}: write a colour as #rrggbb, such as #3f51b5.`);
  const texts = { brand: APP_BRAND, brandSub: APP_BRAND_SUB, tagline: APP_TAGLINE };
  try {
    const logo = APP_LOGO === '' ? null : readLogo(resolve(root, APP_LOGO));
    return { ...texts, logo, accent: APP_ACCENT || null };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Refusal(`APP_LOGO cannot be used: ${reason} Name an SVG or PNG file, or leave it empty.`);
  }
}

const label = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/i;
const isHostName = (text: string): boolean =>
  text.length <= 253 && text.split('.').every((part) => label.test(part)) && /[a-z][^.]*$/i.test(text);

/** Nodes whose word of the client the console believes (DASHBOARD_PROXIES). Throws Refusal for what cannot be one. */
export function trustedProxiesOf(values: Values): string[] {
  const entries = effectiveValueOf('DASHBOARD_PROXIES', values).split(',');
  const addresses = entries.map((entry) => entry.trim()).filter((entry) => entry !== '' && entry !== 'none');
  for (const address of addresses) {
    const [base = '', bits = '0', ...more] = address.split('/');
    const version = isIP(base);
    if (version === 0 && isHostName(address)) continue;
    if (version === 0 || more.length > 0 || !/^\d{1,3}$/.test(bits) || Number(bits) > (version === 4 ? 32 : 128))
      throw new Refusal(
        `DASHBOARD_PROXIES has ${JSON.stringify(address)}: ` +
          'write an address, a network (10.0.0.0/24), a host name or none.',
      );
  }
  return addresses;
}

async function untilStopped(server: RunningConsole): Promise<void> {
  await new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => resolve());
    process.once('disconnect', resolve); // whoever started us is gone
  });
  await server.close();
  if (process.connected) process.disconnect(); // an open channel would keep the process alive
}
